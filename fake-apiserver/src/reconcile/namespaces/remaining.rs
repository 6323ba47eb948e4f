//! The objects that remain in a terminating namespace, counted at one revision.

use crate::object::meta;
use crate::registry::Registry;
use crate::store::{Entry, ResourceId, Store};
use std::collections::BTreeMap;

/// The remaining objects: their number by resource, and by finalizer, at a revision.
#[derive(Default)]
pub(super) struct Remaining {
    revision: u64,
    resources: BTreeMap<ResourceId, isize>,
    finalizers: BTreeMap<String, isize>,
}

impl Remaining {
    /// No objects yet, at a revision.
    pub(super) fn at(revision: u64) -> Remaining {
        Remaining { revision, ..Remaining::default() }
    }

    /// Adds a number of times that an object is there.
    pub(super) fn change(&mut self, entry: &Entry, by: isize) {
        change(&mut self.resources, entry.key.resource, by);
        for finalizer in meta::finalizers(&entry.object()) {
            change(&mut self.finalizers, finalizer.to_owned(), by);
        }
    }

    /// The objects that remain now, in their namespace; `None` if others were created there meanwhile, or the store has forgotten what has
    /// changed.
    pub(super) fn now(mut self, store: &Store, namespace: &str) -> Option<Remaining> {
        let (events, snapshot) = store.events_after(self.revision).ok()?;
        for event in events.iter().filter(|event| event.key().namespace() == namespace) {
            self.change(event.before.as_ref()?, -1);
            if let Some(after) = &event.after {
                self.change(after, 1);
            }
        }
        self.revision = snapshot.revision;
        Some(self)
    }

    /// Whether none remain.
    pub(super) fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    /// The number of objects by resource and group.
    pub(super) fn resources(&self, registry: &Registry) -> BTreeMap<String, usize> {
        let named =
            |id: &ResourceId| registry.get(*id).map(|resource| format!("{}.{}", resource.plural, resource.group));
        let counts = self.resources.iter().filter_map(|(id, count)| Some((named(id)?, count.unsigned_abs())));
        counts.collect()
    }

    /// The number of objects by finalizer.
    pub(super) fn finalizers(&self) -> BTreeMap<String, usize> {
        self.finalizers.iter().map(|(finalizer, count)| (finalizer.clone(), count.unsigned_abs())).collect()
    }
}

/// Adds to a count, which is there unless it is 0.
fn change<K: Ord + Clone>(counts: &mut BTreeMap<K, isize>, key: K, by: isize) {
    let count = counts.entry(key.clone()).or_default();
    *count += by;
    if *count == 0 {
        counts.remove(&key);
    }
}
