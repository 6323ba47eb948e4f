//! Configurations of admission that take long to compile, changed again and again beside writes that they are about and writes that they
//! are not; and many webhooks that are shown a large object.

use super::hooks::{Installed, dry, labelled, rule, selector};
use crate::attack::answers::{described, tally};
use crate::attack::catalogue::Coded;
use crate::attack::ground::Ground;
use crate::attack::verdict::Bounds;
use crate::webhook::{Asked, Manner, Reaction, Server, answer};
use anyhow::{Context as _, Result};
use futures::future::{join, try_join_all};
use serde_json::{Value, json};
use std::time::Duration;

/// The bounds while a megabyte is compiled: it takes fifty times as much, and the one before is still in use.
const BOUNDS: Bounds = Bounds { memory_mib: 128, peak_mib: 448, descriptors: 8, threads: 16 };
/// The bounds while a large object is shown to many: it is not copied for each.
const SHOWN: Bounds = Bounds { memory_mib: 128, peak_mib: 256, descriptors: 16, threads: 16 };
/// How often a configuration is changed.
const CHANGES: usize = 4;
/// The clients that create objects that a configuration is about.
const CLIENTS: usize = 4;
/// The requests of others after each change, one after the other: half of them gets, half of them creates.
const OTHERS: usize = 20;
/// The time limit of each.
const QUICK: Duration = Duration::from_secs(1);
/// The webhooks that are shown an object, of one configuration.
const WEBHOOKS: usize = 500;
/// The writes of it at once.
const WRITES: usize = 3;
/// The URL of webhooks that no condition lets be called.
const NOWHERE: &str = "https://127.0.0.1:1/";

/// The attacks.
pub(super) const ATTACKS: &[Coded] = &[
    Coded::new("a-megabyte-of-conditions", "6,400 conditions of validating webhooks, which all change.", |ground| {
        Box::pin(changed(ground, "conditions", "validatingwebhookconfigurations", webhooks_with_conditions))
    })
    .slow(BOUNDS),
    Coded::new("a-megabyte-of-mutating-conditions", "The same of mutating webhooks.", |ground| {
        Box::pin(changed(ground, "mutating-conditions", "mutatingwebhookconfigurations", webhooks_with_conditions))
    })
    .slow(BOUNDS),
    Coded::new("seven-thousand-webhooks", "7,000 webhooks in one configuration, which all change.", |ground| {
        Box::pin(changed(ground, "many-webhooks", "validatingwebhookconfigurations", many_webhooks))
    })
    .slow(BOUNDS),
    Coded::new("seven-thousand-mutating-webhooks", "The same with mutating webhooks.", |ground| {
        Box::pin(changed(ground, "many-mutating", "mutatingwebhookconfigurations", many_webhooks))
    })
    .slow(BOUNDS),
    Coded::new(
        "a-policy-of-a-megabyte",
        "A policy of 2,500 validations with messages, 300 variables and 20 audit annotations, which all change.",
        |ground| Box::pin(changed(ground, "policy", "validatingadmissionpolicies", validating_policy)),
    )
    .slow(BOUNDS),
    Coded::new(
        "a-mutating-policy-of-a-megabyte",
        "A policy of 1,500 mutations and 1,000 variables, which all change.",
        |ground| Box::pin(changed(ground, "mutating-policy", "mutatingadmissionpolicies", mutating_policy)),
    )
    .slow(BOUNDS),
    Coded::new(
        "an-object-for-a-thousand-webhooks",
        "An object of 400 kB that a thousand webhooks are shown, three times at once.",
        |ground| Box::pin(shown_to_many(ground)),
    )
    .slow(SHOWN),
];

/// Creates a configuration that `made` makes for its attack, and changes it, while objects are created that it is about. Others, who create
/// objects that it is not about and get what is there, are never held up.
async fn changed(ground: &Ground, attack: &str, resource: &str, made: fn(&str, usize) -> Value) -> Result<String> {
    let mut installed = Installed::create(ground, resource, attack, made(attack, 0)).await?;
    if resource.ends_with("policies") {
        let name = format!("{}-{attack}", ground.namespace());
        let actions = if resource.starts_with("validating") { json!(["Deny"]) } else { Value::Null };
        let binding = json!({"spec": {"policyName": name, "validationActions": actions}});
        let bindings = resource.replace("policies", "policybindings");
        installed = installed.and(Installed::create(ground, &bindings, attack, binding).await?);
    }
    let (mut matched, mut others) = (Vec::new(), Vec::new());
    for number in 1..=CHANGES {
        installed.change(ground, &made(attack, number)).await?;
        let object = labelled(attack, "a", json!({"k": "v"}));
        let writes = try_join_all((0..CLIENTS).map(|_| asked(ground, "POST", dry(ground), object.clone())));
        let (writes, beside) = join(writes, beside(ground)).await;
        matched.extend(writes?);
        others.extend(beside?);
    }
    installed.remove(ground).await?;
    Ok(format!("{} beside {}", tally(matched), tally(others)))
}

/// The answers to requests of others, each of which has little time.
async fn beside(ground: &Ground) -> Result<Vec<String>> {
    let limit = format!("timeout={}s", ground.patience(QUICK).as_secs());
    let mut answers = Vec::new();
    for _ in 0..OTHERS / 2 {
        let object = json!({"metadata": {"name": "b"}, "data": {"k": "v"}});
        answers.push(asked(ground, "POST", format!("{}&{limit}", dry(ground)), object).await?);
        answers.push(asked(ground, "GET", format!("{}?{limit}", ground.path("configmaps/victim")), Value::Null).await?);
    }
    Ok(answers)
}

/// The answer to a request of the attacker, in short.
async fn asked(ground: &Ground, method: &str, path: String, body: Value) -> Result<String> {
    let (code, answer) = ground.ask(method, &path, &body).await.context("a request without an answer")?;
    Ok(described(code, answer.to_string().as_bytes()))
}

/// A webhook, without what it is about.
fn webhook(number: usize, url: &str) -> Value {
    json!({
        "name": format!("w{number}.example.com"), "clientConfig": {"url": url}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    })
}

/// A condition that is never true.
fn never(attack: &str, number: &str) -> Value {
    let expression =
        format!("object.metadata.name == '{attack}-{number}' && object.data.k.startsWith('never {number}')");
    json!({"name": format!("c{number}"), "expression": expression})
}

fn webhooks_with_conditions(attack: &str, change: usize) -> Value {
    let with_conditions = |number: usize| {
        let mut webhook = webhook(number, NOWHERE);
        webhook["rules"] = json!([rule()]);
        webhook["objectSelector"] = selector(attack);
        webhook["matchConditions"] = (0..64).map(|one| never(attack, &format!("{change}-{number}-{one}"))).collect();
        webhook
    };
    json!({"webhooks": (0..100).map(with_conditions).collect::<Vec<_>>()})
}

fn many_webhooks(attack: &str, change: usize) -> Value {
    let mut webhooks: Vec<Value> = (0..7000).map(|number| webhook(change * 10_000 + number, NOWHERE)).collect();
    webhooks[0]["rules"] = json!([rule()]);
    webhooks[0]["objectSelector"] = selector(attack);
    webhooks[0]["matchConditions"] = json!([never(attack, &change.to_string())]);
    json!({ "webhooks": webhooks })
}

/// Variables of which each can name those before.
fn variables(count: usize, change: usize) -> Vec<Value> {
    let expression = |number: usize| match number {
        0 => format!("object.metadata.name + '{change}'"),
        _ => format!("variables.v{} + 'variable {number} after change {change}'", number - 1),
    };
    (0..count).map(|number| json!({"name": format!("v{number}"), "expression": expression(number)})).collect()
}

fn validating_policy(attack: &str, change: usize) -> Value {
    let validation = |number: usize| {
        json!({
            "expression": format!("object.metadata.name != 'never {number} after change {change}' && has(object.data) && size(object.data.k) < 1000"),
            "messageExpression": format!("'validation {number} after change {change} of ' + object.metadata.name + ' does not hold for ' + object.data.k"),
        })
    };
    let annotation = |number: usize| {
        let text = format!("{change}").repeat(4000);
        json!({"key": format!("a{number}"), "valueExpression": format!("object.metadata.name == '{text}' ? '{number}' : ''")})
    };
    json!({"spec": {
        "failurePolicy": "Fail", "matchConstraints": {"resourceRules": [rule()], "objectSelector": selector(attack)},
        "variables": variables(300, change), "validations": (0..2500).map(validation).collect::<Vec<_>>(),
        "auditAnnotations": (0..20).map(annotation).collect::<Vec<_>>(),
    }})
}

fn mutating_policy(attack: &str, change: usize) -> Value {
    let mutation = |number: usize| {
        let value = format!("'mutation {number} after change {change} of ' + object.metadata.name");
        let expression = format!(
            "Object{{metadata: Object.metadata{{annotations: {{'a{number}': {value}, 'b{number}': {value}}}}}}}"
        );
        json!({"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}})
    };
    json!({"spec": {
        "failurePolicy": "Fail", "reinvocationPolicy": "IfNeeded",
        "matchConstraints": {"resourceRules": [rule()], "objectSelector": selector(attack)},
        "matchConditions": [never(attack, &change.to_string())],
        "variables": variables(1000, change), "mutations": (0..1500).map(mutation).collect::<Vec<_>>(),
    }})
}

async fn shown_to_many(ground: &Ground) -> Result<String> {
    const ATTACK: &str = "shown";
    // Only the beginning of a review is read, as it is long.
    let admit = |Asked { body, .. }: Asked| async move {
        let head = std::str::from_utf8(&body[..body.len().min(300)]).unwrap_or_default();
        let uid = head.split("\"uid\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
        let review = json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": {"uid": uid}});
        Ok(Reaction::Answer(answer(&review, json!({"allowed": true}))?))
    };
    let server = Server::start(Manner::Signed, admit).await?;
    let url = format!("https://{}/", server.address);
    let one = |number| {
        let mut webhook = webhook(number, &url);
        webhook["clientConfig"]["caBundle"] = server.ca_bundle.clone().into();
        webhook["rules"] = json!([rule()]);
        webhook["objectSelector"] = selector(ATTACK);
        webhook["timeoutSeconds"] = 30.into();
        // Whether the webhook is quick enough for all is not what this is about.
        webhook["failurePolicy"] = "Ignore".into();
        webhook
    };
    let mut installed = Installed::default();
    for number in 0..2 {
        let webhooks: Vec<Value> = (0..WEBHOOKS).map(one).collect();
        let name = format!("{ATTACK}-{number}");
        let configuration = json!({ "webhooks": webhooks });
        installed =
            installed.and(Installed::create(ground, "validatingwebhookconfigurations", &name, configuration).await?);
    }
    let object = labelled(ATTACK, "a", json!({"k": "x".repeat(400_000)}));
    let writes = try_join_all((0..WRITES).map(|_| asked(ground, "POST", dry(ground), object.clone())));
    let answers = writes.await?;
    installed.remove(ground).await?;
    Ok(tally(answers))
}
