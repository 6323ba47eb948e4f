//! The locks and atomics on which the store's guarantees rest: here those of std. `simulation/` has a module of the same name with a
//! scheduler's.

pub(crate) use std::sync::atomic::{AtomicU64, Ordering};
pub(crate) use std::sync::{Mutex, MutexGuard};
