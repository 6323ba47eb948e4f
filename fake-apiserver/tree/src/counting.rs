//! Counts of the work that requests cause. They are kept only with the feature `counting`, for the table of costs.

use std::sync::atomic::{AtomicU64, Ordering};

/// A kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// A text that is parsed into values.
    Parse,
    /// A walk over a whole object: defaults, managed fields, rules, schemas.
    Walk,
    /// A field that is looked for among those of an object.
    Lookup,
    /// A value that is copied, alone or within another one.
    Clone,
    /// A value that is written as a text.
    Encode,
    /// A byte that is copied while the store is locked.
    Copy,
    /// A task of the runtime that is spawned.
    Task,
}

const KINDS: usize = 7;

static COUNTS: [AtomicU64; KINDS] = [const { AtomicU64::new(0) }; KINDS];

/// Counts some work. Without the feature it does nothing.
#[inline]
pub fn count(work: Work, amount: usize) {
    if cfg!(feature = "counting") {
        COUNTS[work as usize].fetch_add(amount as u64, Ordering::Relaxed);
    }
}

/// The work counted since the program began, in the order of [`Work`].
pub fn counted() -> [u64; KINDS] {
    COUNTS.each_ref().map(|count| count.load(Ordering::Relaxed))
}
