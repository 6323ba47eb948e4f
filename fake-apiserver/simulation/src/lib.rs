//! The store under simulation: its own sources, with locks and atomics whose every use is a point where another thread may go on.
//!
//! Which one does is decided by a seed ([`Schedules`]). In each schedule a small world of writers, watchers, readers and compactions
//! shares a store ([`world`]); what each was told is then held to what was committed ([`truth`]), by the guarantees that also histories of
//! real servers are judged by: monotonic, optimistic, linear, ordered, unique, reliable, resumable, selectors, bookmarkable.
//! A wake-up that is lost is a deadlock, which the scheduler sees. Orderings of atomics weaker than the strongest are not simulated.

#[path = "../../src/store/mod.rs"]
#[allow(unreachable_pub)]
pub mod store;

#[path = "../../src/index/mod.rs"]
mod index;

mod actors;
pub mod schedules;
pub mod truth;
pub mod watching;
pub mod world;

/// What the server's `sync.rs` is in the server.
mod sync {
    pub(crate) use shuttle::sync::atomic::{AtomicU64, Ordering};
    pub(crate) use shuttle::sync::{Mutex, MutexGuard};
}

pub use schedules::{Policy, Schedules};
