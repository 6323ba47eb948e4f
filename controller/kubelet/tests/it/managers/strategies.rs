//! The strategies by name, and their differences.

use super::setup::Setup;
use super::test_clock::Sleeper;
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kubelet::objects::{ObjectManager, PodObject, Settings, Strategy};
use serde_json::json;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

#[test]
fn strategies_have_the_names_of_the_configuration() {
    for (name, expected) in [
        ("Watch", Ok(Strategy::Watch)),
        ("Cache", Ok(Strategy::Cache)),
        ("Get", Ok(Strategy::Get)),
        ("watch", Err("unknown configmap and secret manager mode: watch")),
        ("", Err("unknown configmap and secret manager mode: ")),
        ("X", Err("unknown configmap and secret manager mode: X")),
    ] {
        let parsed: Result<Strategy, _> = name.parse();
        assert_eq!(parsed.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
    }
    assert_eq!(Strategy::default().to_string(), "Watch");
}

fn manager<K: PodObject>(setup: &Setup, strategy: Strategy) -> Arc<dyn ObjectManager<K>> {
    let settings = Settings {
        clock: Arc::new(setup.clock.clone()),
        sync_frequency: SignedDuration::from_mins(1),
        node_ttl: Arc::new(|| Some(SignedDuration::ZERO)),
        shutdown: CancellationToken::new(),
    };
    strategy.manager(setup.client(), settings)
}

/// A pod that refers to the secret and the config map `name`.
fn pod() -> Pod {
    let reference = json!({"name": "name"});
    let sources = json!([{"secretRef": reference}, {"configMapRef": reference}]);
    let pod = json!({
        "metadata": {"namespace": "default", "name": "pod", "uid": "u"},
        "spec": {"containers": [{"name": "c", "envFrom": sources}]},
    });
    serde_json::from_value(pod).expect("a pod")
}

/// The errors of reading an object that does not exist, before and after a pod refers to it, and after the pod is gone.
async fn absent<K: PodObject>(strategy: Strategy, expected: [&str; 3]) {
    let setup = Setup::new().await;
    let manager = manager::<K>(&setup, strategy);
    let mut said = Vec::new();
    for step in 0..3 {
        match step {
            1 => manager.register_pod(&pod()),
            2 => manager.unregister_pod(&pod()),
            _ => {}
        }
        said.push(manager.get("default", "name").await.expect_err("there is none").to_string());
    }
    assert_eq!(said, expected, "{strategy}");
}

#[tokio::test]
async fn only_live_reads_need_no_registered_pod() {
    let unregistered = r#"object "default"/"name" not registered"#;
    let by_server = [r#"secrets "name" not found"#, r#"configmaps "name" not found"#];
    let by_cache = [r#"secret "name" not found"#, r#"configmap "name" not found"#];
    absent::<Secret>(Strategy::Get, [by_server[0]; 3]).await;
    absent::<ConfigMap>(Strategy::Get, [by_server[1]; 3]).await;
    absent::<Secret>(Strategy::Cache, [unregistered, by_server[0], unregistered]).await;
    absent::<ConfigMap>(Strategy::Cache, [unregistered, by_server[1], unregistered]).await;
    absent::<Secret>(Strategy::Watch, [unregistered, by_cache[0], unregistered]).await;
    absent::<ConfigMap>(Strategy::Watch, [unregistered, by_cache[1], unregistered]).await;
}

#[tokio::test]
async fn every_live_read_is_a_request_for_the_newest_state() {
    let setup = Setup::new().await;
    setup.create("name", false).await;
    let manager = manager::<Secret>(&setup, Strategy::Get);
    manager.register_pod(&pod());
    for _ in 0..3 {
        manager.get("default", "name").await.expect("it exists");
    }
    assert_eq!(setup.requests(), ["get default/name"; 3]);
}

#[tokio::test]
async fn a_watch_is_idle_after_five_syncs() {
    let setup = Setup::new().await;
    setup.create("name", false).await;
    let manager = manager::<Secret>(&setup, Strategy::Watch);
    manager.register_pod(&pod());
    manager.get("default", "name").await.expect("it exists");
    for (seconds, requests) in [(300, 2), (301, 4)] {
        setup.clock.advance(seconds);
        setup.clock.asleep(Sleeper::Sweeper).await;
        manager.get("default", "name").await.expect("it exists");
        assert_eq!(setup.until_asked(requests).await.len(), requests);
    }
}

#[tokio::test]
async fn a_config_map_that_cannot_be_listed_is_not_synced() {
    let setup = Setup::new().await;
    setup.fail("list", 500, 1);
    let manager = manager::<ConfigMap>(&setup, Strategy::Watch);
    manager.register_pod(&pod());
    let (read, _) = tokio::join!(manager.get("default", "name"), setup.clock.wake(Sleeper::Read));
    let error = read.expect_err("there is no list");
    assert_eq!(error.to_string(), "failed to sync configmap cache: timed out waiting for the condition");
}
