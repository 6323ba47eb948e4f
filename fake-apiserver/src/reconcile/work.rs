//! The works of reconcilers, which are noted until they are done.

use crate::store::ResourceId;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A work to do, once however often it was noted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Work {
    TokenTracking,
    TokenUse(Use),
    ClusterRoles,
    /// A definition of custom resources was written or removed.
    Definition(Box<str>),
    /// An object of a custom resource was removed.
    LeaveDefinition(ResourceId),
    /// A namespace began to terminate.
    CloseNamespace(Box<str>),
    /// An object in that namespace was removed.
    LeaveNamespace(Box<str>),
    /// A service that had the address was removed.
    ReleaseAddress(Box<str>),
    /// The service `kubernetes`, or an object that belongs to it, was changed.
    KubernetesService,
}

/// The use on a day of the legacy token in the secret of this name and uid.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Use {
    pub(super) namespace: Box<str>,
    pub(super) name: Box<str>,
    pub(super) uid: Box<str>,
    pub(super) day: Box<str>,
}

/// The works that are to be done.
#[derive(Default)]
pub(super) struct Noted {
    works: Mutex<BTreeSet<Work>>,
    /// The number of works that are noted or in progress.
    outstanding: AtomicUsize,
}

impl Noted {
    pub(super) fn add(&self, work: Work) {
        let mut works = self.works.lock().expect("no code that runs under this lock panics");
        if works.insert(work) {
            self.outstanding.fetch_add(1, Ordering::Release);
        }
    }

    /// Whether no work is noted or in progress.
    pub(super) fn is_empty(&self) -> bool {
        self.outstanding.load(Ordering::Acquire) == 0
    }

    /// The next work, which is in progress until it is [done](Self::done).
    pub(super) fn next(&self) -> Option<Work> {
        self.works.lock().expect("no code that runs under this lock panics").pop_first()
    }

    /// Ends a work that was in progress.
    pub(super) fn done(&self) {
        self.outstanding.fetch_sub(1, Ordering::Release);
    }
}
