//! The pace at which a collection is deleted. All else is in the scenarios.

use super::*;
use crate::FakeApiServer;
use crate::commit::Own;
use crate::commit::deletion::DeleteOptions;
use crate::reconcile::Account;
use crate::registry::{Served, ids};
use std::collections::BTreeSet;
use std::pin::pin;
use tokio::task::yield_now;
use tree::json;

const OBJECTS: usize = 1000;

/// On one thread, others see the state in between only if the work lets them.
#[tokio::test]
async fn a_large_collection_is_deleted_in_portions() {
    let server = FakeApiServer::builder().start().await.expect("a free port");
    let cluster = server.cluster();
    let (catalog, ticket) = (cluster.catalog(), cluster.reconcilers.ticket());
    let resource = catalog.registry.known(ids::CONFIG_MAPS);
    let own = Own::new(resource, ticket.commits(&cluster.store), &cluster.ids, jiff::Timestamp::UNIX_EPOCH);
    for index in 0..OBJECTS {
        let metadata = json!({"name": format!("a{index}"), "namespace": "default"});
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
        assert!(own.create(object, None).await.expect("it is sound").is_ok());
    }
    let itself = InProcess::new(Arc::downgrade(cluster), CancellationToken::new());
    let options = DeleteOptions::default();
    let sent = Sent {
        account: Account { user: "system:apiserver", manager: "test" },
        target: Served::stored(resource).at("default", ""),
        verb: Verb::DeleteCollection(&options),
    };
    let scope = Scope { resource: resource.id, namespace: Some("default".into()), name: None };
    let left = || cluster.store.snapshot().range(&scope, "").count();
    let (mut deleted, mut seen) = (pin!(itself.serve(sent, &ticket)), BTreeSet::new());
    loop {
        tokio::select! {
            biased;
            deleted = &mut deleted => break assert!(deleted.is_ok()),
            () = yield_now() => drop(seen.insert(left())),
        }
    }
    assert_eq!(left(), 0);
    assert!(seen.iter().any(|left| (1..OBJECTS).contains(left)), "{seen:?}");
}
