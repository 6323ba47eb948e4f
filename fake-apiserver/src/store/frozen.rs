//! The content of a store that does not change any more, from which stores are forked.
//!
//! ```text
//!   store ── freeze ──▶ Frozen ──┬── fork ──▶ store: the same objects, no past, no watchers
//!                                └── fork ──▶ store
//! ```
//! A fork copies a few pointers: objects, and what is derived from them, are shared until it changes them.

use super::Store;
use super::history::History;
use super::kept::Shelf;
use super::room::Room;
use super::snapshot::Snapshot;
use super::state::State;
use std::fmt;
use std::sync::Arc;

/// The content of a store at one revision. A clone shares it.
#[derive(Clone)]
pub struct Frozen(Arc<Content>);

struct Content {
    snapshot: Snapshot,
    /// The history of each fork, as it begins.
    history: History,
    shelf: Arc<Shelf>,
    queue: usize,
    room: Room,
}

impl Store {
    /// The present content. What is derived from it is shared as far as it has been made.
    pub fn freeze(&self) -> Frozen {
        let (snapshot, history) = {
            let state = self.state();
            (state.snapshot(), state.history().forked(state.revision()))
        };
        let (shelf, room) = (self.0.shelf.freeze(snapshot.revision).into(), self.0.room.clone());
        Frozen(Arc::new(Content { snapshot, history, shelf, queue: self.0.queue, room }))
    }
}

impl Frozen {
    /// A store with this content and revision. Its history begins with it: of what was before, it remembers nothing.
    pub fn fork(&self) -> Store {
        let Content { snapshot, history, shelf, queue, room } = &*self.0;
        let state = State::forked(snapshot, history.forked(snapshot.revision));
        Store::of(state, *queue, room.clone(), Shelf::after(shelf, snapshot.revision))
    }

    /// The revision of the content.
    pub fn revision(&self) -> u64 {
        self.0.snapshot.revision
    }
}

impl fmt::Debug for Frozen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frozen").field("revision", &self.revision()).finish_non_exhaustive()
    }
}
