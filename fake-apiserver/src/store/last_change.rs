//! The revisions at which resources last changed, readable without the store's lock.

use super::key::ResourceId;
use crate::sync::{AtomicU64, Ordering};

/// The number of places: the ids of resources that anything is derived from are below it, and all others share the last place.
const PLACES: usize = 128;

/// The revisions of the last changes to resources, and of the last ones that the history has forgotten.
///
/// A change is noted before it is visible in any other way. So state that includes all changes up to that revision is up to date.
#[derive(Debug)]
pub(super) struct LastChanges {
    made: [AtomicU64; PLACES],
    forgotten: [AtomicU64; PLACES],
}

impl LastChanges {
    /// Those of a fork of the store, whose history has forgotten them all.
    pub(super) fn forked(&self) -> Self {
        let made = || std::array::from_fn(|place| AtomicU64::new(self.made[place].load(Ordering::Acquire)));
        LastChanges { made: made(), forgotten: made() }
    }

    /// The revision of the last change to any of the resources.
    pub(super) fn of(&self, resources: &[ResourceId]) -> u64 {
        latest(&self.made, resources)
    }

    /// The revision of the last change to any of the resources that the history has forgotten.
    pub(super) fn forgotten(&self, resources: &[ResourceId]) -> u64 {
        latest(&self.forgotten, resources)
    }

    pub(super) fn note(&self, resource: ResourceId, revision: u64) {
        self.made[place(resource)].store(revision, Ordering::Release);
    }

    pub(super) fn forget(&self, resource: ResourceId, revision: u64) {
        self.forgotten[place(resource)].store(revision, Ordering::Release);
    }

    /// Notes a change to all resources, which is forgotten at once.
    pub(super) fn renew(&self, revision: u64) {
        for place in self.made.iter().chain(&self.forgotten) {
            place.store(revision, Ordering::Release);
        }
    }
}

impl Default for LastChanges {
    fn default() -> Self {
        let none = || std::array::from_fn(|_| AtomicU64::new(0));
        LastChanges { made: none(), forgotten: none() }
    }
}

fn place(resource: ResourceId) -> usize {
    usize::try_from(resource.0).unwrap_or(PLACES).min(PLACES - 1)
}

fn latest(places: &[AtomicU64; PLACES], resources: &[ResourceId]) -> u64 {
    resources.iter().map(|resource| places[place(*resource)].load(Ordering::Acquire)).max().unwrap_or_default()
}
