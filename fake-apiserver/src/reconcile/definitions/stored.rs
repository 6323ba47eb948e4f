//! A stored definition, and changes of it.

use crate::error::ApiResult;
use crate::reconcile::reconciler::Context;
use crate::registry::ids;
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
        let own = cluster.own(catalog.registry.known(ids::CUSTOM_RESOURCE_DEFINITIONS)).through("status");
        let Stored { entry: known, definition } = self;
        let changed = cluster.commits.change(&known.key, |entry| {
            if entry.revision != known.revision {
                *definition = entry.object();
            }
            let old = definition.clone();
            change(definition);
            Ok((own.changed(entry, &old, definition)?, ()))
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
