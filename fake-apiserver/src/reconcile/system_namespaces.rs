//! The namespaces that every cluster has. A key is one's name.
//!
//! Follows `pkg/controlplane/controller/systemnamespaces` (v1.37.1), which looks every minute; here a removed one is created again
//! before the response to the write that removed it.

use super::client::Client;
use super::event::Event;
use super::reconciler::{Context, Reconciler};
use super::shared::Shared;
use crate::error::ApiResult;
use crate::registry::ids;
use futures::FutureExt;
use futures::future::BoxFuture;
use tree::{Value, json};

/// The namespaces.
pub(super) const NAMES: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/// A new namespace.
pub(super) fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

pub(super) struct SystemNamespaces;

impl Reconciler for SystemNamespaces {
    fn wants(&self, event: &Event<'_>, _: &Shared) -> Vec<Box<str>> {
        match event {
            Event::Removed(namespace)
                if namespace.key.resource == ids::NAMESPACES && NAMES.contains(&namespace.key.name()) =>
            {
                vec![namespace.key.name().into()]
            }
            _ => Vec::new(),
        }
    }

    fn sync<'a>(&'a self, name: &'a str, context: &'a Context<'a>) -> BoxFuture<'a, ApiResult<()>> {
        async move {
            let catalog = context.catalog();
            Client::of_server(context, catalog.registry.known(ids::NAMESPACES)).create(namespace(name)).await
        }
        .boxed()
    }
}
