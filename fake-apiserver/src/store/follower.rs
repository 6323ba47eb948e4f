//! Followers: whoever has to know of every change of a store, and reads the history for that.

use super::history::Expired;
use super::watchers::Watchers;
use super::{Event, Snapshot, Store};
use imbl::Vector;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

impl Store {
    /// Follows all changes from now on. The snapshot has the content before them.
    pub fn follow(&self) -> (Snapshot, Follower) {
        // In this order: if it goes back in between, the follower takes note of that.
        let (rewound, _) = self.state().position();
        let snapshot = self.snapshot();
        let id = self.watchers().follow();
        let follower = Follower { store: self.clone(), id, rewound, after: snapshot.revision };
        (snapshot, follower)
    }
}

/// A follower of all changes. Dropping it ends that.
pub struct Follower {
    store: Store,
    id: u64,
    /// The number of times that the store went back, of which it knows.
    rewound: u64,
    /// The revision up to which it knows all changes.
    after: u64,
}

impl Follower {
    /// The changes since the last look.
    ///
    /// # Errors
    /// The present content, if some of them are forgotten, or the store went back.
    pub fn news(&mut self) -> Result<Vector<Arc<Event>>, Snapshot> {
        let (rewound, _) = self.store.state().position();
        if std::mem::replace(&mut self.rewound, rewound) != rewound {
            let now = self.store.snapshot();
            self.after = now.revision;
            return Err(now);
        }
        let (events, revision) = match self.store.events_after(self.after) {
            Ok((events, now)) => (Ok(events), now.revision),
            Err(Expired { .. }) => {
                let now = self.store.snapshot();
                let revision = now.revision;
                (Err(now), revision)
            }
        };
        self.after = revision;
        events
    }

    /// Is ready when there are changes since the last look; the task is woken when there are.
    pub fn poll_news(&self, context: &Context<'_>) -> Poll<()> {
        self.store.watchers().wake_follower(self.id, Some(context.waker().clone()));
        let (rewound, revision) = self.store.state().position();
        match rewound != self.rewound || revision > self.after {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.store.watchers().unfollow(self.id);
    }
}

impl Watchers {
    fn follow(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.followers.push((id, None));
        id
    }

    fn unfollow(&mut self, id: u64) {
        self.followers.retain(|(own, _)| *own != id);
    }

    fn wake_follower(&mut self, id: u64, waker: Option<Waker>) {
        if let Some((_, place)) = self.followers.iter_mut().find(|(own, _)| *own == id) {
            *place = waker;
        }
    }

    /// The wakers of the followers.
    pub(super) fn followers(&self) -> impl Iterator<Item = Waker> {
        self.followers.iter().filter_map(|(_, waker)| waker.clone())
    }
}
