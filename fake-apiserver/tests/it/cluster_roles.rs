//! Aggregation of cluster roles with deletions that fail halfway; the rest is in the scenarios.

use crate::support::*;
use serde_json::{Value, json};

const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

fn role(name: &str, labels: Value) -> Value {
    let rule = json!({"verbs": ["get"], "apiGroups": [""], "resources": [name]});
    json!({"metadata": {"name": name, "labels": labels}, "rules": [rule]})
}

#[tokio::test]
async fn rules_go_with_their_role_even_if_the_next_one_stays() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    let first = client.post(ROLES, &role("a", json!({"to": "all"}))).await.expect(201);
    client.post(ROLES, &role("b", json!({"to": "all"}))).await.expect(201);
    let mut all = role("c", json!({}));
    all["aggregationRule"] = json!({"clusterRoleSelectors": [{"matchLabels": {"to": "all"}}]});
    client.post(ROLES, &all).await.expect(201);
    let preconditions = json!({"preconditions": {"uid": first["metadata"]["uid"]}});
    let selected = format!("{ROLES}?labelSelector=to%3Dall");
    client.ask("DELETE", &selected, &[JSON], preconditions.to_string()).await.expect(409);
    client.get(&format!("{ROLES}/a")).await.expect(404);
    let filled = client.get(&format!("{ROLES}/c")).await.expect(200);
    assert_eq!(filled["rules"], json!([{"verbs": ["get"], "apiGroups": [""], "resources": ["b"]}]));
}
