//! The reconcilers' work beside that of requests. Their results are in the scenarios.

use crate::support::*;
use fake_apiserver::internals::store::Scope;
use fake_apiserver::internals::{ids, store};
use std::collections::BTreeSet;
use tokio::task::yield_now;

/// On one thread, others see the state in between only if the work lets them.
#[tokio::test]
async fn a_namespace_is_emptied_in_portions() {
    const OBJECTS: usize = 1000;
    let server = start().await;
    let mut client = Client::new(&server).await;
    client.post("/api/v1/namespaces", &named("large")).await.expect(201);
    let path = "/api/v1/namespaces/large/configmaps";
    for index in 0..OBJECTS {
        client.post(path, &named(&format!("a{index}"))).await.expect(201);
    }
    let left = || {
        let scope = Scope { namespace: Some("large".into()), ..Scope::all(ids::CONFIG_MAPS) };
        store(&server).snapshot().range(&scope, "").count()
    };
    assert_eq!(left(), OBJECTS);
    let deletion = tokio::spawn(async move { client.delete("/api/v1/namespaces/large").await.code });
    let mut seen = BTreeSet::new();
    while !deletion.is_finished() {
        seen.insert(left());
        yield_now().await;
    }
    assert_eq!(deletion.await.expect("an answer"), 200);
    assert_eq!(left(), 0);
    let between = seen.iter().filter(|left| (1..OBJECTS).contains(*left)).count();
    assert!(between >= OBJECTS / 500, "{seen:?}");
}
