//! A stored definition, and changes of it.

use crate::clock::format_seconds;
use crate::commit::{Change, draft};
use crate::error::ApiResult;
use crate::object::meta;
use crate::reconcile::MANAGER;
use crate::reconcile::reconciler::Context;
use crate::registry::ids;
use crate::registry::managers::Writer;
use crate::store::{Entry, Key};
use std::sync::Arc;
use tree::Value;

/// A stored definition, parsed.
pub(super) struct Stored {
    pub(super) entry: Arc<Entry>,
    pub(super) definition: Value,
}

impl Stored {
    /// The definition of that name.
    pub(super) fn read(cluster: &Context<'_>, name: &str) -> Option<Stored> {
        let entry = cluster.store.get(&key(name))?;
        Some(Stored { definition: entry.object(), entry })
    }

    /// Changes the definition, if it still exists; one that is being deleted is removed once it has no finalizers.
    pub(super) async fn change(&mut self, cluster: &Context<'_>, change: impl Fn(&mut Value)) -> ApiResult<()> {
        let catalog = cluster.catalog();
        let resource = catalog.registry.known(ids::CUSTOM_RESOURCE_DEFINITIONS);
        let Stored { entry: known, definition } = self;
        let now = format_seconds(cluster.now);
        let changed = cluster.commits.change(&known.key, |entry| {
            if entry.revision != known.revision {
                *definition = entry.object();
            }
            let old = definition.clone();
            change(definition);
            resource.track(Writer { manager: MANAGER, subresource: "status", now: &now }, Some(&old), definition);
            let free = meta::deletion_timestamp(definition).is_some() && meta::finalizers(definition).next().is_none();
            let change = if free { Change::Remove } else { Change::Put(draft(resource, definition)?) };
            Ok((change, ()))
        });
        if let Some((entry, ())) = changed.await? {
            self.entry = entry;
        }
        Ok(())
    }
}

pub(super) fn key(name: &str) -> Key {
    Key::new(ids::CUSTOM_RESOURCE_DEFINITIONS, "", name)
}
