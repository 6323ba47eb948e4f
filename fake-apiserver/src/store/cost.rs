//! The memory that the events of the window keep, in bytes: the share of each, and their sum.

use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering};

/// The number of bytes that all events of a window keep. It can be below zero for an instant, while a share is being added.
#[derive(Debug, Clone, Default)]
pub(super) struct Sum(Arc<AtomicIsize>);

/// The number of bytes that one event keeps. It grows with the objects and frames that are made of the
/// event, and counts until the window forgets it.
#[derive(Debug)]
pub(super) struct Cost {
    own: AtomicIsize,
    sum: Sum,
}

const FORGOTTEN: isize = isize::MIN;

impl Sum {
    pub(super) fn bytes(&self) -> usize {
        usize::try_from(self.0.load(Ordering::Relaxed)).unwrap_or(0)
    }
}

impl Cost {
    pub(super) fn new(bytes: usize, sum: &Sum) -> Self {
        let cost = Cost { own: AtomicIsize::new(0), sum: sum.clone() };
        cost.add(bytes);
        cost
    }

    pub(super) fn add(&self, bytes: usize) {
        let bytes = bytes.cast_signed();
        let grown = |own| (own != FORGOTTEN).then(|| own + bytes);
        if self.own.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown).is_ok() {
            self.sum.0.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// Subtracts the event from the sum, for good.
    pub(super) fn forget(&self) {
        let own = self.own.swap(FORGOTTEN, Ordering::Relaxed);
        if own != FORGOTTEN {
            self.sum.0.fetch_sub(own, Ordering::Relaxed);
        }
    }
}
