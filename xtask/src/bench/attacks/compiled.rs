//! Attacks by configurations of admission that take long to compile: they change again and again, and after each change objects are
//! created that they are about.

use super::Attack;
use super::catalogue::{attack, dry, post};
use crate::bench::client::Call;
use serde_json::{Value, json};

const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";
const NAME: &str = "compiled";
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// These attacks.
pub(super) fn all() -> Vec<Attack> {
    let changing = |name, resource: &str, made: fn(usize) -> Value| {
        let change = |number: usize| {
            let path = format!("{GROUP}/{resource}/{NAME}");
            Call::patch(path, "application/merge-patch+json", made(number).to_string())
        };
        let create = || post(&dry(CONFIG_MAPS), json!({"metadata": {"name": "a"}, "data": {"k": "v"}}));
        let before = if resource.ends_with("policies") { vec![bound(resource)] } else { Vec::new() };
        let before = [post(&format!("{GROUP}/{resource}"), made(0))].into_iter().chain(before).collect();
        attack(name, before, vec![change(1), create(), change(2), create()])
    };
    let (validating, mutating) = ("validatingwebhookconfigurations", "mutatingwebhookconfigurations");
    vec![
        changing("1 MB of conditions of webhooks that change", validating, conditions),
        changing("1 MB of conditions of mutating webhooks that change", mutating, conditions),
        changing("7,000 webhooks that change", validating, webhooks),
        changing("a policy of 1 MB that changes", "validatingadmissionpolicies", policy),
        changing("a mutating policy of 1 MB that changes", "mutatingadmissionpolicies", mutating_policy),
    ]
}

fn rules() -> Value {
    json!([{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}])
}

fn webhook(number: usize) -> Value {
    json!({
        "name": format!("w{number}.example.com"), "clientConfig": {"url": "https://127.0.0.1:1/"}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    })
}

/// A condition that is never true.
fn condition(number: usize, change: usize) -> Value {
    let expression =
        format!("object.metadata.name == 'never-{number}-{change}' && object.data.k.startsWith('{number}')");
    json!({"name": format!("c{number}"), "expression": expression})
}

fn conditions(change: usize) -> Value {
    let one = |number: usize| {
        let mut webhook = webhook(number);
        webhook["rules"] = rules();
        webhook["matchConditions"] = (0..64).map(|one| condition(number * 64 + one, change)).collect();
        webhook
    };
    json!({"metadata": {"name": NAME}, "webhooks": (0..100).map(one).collect::<Vec<_>>()})
}

fn webhooks(change: usize) -> Value {
    let mut webhooks: Vec<Value> = (0..7000).map(|number| webhook(change * 10_000 + number)).collect();
    webhooks[0]["rules"] = rules();
    webhooks[0]["matchConditions"] = json!([condition(0, change)]);
    json!({"metadata": {"name": NAME}, "webhooks": webhooks})
}

/// The binding of the policy.
fn bound(policies: &str) -> Call {
    let mut spec = json!({"policyName": NAME});
    if policies.starts_with("validating") {
        spec["validationActions"] = json!(["Deny"]);
    }
    let bindings = policies.replace("policies", "policybindings");
    post(&format!("{GROUP}/{bindings}"), json!({"metadata": {"name": NAME}, "spec": spec}))
}

fn policy(change: usize) -> Value {
    let validation = |number: usize| {
        json!({
            "expression": format!("object.metadata.name != 'never-{number}-{change}' && has(object.data)"),
            "messageExpression": format!("'validation {number} after change {change} does not hold for ' + object.metadata.name"),
        })
    };
    json!({"metadata": {"name": NAME}, "spec": {
        "matchConstraints": {"resourceRules": rules()}, "validations": (0..4000).map(validation).collect::<Vec<_>>(),
    }})
}

fn mutating_policy(change: usize) -> Value {
    let mutation = |number: usize| {
        let expression = format!(
            "Object{{metadata: Object.metadata{{annotations: {{'a{number}': object.metadata.name + '{change}'}}}}}}"
        );
        json!({"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}})
    };
    json!({"metadata": {"name": NAME}, "spec": {
        "reinvocationPolicy": "Never", "matchConstraints": {"resourceRules": rules()}, "matchConditions": [condition(0, change)],
        "mutations": (0..5000).map(mutation).collect::<Vec<_>>(),
    }})
}
