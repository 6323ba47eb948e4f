//! Admission that waits; the rest of it is in the scenarios.

use crate::support::*;
use fake_apiserver::AuthorizationMode;
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

#[tokio::test]
async fn nulls_where_admission_looks_or_writes() {
    let builder = FakeApiServer::builder().authorization_mode([AuthorizationMode::Node, AuthorizationMode::Rbac]);
    let builder = builder.enable_admission_plugins(["ServiceAccount", "NodeRestriction"]);
    let server = start_with(builder.add_static_token("node", "system:node:n", &["system:nodes"])).await;
    let mut client = Client::new(&server).await;
    client.post(SERVICE_ACCOUNTS, &named("default")).await.expect(201);
    let admin = client.token.clone();
    let roles = |resource: &str| format!("/apis/rbac.authorization.k8s.io/v1/{resource}");
    for token in [admin, "node".to_string()] {
        client.token = token;
        for (path, field, values) in [
            (PODS.to_string(), "metadata", &[json!(null), json!({"annotations": null, "ownerReferences": [null]})][..]),
            (
                PODS.to_string(),
                "spec",
                &[
                    json!(null),
                    json!({"containers": [null], "initContainers": null, "volumes": [null]}),
                    json!({"containers": [{"volumeMounts": [null], "env": [null], "envFrom": [null]}]}),
                    json!({"volumes": [{"projected": {"sources": [null]}}], "imagePullSecrets": [null]}),
                ],
            ),
            (roles("clusterroles"), "rules", &[json!(null), json!([null]), json!([{"verbs": [null]}])]),
            (
                roles("clusterroles"),
                "aggregationRule",
                &[json!({}), json!({"clusterRoleSelectors": [null]}), json!({"clusterRoleSelectors": [{}]})],
            ),
            (roles("clusterrolebindings"), "roleRef", &[json!(null), json!({})]),
            (roles("clusterrolebindings"), "subjects", &[json!(null), json!([null])]),
            (format!("{SERVICE_ACCOUNTS}/default/token"), "spec", &[json!(null), json!({"boundObjectRef": null})]),
            ("/api/v1/nodes".to_string(), "spec", &[json!(null), json!({"taints": [null], "configSource": null})]),
        ] {
            for value in values {
                let mut object = named("odd");
                object[field] = value.clone();
                // Any answer will do, but there must be one.
                let answer = client.post(&path, &object).await;
                assert!(matches!(answer.code, 201 | 403 | 409 | 422), "{path} {object}: {}", answer.text());
            }
        }
    }
}
