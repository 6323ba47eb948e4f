//! The status of validating admission policies, with and without the controller that writes it; the rest is in the scenarios.

use crate::support::*;
use fake_apiserver::FakeApiServer;
use serde_json::{Value, json};

const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";

fn policy() -> Value {
    let rule = json!({"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]});
    let spec = json!({
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "object.spec.nothing == 1"}],
    });
    json!({"metadata": {"name": "p"}, "spec": spec})
}

#[tokio::test]
async fn the_status_is_there_when_the_policy_is() {
    let server = start_with(FakeApiServer::builder().validating_admission_policy_status(true)).await;
    let mut client = Client::new(&server).await;
    client.post(POLICIES, &policy()).await.expect(201);
    let warning =
        "/v1, Kind=Pod: ERROR: <input>:1:12: undefined field 'nothing'\n | object.spec.nothing == 1\n | ...........^\n";
    let checked = json!({"expressionWarnings": [{"fieldRef": "spec.validations[0].expression", "warning": warning}]});
    let stored = client.get(&format!("{POLICIES}/p")).await.expect(200);
    assert_eq!(stored["status"], json!({"observedGeneration": 1, "typeChecking": checked}));
}

#[tokio::test]
async fn a_status_is_not_written_unless_that_is_asked_for() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    client.post(POLICIES, &policy()).await.expect(201);
    assert_eq!(client.get(&format!("{POLICIES}/p")).await.expect(200)["status"], json!({}));
}
