//! The pace at which a namespace is emptied. All else is in the scenarios.

use super::*;
use crate::commit::{Commits, draft};
use crate::reconcile::engine::Engine;
use crate::reconcile::ticket::Ticket;
use jiff::Timestamp;
use std::collections::BTreeSet;
use tokio::runtime::Handle;
use tokio::task::yield_now;
use tokio_util::sync::CancellationToken;

const OBJECTS: usize = 1000;

/// On one thread, others see the state in between only if the work lets them.
#[tokio::test]
async fn a_large_namespace_is_emptied_in_portions() {
    let cluster = Shared::empty();
    let (store, catalog) = (cluster.store.clone(), cluster.catalog());
    let commits = Commits::new(&store, None);
    let complete = |id, object: &mut Value| {
        Own::new(catalog.registry.known(id), commits, &cluster.ids, Timestamp::UNIX_EPOCH).complete(object);
    };
    let mut namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "large"}});
    complete(ids::NAMESPACES, &mut namespace);
    namespace["status"]["phase"] = "Terminating".into();
    namespace["metadata"]["deletionTimestamp"] = "2030-01-01T00:00:00Z".into();
    let mut all = vec![(ids::NAMESPACES, namespace)];
    for index in 0..OBJECTS {
        let metadata = json!({"name": format!("a{index}"), "namespace": "large"});
        let mut object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
        complete(ids::CONFIG_MAPS, &mut object);
        all.push((ids::CONFIG_MAPS, object));
    }
    for (id, object) in &all {
        let draft = draft(catalog.registry.known(*id), object).expect("it is sound");
        assert!(commits.create(draft, None).await.is_ok());
    }
    let reconcilers: Vec<Arc<dyn Reconciler>> = vec![Arc::<Namespaces>::default()];
    let engine = Engine::new(cluster, reconcilers, CancellationToken::new(), Handle::current());
    let large = store.get(&key("large")).expect("it is there");
    let emptied = tokio::spawn(async move {
        let ticket = Ticket::new(&*engine, None);
        ticket.note(&Event::Stored(&large, None));
        ticket.done().await;
    });
    let mut seen = BTreeSet::new();
    while !emptied.is_finished() {
        seen.insert(store.snapshot().range(&scope("large", ids::CONFIG_MAPS), "").count());
        yield_now().await;
    }
    assert!(store.get(&key("large")).is_none());
    assert!(seen.iter().any(|left| (1..OBJECTS).contains(left)), "{seen:?}");
}
