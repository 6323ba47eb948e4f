//! The objects of a store as loops know them.

use super::kinds::{is_followed, resource_of};
use crate::discovery::preferred;
use crate::registry::{Registry, Version, ids};
use crate::store::{Entry, Key, ResourceId};
use loops::{Engine, Resource};
use std::collections::BTreeMap;
use std::sync::Arc;
use tree::Value;

/// The resources whose objects are followed.
#[derive(Default)]
pub(super) struct Known(BTreeMap<ResourceId, Followed>);

/// A resource whose objects are followed, in that version.
#[derive(Clone)]
struct Followed {
    resource: Resource,
    version: Arc<Version>,
}

impl Known {
    /// The resources of a registry that loops follow. Those that are served no more stay known, as their last objects may still go.
    pub(super) fn extend(&mut self, registry: &Registry, engine: &Engine) -> Vec<ResourceId> {
        let mut followed = BTreeMap::new();
        if engine.follows_all() {
            let all = preferred(registry).filter(|served| served.resource.id != ids::EVENTS && is_followed(*served));
            for served in all {
                let as_followed = Followed { resource: resource_of(served), version: served.version.clone() };
                followed.entry(served.resource.id).or_insert(as_followed);
            }
        }
        for resource in engine.follows() {
            let Some(served) = registry.path(&resource.group, &resource.version, &resource.plural) else { continue };
            followed
                .insert(served.resource.id, Followed { resource: resource.clone(), version: served.version.clone() });
        }
        let is_new =
            |(id, one): &(&ResourceId, &Followed)| self.0.get(id).is_none_or(|known| known.resource != one.resource);
        let new = followed.iter().filter(is_new).map(|(id, _)| *id).collect();
        self.0.extend(followed);
        new
    }

    /// The resource and the key of an object, if it is followed.
    pub(super) fn place(&self, key: &Key) -> Option<(&Resource, loops::Key)> {
        let followed = self.0.get(&key.resource)?;
        Some((&followed.resource, loops::Key { namespace: key.namespace().to_owned(), name: key.name().to_owned() }))
    }

    /// An object as clients of the followed version see it; custom resources as they are stored.
    pub(super) fn object(&self, entry: &Entry) -> Arc<Value> {
        let object = entry.object();
        let followed = self.0.get(&entry.key.resource);
        let converted = followed.and_then(|followed| followed.version.built_in_from_storage(&object));
        Arc::new(converted.unwrap_or(object))
    }
}
