//! The names of a resource's objects by namespace: whether a namespace has any costs one atomic read while none change.

use crate::index::{Index, Live};
use crate::store::{Entry, Key, ResourceId, Store};
use imbl::{HashMap, OrdSet};
use std::sync::Arc;

/// The objects of a resource in each namespace.
pub(super) struct Names(Live<Keys>);

#[derive(Clone, Default)]
struct Keys(HashMap<Box<str>, OrdSet<Key>>);

impl Names {
    /// The names of a resource's objects in a store.
    pub(super) fn new(store: &Store, resource: ResourceId) -> Names {
        Names(Live::new(store.clone(), &[resource]))
    }

    /// The keys of those in a namespace, by name.
    pub(super) fn in_namespace(&self, namespace: &str) -> Vec<Key> {
        let current = self.0.current();
        if current.0.is_empty() {
            return Vec::new();
        }
        current.0.get(namespace).into_iter().flatten().cloned().collect()
    }
}

/// Those of `keys` that still exist.
pub(super) fn entries(store: &Store, keys: &[Key]) -> Vec<Arc<Entry>> {
    keys.iter().filter_map(|key| store.get(key)).collect()
}

impl Index for Keys {
    fn apply(&mut self, entry: &Entry) {
        let namespace = entry.key.namespace();
        if !self.0.get(namespace).is_some_and(|keys| keys.contains(&entry.key)) {
            self.0.entry(namespace.into()).or_default().insert(entry.key.clone());
        }
    }

    fn delete(&mut self, key: &Key) {
        let Some(keys) = self.0.get_mut(key.namespace()) else { return };
        keys.remove(key);
        if keys.is_empty() {
            self.0.remove(key.namespace());
        }
    }
}
