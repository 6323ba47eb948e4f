//! Calls of webhooks and checks of policies are counted as they are by a real kube-apiserver (v1.37.1), whose lines these are.

use crate::support::*;
use crate::webhook_credentials::{Hook, VALIDATING, start_with_users};
use serde_json::{Value, json};

const REGISTRATION: &str = "/apis/admissionregistration.k8s.io/v1";

/// A policy about config maps, in its kind, with a binding.
fn policy(kind: &str, name: &str, spec: &Value, binding: &Value) -> [Value; 2] {
    let rule = json!({"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]});
    let (mut spec, mut binding) = (spec.clone(), binding.clone());
    spec["matchConstraints"] = json!({"resourceRules": [rule]});
    binding["policyName"] = json!(name);
    let object = |kind: &str, spec: Value| {
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec,
        })
    };
    [object(kind, spec), object(&format!("{kind}Binding"), binding)]
}

#[tokio::test]
async fn calls_and_checks_are_counted() {
    let (hook, folder) = (Hook::start().await, tempfile::tempdir().expect("a folder"));
    hook.write(folder.path(), "own");
    let users = json!([{"name": "*", "user": {"client-certificate": "own.crt", "client-key": "own.key"}}]);
    let server = start_with_users(folder.path(), &users).await;
    let mut client = Client::new(&server).await;
    let nobody = "https://127.0.0.1:1/";
    let url = format!("https://localhost:{}/", hook.address.port());
    client.post(VALIDATING, &hook.configuration("reviews", &url)).await.expect(201);
    let mut ignored = hook.configuration("ignored", nobody);
    ignored["webhooks"][0]["name"] = json!("ignored.example.com");
    ignored["webhooks"][0]["failurePolicy"] = json!("Ignore");
    client.post(VALIDATING, &ignored).await.expect(201);
    let mut closed = hook.configuration("closed", nobody);
    closed["webhooks"][0]["name"] = json!("closed.example.com");
    closed["webhooks"][0]["rules"][0]["resources"] = json!(["secrets"]);
    closed["kind"] = json!("MutatingWebhookConfiguration");
    client.post(&format!("{REGISTRATION}/mutatingwebhookconfigurations"), &closed).await.expect(201);

    let denies = json!({"validations": [{"expression": "object.metadata.name != 'denied'"}]});
    let errs = json!({"failurePolicy": "Ignore", "validations": [{"expression": "object.data.missing == 'x'"}]});
    let labels = json!({
        "reinvocationPolicy": "Never",
        "mutations": [{
            "patchType": "ApplyConfiguration",
            "applyConfiguration": {"expression": "Object{metadata: Object.metadata{labels: {'a': 'b'}}}"},
        }],
    });
    let all = [
        policy("ValidatingAdmissionPolicy", "denies", &denies, &json!({"validationActions": ["Deny", "Audit"]})),
        policy("ValidatingAdmissionPolicy", "errs", &errs, &json!({"validationActions": ["Deny"]})),
        policy("MutatingAdmissionPolicy", "labels", &labels, &json!({})),
    ];
    for (policy, resource) in
        all.iter().zip(["validatingadmissionpolic", "validatingadmissionpolic", "mutatingadmissionpolic"])
    {
        client.post(&format!("{REGISTRATION}/{resource}ies"), &policy[0]).await.expect(201);
        client.post(&format!("{REGISTRATION}/{resource}ybindings"), &policy[1]).await.expect(201);
    }

    for (path, name, code) in
        [(CONFIG_MAPS, "a", 201), (CONFIG_MAPS, "bad", 403), (CONFIG_MAPS, "denied", 422), (SECRETS, "a", 500)]
    {
        assert_eq!(client.post(path, &with_data(name, "k", "dg==")).await.code, code, "{path} {name}");
    }
    let answer = client.get("/metrics").await;
    let expected = include_str!("webhook_metrics.txt");
    let interesting = |line: &&str| {
        let is_admission = line.contains("_admission_webhook_") || line.contains("_admission_policy_");
        let is_time = line.contains("_sum{") || line.contains("_bucket{");
        is_admission && !is_time
    };
    let counted: Vec<&str> = answer.text().lines().filter(interesting).collect();
    assert_eq!(counted.join("\n"), expected.trim());
    let buckets =
        answer.text().lines().filter(|line| line.contains("_admission_webhook_admission_duration_seconds_bucket{"));
    let bounds: Vec<&str> = buckets.take(9).filter_map(|line| line.split("le=\"").nth(1)?.split('"').next()).collect();
    assert_eq!(bounds.join(" "), "0.005 0.025 0.1 0.5 1 2.5 10 25 +Inf");
}
