//! Upstream's integration test `TestWatchBasedManager`: a thousand watches, and readers that wait for all of them.

use super::setup::Setup;
use futures::future::join_all;
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::PostParams;
use kubelet::clock::SystemClock;
use kubelet::objects::{Store, WatchedObjects};
use serde_json::json;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const READERS: usize = 10;
const SECRETS_EACH: usize = 100;
/// The number of connections, which carry 100 requests each.
const CONNECTIONS: usize = READERS * SECRETS_EACH / 100;

fn names(reader: usize) -> impl Iterator<Item = String> {
    (0..SECRETS_EACH).map(move |number| format!("s{}", reader * SECRETS_EACH + number))
}

/// The first read of each must succeed, and waits a second at most.
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_watched_secrets_can_be_read_at_once() {
    let setup = Setup::new().await;
    let secrets: Api<Secret> = Api::namespaced(setup.server().client(), "default");
    let writers = (0..READERS).map(|writer| {
        let secrets = secrets.clone();
        async move {
            for name in names(writer) {
                let secret = serde_json::from_value(json!({"metadata": {"name": name}})).expect("a secret");
                secrets.create(&PostParams::default(), &secret).await.expect("the secret is created");
            }
        }
    });
    join_all(writers).await;

    let pool = setup.pool();
    let idle = SignedDuration::from_mins(5);
    let shutdown = CancellationToken::new();
    let store = WatchedObjects::<Secret>::new(setup.client_over(&pool), Arc::new(SystemClock), idle, shutdown);
    let store = Arc::new(store);
    let readers = (0..READERS).map(|reader| {
        let store = store.clone();
        tokio::spawn(async move {
            for name in names(reader) {
                store.add_reference("default", &name, &name);
                let secret = store.get("default", &name).await.expect("it exists");
                assert_eq!(secret.metadata.name, Some(name));
            }
        })
    });
    for reader in join_all(readers).await {
        reader.expect("all reads succeed");
    }
    setup.until_asked(2 * READERS * SECRETS_EACH).await;
    let connections = pool.connections();
    assert!((CONNECTIONS..=CONNECTIONS + 1).contains(&connections), "{connections} connections");
    // Now all at once, without waiting.
    for name in (0..READERS).flat_map(names) {
        store.get("default", &name).await.expect("it is known");
    }
    assert_eq!(setup.asked(), 2 * READERS * SECRETS_EACH, "one list and one watch each");
}
