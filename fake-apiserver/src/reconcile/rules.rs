//! The rules of policies, definitions, webhooks and roles are noted as these are stored, if what rules decide is counted.

use super::event::Event;
use super::reconciler::{Context, Reconciler};
use super::shared::Shared;
use crate::coverage::Coverage;
use crate::error::ApiResult;
use crate::registry::ids;
use crate::store::{Entry, Key, ResourceId};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::sync::Arc;

/// The resources whose objects have rules.
const RESOURCES: [ResourceId; 7] = [
    ids::VALIDATING_ADMISSION_POLICIES,
    ids::MUTATING_ADMISSION_POLICIES,
    ids::VALIDATING_WEBHOOK_CONFIGURATIONS,
    ids::MUTATING_WEBHOOK_CONFIGURATIONS,
    ids::CUSTOM_RESOURCE_DEFINITIONS,
    ids::CLUSTER_ROLES,
    ids::ROLES,
];

pub(super) struct Rules(pub(super) Arc<Coverage>);

impl Reconciler for Rules {
    /// A key is the place of a resource in the list, the namespace and the name of an object.
    fn wants(&self, event: &Event<'_>, cluster: &Shared) -> Vec<Box<str>> {
        match event {
            Event::Start => cluster.store.snapshot().all().filter_map(|entry| key(entry)).collect(),
            Event::Stored(entry, _) => key(entry).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    fn sync<'a>(&'a self, key: &'a str, context: &'a Context<'a>) -> BoxFuture<'a, ApiResult<()>> {
        async move {
            let mut parts = key.splitn(3, '/');
            let [place, namespace, name] = [parts.next(), parts.next(), parts.next()].map(Option::unwrap_or_default);
            let resource = RESOURCES[place.parse::<usize>().expect("a key begins with a place in the list")];
            if let Some(entry) = context.store.get(&Key::new(resource, namespace, name)) {
                self.0.declare(&entry.object());
            }
            Ok(())
        }
        .boxed()
    }
}

fn key(entry: &Entry) -> Option<Box<str>> {
    let place = RESOURCES.iter().position(|id| *id == entry.key.resource)?;
    Some(format!("{place}/{}/{}", entry.key.namespace(), entry.key.name()).into())
}
