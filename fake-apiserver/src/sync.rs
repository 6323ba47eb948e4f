//! The locks and atomics of the store and of what follows it: here those of std. `simulation/` has a module of the same name
//! with those of a scheduler.

pub(crate) use std::sync::atomic::{AtomicU64, Ordering};
pub(crate) use std::sync::{Mutex, MutexGuard};
