//! The store under simulation: its own sources, with locks and atomics at whose every use another thread may be scheduled.
//!
//! A seed decides the schedules ([`Schedules`]). In each schedule a small world of writers, watchers, readers and compactions
//! shares a store ([`world`]); their results are then checked against the commits ([`truth`]), by the guarantees by which
//! histories of real servers are judged, too: monotonic, optimistic, linear, ordered, unique, reliable, resumable, selectors,
//! bookmarkable. A lost wake-up is a deadlock, which the scheduler detects. Atomics are simulated as sequentially
//! consistent, whatever their ordering.

#[path = "../../src/store/mod.rs"]
#[allow(unreachable_pub)]
pub mod store;

#[path = "../../src/index/mod.rs"]
#[allow(dead_code, reason = "most indexes are the server's")]
mod index;

mod actors;
pub mod schedules;
pub mod truth;
pub mod watching;
pub mod world;

/// The counterpart of the server's `sync.rs`.
mod sync {
    pub(crate) use shuttle::sync::atomic::{AtomicU64, Ordering};
    pub(crate) use shuttle::sync::{Mutex, MutexGuard};
}

pub use schedules::{Policy, Schedules};
