//! The configurations of webhooks, by name: the order in which webhooks are called.
//!
//! Follows `k8s.io/apiserver/pkg/admission/configuration/{mutating,validating}_webhook_manager.go` (v0.37.1).

use super::hook::Hook;
use crate::index::Index;
use crate::store::{Entry, Key};
use std::sync::Arc;

/// The webhooks of all configurations of a kind.
#[derive(Debug, Clone, Default)]
pub(super) struct Configurations(imbl::OrdMap<Box<str>, Arc<[Arc<Hook>]>>);

impl Configurations {
    /// All webhooks, in the order of their configurations' names, and within one in its own.
    pub(super) fn hooks(&self) -> impl Iterator<Item = &Arc<Hook>> {
        self.0.values().flat_map(|hooks| hooks.iter())
    }
}

impl Index for Configurations {
    fn apply(&mut self, entry: &Entry) {
        let name = entry.key.name();
        self.0.insert(name.into(), Hook::all_of(name, &entry.object()));
    }

    fn delete(&mut self, key: &Key) {
        self.0.remove(key.name());
    }
}
