//! The configurations of webhooks, by name: the order in which webhooks are called.
//!
//! Follows `k8s.io/apiserver/pkg/admission/configuration/{mutating,validating}_webhook_manager.go` (v0.37.1).

use super::hook::Hook;
use crate::admission::manifests::{FromManifests, Manifest};
use crate::admission::{Attributes, Generation};
use crate::error::ApiResult;
use crate::index::Index;
use crate::object::meta;
use crate::store::{Entry, Key};
use std::sync::Arc;
use tree::Value;

/// The webhooks of all configurations of a kind.
#[derive(Debug, Clone, Default)]
pub(super) struct Configurations(imbl::OrdMap<Box<str>, Configuration>);

#[derive(Debug, Clone)]
struct Configuration {
    generation: Generation,
    hooks: Arc<[Arc<Hook>]>,
}

impl Configurations {
    /// All webhooks, in the order of their configurations' names, and within one in its own, if the rules of one are about the write; those
    /// of the first go before those of the second ones.
    ///
    /// # Errors
    /// 504, if the deadline of the request has passed.
    pub(super) fn concerned(all: &[&Configurations], write: &Attributes<'_>) -> ApiResult<Vec<Arc<Hook>>> {
        let hooks = || all.iter().flat_map(|own| own.0.values()).flat_map(|configuration| configuration.hooks.iter());
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
        if self.0.get(&name).is_none_or(|known| known.generation != generation) {
            let hooks = Hook::all_of(&name, &mut object);
            self.0.insert(name, Configuration { generation, hooks });
        }
    }
}

impl FromManifests for Configurations {
    fn of(manifests: Vec<Manifest>) -> Self {
        let mut all = Configurations::default();
        for Manifest { object, .. } in manifests {
            all.put(meta::name(&object).into(), object);
        }
        all
    }
}

impl Index for Configurations {
    fn apply(&mut self, entry: &Entry) {
        self.put(entry.key.name().into(), entry.object());
    }

    fn delete(&mut self, key: &Key) {
        self.0.remove(key.name());
    }
}
