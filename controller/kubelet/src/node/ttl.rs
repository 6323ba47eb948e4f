//! The TTL of cached objects that a node's annotation states, kept current by a watch.

use crate::objects::{NodeTtl, Strategy, ttl_of_node};
use controller::client_go::reflector::Reflector;
use k8s_openapi::api::core::v1::Node;
use kube::runtime::watcher;
use kube::{Api, Client};
use std::sync::{Arc, RwLock};
use tokio_util::sync::CancellationToken;
use tracing::warn;

/// The TTL that the node `name` states; only the strategy `Cache` needs it. It must be called within a tokio runtime.
pub(super) fn of_node(client: &Client, name: &str, strategy: Strategy, stop: &CancellationToken) -> NodeTtl {
    if strategy != Strategy::Cache {
        return Arc::new(|| None);
    }
    let ttl = Arc::new(RwLock::new(None));
    let (nodes, stop) = (Api::<Node>::all(client.clone()), stop.clone());
    let config = watcher::Config::default().fields(&format!("metadata.name={name}"));
    let current = ttl.clone();
    let set = move |ttl| *current.write().expect("no holder of this lock can panic") = ttl;
    tokio::spawn(async move {
        let mut events = Reflector::new(nodes, config);
        while let Some(event) = stop.run_until_cancelled(events.next()).await {
            match event {
                Ok(watcher::Event::Apply(node) | watcher::Event::InitApply(node)) => set(ttl_of_node(&node)),
                Ok(watcher::Event::Delete(_)) => set(None),
                Ok(watcher::Event::Init | watcher::Event::InitDone) => {}
                Err(error) => warn!(%error, "watch of the node failed, trying again"),
            }
        }
    });
    Arc::new(move || *ttl.read().expect("no holder of this lock can panic"))
}
