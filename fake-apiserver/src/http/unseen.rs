//! The events of a watch that its replica does not see yet.
//!
//! ```text
//!   events ──▶ the view is held ──▶ wait, with all that come behind it
//!          ──▶ those of some objects are held ──▶ apart, in their order; others go on
//! ```

use crate::store::{Change, Delivery, Event, Subscription};
use crate::view::{Sight, View};
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The most events of a watch that are set apart; then it waits with all that come behind them.
const MOST_APART: usize = 10_000;

/// The events of a watch that its replica does not see yet.
#[derive(Default)]
pub(super) struct Unseen {
    /// The event that all behind it wait for.
    first: Option<(Arc<Event>, Change)>,
    apart: Option<Box<Apart>>,
}

/// The events of single objects that are held back, in their order.
#[derive(Default)]
struct Apart {
    events: VecDeque<(Arc<Event>, Change)>,
    /// The turn of the view in which none of them is seen.
    turn: Option<u64>,
}

impl Unseen {
    /// Whether the replica sees all events so far.
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none() && self.apart.is_none()
    }

    /// The next event that the replica sees, or the end.
    pub(super) fn poll_next(
        &mut self,
        events: &mut Subscription,
        view: &View,
        context: &mut Context<'_>,
    ) -> Poll<Delivery> {
        if !self.is_empty() && events.is_void() {
            *self = Unseen::default();
        }
        loop {
            let turn = view.turn();
            if let Some((event, change)) = self.next_apart(view, turn, context) {
                return Poll::Ready(Delivery::Event(event, change));
            }
            let next = match self.first.take() {
                Some((event, change)) => Poll::Ready(Delivery::Event(event, change)),
                None => events.poll_next(context),
            };
            let Poll::Ready(Delivery::Event(event, change)) = next else { return next };
            match view.poll_sees(&event, context) {
                // An earlier event of the same object may have come into view meanwhile.
                Sight::Seen if self.apart.is_some() && view.turn() != turn => self.first = Some((event, change)),
                Sight::Seen => return Poll::Ready(Delivery::Event(event, change)),
                Sight::Apart if self.apart.as_ref().is_none_or(|apart| apart.events.len() < MOST_APART) => {
                    self.apart.get_or_insert_default().events.push_back((event, change));
                }
                Sight::Apart | Sight::Unseen => {
                    self.first = Some((event, change));
                    return Poll::Pending;
                }
            }
        }
    }

    /// The first event of those set apart that is seen by now.
    fn next_apart(&mut self, view: &View, turn: u64, context: &Context<'_>) -> Option<(Arc<Event>, Change)> {
        let apart = self.apart.as_mut()?;
        // One is asked for in any case, so that the task is woken when the view changes.
        let asked = if apart.turn == Some(turn) { 1 } else { apart.events.len() };
        let is_seen = |(event, _): &(Arc<Event>, Change)| view.poll_sees(event, context) == Sight::Seen;
        let Some(place) = apart.events.iter().take(asked).position(is_seen) else {
            apart.turn = Some(turn);
            return None;
        };
        apart.turn = None;
        let seen = apart.events.remove(place);
        if apart.events.is_empty() {
            self.apart = None;
        }
        seen
    }
}
