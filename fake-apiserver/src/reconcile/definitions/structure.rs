//! The condition that a schema is not structural.
//!
//! No definition of v1 has such a schema, so there is only one thing to do: to remove the condition if a client wrote it. Follows `sync` of
//! `pkg/controller/nonstructuralschema` (k8s.io/apiextensions-apiserver v0.37.1), which does so once for each generation.

use super::stored::Stored;
use crate::commit::definition::{find, remove};
use crate::error::ApiResult;
use crate::object::meta;
use crate::reconcile::reconciler::Context;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

const NON_STRUCTURAL_SCHEMA: &str = "NonStructuralSchema";

/// The generations in which the condition was removed, by name of the definition.
#[derive(Default)]
pub(super) struct Seen(Mutex<BTreeMap<Box<str>, i64>>);

impl Seen {
    /// Removes the condition.
    pub(super) async fn settle(&self, cluster: &Context<'_>, stored: &mut Stored) -> ApiResult<()> {
        let definition = &stored.definition;
        let name = meta::name(definition).into();
        let generation = definition["metadata"]["generation"].as_i64().unwrap_or_default();
        if find(definition, NON_STRUCTURAL_SCHEMA).is_none()
            || self.seen().get(&name).is_some_and(|seen| generation <= *seen)
        {
            return Ok(());
        }
        stored.change(cluster, |definition| remove(definition, NON_STRUCTURAL_SCHEMA)).await?;
        self.seen().insert(name, generation);
        Ok(())
    }

    /// The same for a fork of the cluster.
    pub(super) fn fork(&self) -> Seen {
        Seen(self.seen().clone().into())
    }

    /// Forgets a definition, which was removed.
    pub(super) fn forget(&self, name: &str) {
        self.seen().remove(name);
    }

    fn seen(&self) -> MutexGuard<'_, BTreeMap<Box<str>, i64>> {
        self.0.lock().expect("no code that runs under this lock panics")
    }
}
