//! The names of a resource's objects by namespace, and a value for each namespace that has any: to look for them costs one atomic read
//! while none change.

use crate::index::{Index, Live};
use crate::store::{Entry, Key, ResourceId, Store};
use imbl::{HashMap, OrdSet};
use std::sync::Arc;

/// The objects of a resource in each namespace, with a `T` for each namespace.
pub(super) struct Names<T = ()>(Live<Keys<T>>);

/// The namespaces that have at least one.
struct Keys<T>(HashMap<Box<str>, (OrdSet<Key>, Arc<T>)>);

impl<T: Default> Names<T> {
    /// The names of a resource's objects in a store.
    pub(super) fn new(store: &Store, resource: ResourceId) -> Self {
        Names(Live::new(store.clone(), &[resource]))
    }

    /// The keys of those in a namespace, by name.
    pub(super) fn in_namespace(&self, namespace: &str) -> Vec<Key> {
        let current = self.0.current();
        if current.0.is_empty() {
            return Vec::new();
        }
        current.0.get(namespace).into_iter().flat_map(|(keys, _)| keys).cloned().collect()
    }

    /// The `T` of a namespace, which is kept as long as it has objects; `None` if it has none.
    pub(super) fn own(&self, namespace: &str) -> Option<Arc<T>> {
        let current = self.0.current();
        if current.0.is_empty() {
            return None;
        }
        current.0.get(namespace).map(|(_, own)| own.clone())
    }
}

/// Those of `keys` that still exist.
pub(super) fn entries(store: &Store, keys: &[Key]) -> Vec<Arc<Entry>> {
    keys.iter().filter_map(|key| store.get(key)).collect()
}

impl<T> Clone for Keys<T> {
    fn clone(&self) -> Self {
        Keys(self.0.clone())
    }
}

impl<T> Default for Keys<T> {
    fn default() -> Self {
        Keys(HashMap::default())
    }
}

impl<T: Default> Index for Keys<T> {
    fn apply(&mut self, entry: &Entry) {
        let namespace = entry.key.namespace();
        if !self.0.get(namespace).is_some_and(|(keys, _)| keys.contains(&entry.key)) {
            self.0.entry(namespace.into()).or_default().0.insert(entry.key.clone());
        }
    }

    fn delete(&mut self, key: &Key) {
        let Some((keys, _)) = self.0.get_mut(key.namespace()) else { return };
        keys.remove(key);
        if keys.is_empty() {
            self.0.remove(key.namespace());
        }
    }
}
