//! The configurations of webhooks, by name: the order in which webhooks are called.
//!
//! Follows `k8s.io/apiserver/pkg/admission/configuration/{mutating,validating}_webhook_manager.go` (v0.37.1).

use super::hook::Hook;
use crate::admission::manifests::{FromManifests, Manifest};
use crate::admission::{Attributes, Generation};
use crate::error::ApiResult;
use crate::index::{Index, Place};
use crate::object::meta;
use crate::store::{Entry, Key, ResourceId};
use imbl::OrdMap;
use std::marker::PhantomData;
use std::sync::Arc;
use tree::Value;

/// A kind of configurations.
pub(super) trait Configured: Send + Sync + 'static {
    /// The resource.
    const RESOURCE: ResourceId;
    /// The kind.
    const KIND: &'static str;
    /// The place of their index.
    const PLACE: Place;
}

/// The webhooks of all configurations of a kind.
#[derive(Debug)]
pub(super) struct Configurations<K> {
    by_name: OrdMap<Box<str>, Configuration>,
    kind: PhantomData<fn() -> K>,
}

impl<K> Default for Configurations<K> {
    fn default() -> Self {
        Configurations { by_name: OrdMap::new(), kind: PhantomData }
    }
}

impl<K> Clone for Configurations<K> {
    fn clone(&self) -> Self {
        Configurations { by_name: self.by_name.clone(), kind: PhantomData }
    }
}

#[derive(Debug, Clone)]
struct Configuration {
    generation: Generation,
    hooks: Arc<[Arc<Hook>]>,
}

impl<K> Configurations<K> {
    /// All webhooks, in the order of their configurations' names, and within one in its own, if the rules of one are about the write; those
    /// of the first go before those of the second ones.
    ///
    /// # Errors
    /// 504, if the deadline of the request has passed.
    pub(super) fn concerned(all: &[&Self], write: &Attributes<'_>) -> ApiResult<Vec<Arc<Hook>>> {
        let hooks =
            || all.iter().flat_map(|own| own.by_name.values()).flat_map(|configuration| configuration.hooks.iter());
        for hook in hooks() {
            write.deadline.check()?;
            if hook.constraints.concerns(write) {
                return Ok(hooks().cloned().collect());
            }
        }
        Ok(Vec::new())
    }

    fn put(&mut self, name: Box<str>, mut object: Value) {
        let generation = Generation::of(&object);
        if self.by_name.get(&name).is_none_or(|known| known.generation != generation) {
            let hooks = Hook::all_of(&name, &mut object);
            self.by_name.insert(name, Configuration { generation, hooks });
        }
    }
}

impl<K: Configured> FromManifests for Configurations<K> {
    fn of(manifests: Vec<Manifest>) -> Self {
        let mut all = Configurations::default();
        for Manifest { object, .. } in manifests {
            all.put(meta::name(&object).into(), object);
        }
        all
    }
}

impl<K: Configured> Index for Configurations<K> {
    const PLACE: Place = K::PLACE;
    const RESOURCES: &'static [ResourceId] = &[K::RESOURCE];

    fn apply(&mut self, entry: &Entry) {
        self.put(entry.key.name().into(), entry.object());
    }

    fn delete(&mut self, key: &Key) {
        self.by_name.remove(key.name());
    }

    /// A fork has services of its own.
    fn fork(&self) -> Self {
        let apart = |Configuration { generation, hooks }: &Configuration| Configuration {
            generation: generation.clone(),
            hooks: hooks.iter().map(|hook| Arc::new(hook.apart())).collect(),
        };
        let by_name = self.by_name.iter().map(|(name, configuration)| (name.clone(), apart(configuration)));
        Configurations { by_name: by_name.collect(), kind: PhantomData }
    }
}
