//! Orders and questions: the server does what it is told, and says what it has seen, in the words of the crate `control`.
//!
//! ```text
//!   a test in Rust ──┐
//!   a control port ──┴▶ Order    ──▶ faults, clock, history, replicas, controllers, objects
//!                       Question ──▶ questions.rs
//! ```

mod objects;
mod orders;
mod questions;
mod seed;
pub(super) mod state;

use super::FakeApiServer;
use control::{Answer, Asking, Obeying, Obeys, Order, Question};

impl Obeys for FakeApiServer {
    fn obey(&self, order: Order) -> Obeying<'_> {
        Box::pin(async move {
            match order {
                Order::AddFault(rule) => self.add_fault(rule).map(Box::new).map(Answer::Fault),
                Order::ReplaceFaults { rules } => self.replace_faults(rules).map(|items| Answer::Faults { items }),
                Order::RemoveFault { id } => self.remove_fault(&id),
                Order::ClearFaults => {
                    self.faults().clear();
                    Ok(Answer::Done {})
                }
                Order::SetClock { now, frozen } => self.set_clock(now, frozen).await,
                Order::AdvanceClock { seconds } => self.advance_clock(seconds).await,
                Order::Compact { revision } => self.compact_at(revision),
                Order::EndWatches { replicas } => self.end_watches(&replicas),
                Order::Replica(change) => self.change_replica(&change).await,
                Order::Controller { name, state } => self.set_controller(&name, state).await,
                Order::Step { name, count } => self.step_controller(&name, count).await,
                Order::Settle { timeout_seconds } => self.settle(timeout_seconds).await.map(Answer::Settled),
                Order::Save { snapshot } => self.save(&snapshot).map(Answer::Snapshot),
                Order::Import { snapshot, content } => self.import(&snapshot, &content).map(Answer::Snapshot),
                Order::Forget { snapshot } => self.forget(&snapshot),
                Order::Restore { snapshot, revisions } => self.restore(&snapshot, revisions).await,
                Order::Reset { snapshot } => self.reset(snapshot.as_deref()).await,
                Order::Seed { objects } => self.seed(&objects).await,
            }
        })
    }

    fn ask(&self, question: Question) -> Asking<'_> {
        Box::pin(async move {
            match question {
                Question::Faults { unused } => Ok(self.list_faults(unused)),
                Question::Fault { id } => self.one_fault(&id),
                Question::Clock => Ok(self.clock_shown()),
                Question::Replicas => Ok(self.list_replicas()),
                Question::Controllers => Ok(self.list_controllers()),
                Question::Snapshots => Ok(self.list_snapshots()),
                Question::Snapshot { name } => self.exported(&name),
                Question::Requests(wanted) => self.recorded(&wanted),
                Question::Wait(wait) => self.wait_for(&wait).await,
                Question::Verify(verify) => self.verify(&verify),
                Question::Coverage { gaps } => self.covered(gaps),
                Question::Findings { since } => self.findings(since),
            }
        })
    }
}
