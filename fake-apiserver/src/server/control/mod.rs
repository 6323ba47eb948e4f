//! Orders and questions: the server does what it is told, and says what it has seen, in the words of the crate `control`.
//!
//! ```text
//!   a test in Rust ──┐
//!   a control port ──┴▶ Order    ──▶ faults, clock, history, replicas, controllers, objects
//!                       Question ──▶ questions.rs
//! ```

mod changes;
mod clusters;
mod known;
mod lives;
mod objects;
mod orders;
mod questions;
mod replicas;
mod seed;
pub(super) mod state;
mod told;
mod waited;
mod watches;

use super::FakeApiServer;
use control::recording::What;
use control::{Answer, Asking, Obeying, Obeys, Order, Question, Refusal};
use std::sync::Arc;

impl Obeys for FakeApiServer {
    fn obey(&self, order: Order) -> Obeying<'_> {
        Box::pin(async move {
            let recorder = self.cluster.log.recorder();
            let told = recorder.is_on().then(|| told::told(&order)).flatten();
            let answer = self.carry_out(order).await?;
            if let Some(order) = told {
                recorder.note(move || What::Order(Box::new(order)));
            }
            Ok(answer)
        })
    }

    fn cluster(&self, name: &str) -> Result<Arc<dyn Obeys>, Refusal> {
        self.other(name).map(|cluster| cluster as Arc<dyn Obeys>)
    }

    fn ask(&self, question: Question) -> Asking<'_> {
        Box::pin(async move {
            match question {
                Question::Faults { unused } => Ok(self.list_faults(unused)),
                Question::Fault { id } => self.one_fault(&id),
                Question::Clock => Ok(self.clock_shown()),
                Question::Replicas => Ok(self.list_replicas()),
                Question::Controllers => Ok(self.list_controllers()),
                Question::Clusters => Ok(self.list_clusters()),
                Question::Cluster { name } => self.one_cluster(&name),
                Question::Kubeconfig => Ok(self.kubeconfig().into()),
                Question::Seeds => Ok(self.list_seeds()),
                Question::Snapshots => Ok(self.list_snapshots()),
                Question::Snapshot { name } => self.exported(&name),
                Question::Watches(wanted) => self.open_watches(&wanted.on),
                Question::WaitObject(wait) => self.wait_for_object(&wait).await,
                Question::Changes(wanted) => self.changes(&wanted).await,
                Question::History(named) => self.history_of(&named),
                Question::Requests(wanted) => self.recorded(&wanted),
                Question::Wait(wait) => self.wait_for(&wait).await,
                Question::Verify(verify) => self.verify(&verify),
                Question::Coverage { gaps } => self.covered(gaps),
                Question::Findings { since } => self.findings(since),
            }
        })
    }
}

impl FakeApiServer {
    async fn carry_out(&self, order: Order) -> Result<Answer, Refusal> {
        if order.is_about_clusters() {
            self.check_first()?;
        }
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
            Order::AdvanceRevision { by } => self.advance_revision(by),
            Order::EndWatches { replicas, on, how } => self.end_watches(&replicas, on.as_deref(), how),
            Order::SendBookmarks { on } => self.send_bookmarks(on.as_deref()),
            Order::ThawWatches { on } => self.thaw_watches(on.as_deref()),
            Order::AddReplica { clock_offset_seconds } => {
                self.add_replica(clock_offset_seconds).await.map(|replica| Answer::Replica(replica.shown()))
            }
            Order::Replica(change) => self.change_replica(&change).await,
            Order::Controller { name, state } => self.set_controller(&name, state).await,
            Order::Step { name, count } => self.step_controller(&name, count).await,
            Order::Settle { timeout_seconds } => self.settle(timeout_seconds).await.map(Answer::Settled),
            Order::Save { snapshot } => self.save(&snapshot).map(Answer::Snapshot),
            Order::Import { snapshot, content } => self.import(&snapshot, &content).map(Answer::Snapshot),
            Order::Forget { snapshot } => self.forget(&snapshot),
            Order::Restore { snapshot, revisions } => self.restore(&snapshot, revisions).await,
            Order::Reset { snapshot } => self.reset(snapshot.as_deref()).await,
            Order::CreateCluster(new) => self.create_cluster(new).await.map(Answer::Cluster),
            Order::EnsureCluster(new) => self.ensure_cluster(new).await.map(Answer::Cluster),
            Order::Hold => self.hold_cluster(),
            Order::DeleteCluster { cluster } => self.delete_cluster(&cluster),
            Order::EnsureSeed { seed, timeout_seconds } => {
                self.ensure_seed(&seed, timeout_seconds).await.map(Answer::Seed)
            }
            Order::SeedReady { seed } => self.seed_ready(&seed).await.map(Answer::Seed),
            Order::ForgetSeed { seed } => self.forget_seed(&seed),
            Order::Seed { objects } => self.seed(&objects).await,
        }
    }
}
