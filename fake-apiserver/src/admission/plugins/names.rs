//! The names of a resource's objects by namespace, and a value for each namespace that has any: to look for them costs one atomic read
//! while none change.

use crate::index::{Index, Place};
use crate::store::{Entry, Key, ResourceId, Store};
use imbl::{HashMap, OrdSet};
use std::sync::Arc;

/// The things of namespaces that have objects of a resource.
pub(super) trait Named: Default + Send + Sync + 'static {
    /// The resource.
    const RESOURCE: ResourceId;
    /// The place of the index of its names.
    const PLACE: Place;
}

/// The names of a resource's objects in the namespaces that have at least one, with a `T` for each of these.
pub(super) struct Names<T>(HashMap<Box<str>, (OrdSet<Key>, Arc<T>)>);

impl<T: Named> Names<T> {
    /// The keys of those in a namespace, by name.
    pub(super) fn in_namespace(store: &Store, namespace: &str) -> Vec<Key> {
        let current = Self::current(store);
        if current.0.is_empty() {
            return Vec::new();
        }
        current.0.get(namespace).into_iter().flat_map(|(keys, _)| keys).cloned().collect()
    }

    /// The `T` of a namespace, which is kept as long as it has objects; `None` if it has none.
    pub(super) fn own(store: &Store, namespace: &str) -> Option<Arc<T>> {
        let current = Self::current(store);
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

impl<T> Clone for Names<T> {
    fn clone(&self) -> Self {
        Names(self.0.clone())
    }
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Names(HashMap::default())
    }
}

impl<T: Named> Index for Names<T> {
    const PLACE: Place = T::PLACE;
    const RESOURCES: &'static [ResourceId] = &[T::RESOURCE];

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

    fn fork(&self) -> Self {
        Names(self.0.iter().map(|(namespace, (keys, _))| (namespace.clone(), (keys.clone(), Arc::default()))).collect())
    }
}
