//! The condition that a schema is not structural.
//!
//! No definition of v1 has such a schema, so there is only one thing to do: to remove the condition if a client wrote it. Follows `sync` of
//! `pkg/controller/nonstructuralschema` (k8s.io/apiextensions-apiserver v0.37.1), which does so once for each generation.

use super::stored::Stored;
use crate::commit::definition::{find, remove};
use crate::error::ApiResult;
use crate::object::meta;
use crate::reconcile::shared::Shared;
use jiff::Timestamp;
use std::collections::BTreeMap;

const NON_STRUCTURAL_SCHEMA: &str = "NonStructuralSchema";

/// The generations in which the condition was removed, by name of the definition.
#[derive(Default)]
pub(super) struct Seen(BTreeMap<Box<str>, i64>);

impl Seen {
    /// Removes the condition.
    pub(super) async fn settle(&mut self, cluster: &Shared, stored: &mut Stored, now: Timestamp) -> ApiResult<()> {
        let definition = &stored.definition;
        let name = meta::name(definition).into();
        let generation = definition["metadata"]["generation"].as_i64().unwrap_or_default();
        if find(definition, NON_STRUCTURAL_SCHEMA).is_none()
            || self.0.get(&name).is_some_and(|seen| generation <= *seen)
        {
            return Ok(());
        }
        stored.change(cluster, now, |definition| remove(definition, NON_STRUCTURAL_SCHEMA)).await?;
        self.0.insert(name, generation);
        Ok(())
    }

    /// Forgets a definition, which was removed.
    pub(super) fn forget(&mut self, name: &str) {
        self.0.remove(name);
    }
}
