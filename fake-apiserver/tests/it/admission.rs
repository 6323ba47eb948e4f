//! Admission where time matters; what it says and does otherwise is in the scenarios.

use crate::support::*;
use fake_apiserver::FakeApiServer;
use serde_json::{Value, json};

const PODS: &str = "/api/v1/namespaces/default/pods";
const SERVICE_ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";

fn pod() -> Value {
    json!({"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
}

fn revision(object: &Value) -> u64 {
    text(object, "/metadata/resourceVersion").parse().expect("a revision is a number")
}

#[tokio::test]
async fn a_pod_waits_for_the_default_account_and_nobody_else_does() {
    for protocol in PROTOCOLS {
        let server = start_with(FakeApiServer::builder().enable_admission_plugins(["ServiceAccount"])).await;
        let mut early = Client::over(&server, protocol).await;
        let waiting = tokio::spawn(async move { early.post(PODS, &pod()).await });
        let mut client = Client::over(&server, protocol).await;
        client.get(CONFIG_MAPS).await.expect(200);
        client.post(SERVICE_ACCOUNTS, &named("builder")).await.expect(201);
        assert!(!waiting.is_finished());
        let account = client.post(SERVICE_ACCOUNTS, &named("default")).await.expect(201);
        let pod = soon(waiting).await.expect("no panic").expect(201);
        assert!(revision(&pod) > revision(&account));
        assert_eq!(pod["spec"]["serviceAccountName"], "default");
    }
}
