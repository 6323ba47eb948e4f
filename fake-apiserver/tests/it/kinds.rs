//! Every kind's defaults, resets and findings against `fixtures/kinds.jsonl`: requests that a real kube-apiserver (v1.37.1) was
//! sent with `dryRun=All`, one a line, and what it said. What depends on the moment (uids, times, revisions) and what
//! is a matter of encoding (empty values) was left out of its answers, and is of ours. Maps have no order in Go, so
//! findings are compared as sets; warnings are recorded too.

use fake_apiserver::error::{ApiError, FieldError};
use fake_apiserver::object::meta;
use fake_apiserver::registry::{Registry, Resource};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Case {
    group: String,
    resource: String,
    subresource: Option<String>,
    /// The stored object, for an update.
    old: Option<Value>,
    body: Value,
    /// Message, causes, or the object.
    answer: Value,
    #[serde(default)]
    warnings: Vec<String>,
}

#[test]
fn kinds_answer_as_the_real_server_does() {
    let cases: Vec<Case> = include_str!("../../../fixtures/kinds.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("recorded as JSON"))
        .collect();
    assert!(cases.len() > 100);
    let registry = Registry::built_in();
    for case in cases {
        let kind = registry.path(&case.group, "v1", &case.resource).expect("recorded of served kinds").resource;
        let (answer, warnings) = match &case.old {
            None => create(kind, case.body.clone()),
            Some(old) => (update(kind, case.subresource.as_deref(), case.body.clone(), old), Vec::new()),
        };
        assert_eq!(answer, case.answer, "{} {}", case.resource, case.body);
        assert_eq!(warnings, case.warnings, "{} {}", case.resource, case.body);
    }
}

fn create(kind: &Resource, mut object: Value) -> (Value, Vec<String>) {
    (kind.strategy.default)(&mut object);
    if kind.meta.namespaced {
        meta::set(&mut object, "namespace", "kinds-x");
    }
    if let Err(why) = (kind.strategy.admit)(&mut object, None) {
        let refusal = ApiError::forbidden(kind.storage().qualified(), meta::name(&object), why);
        return (json!({ "message": refusal.to_string() }), Vec::new());
    }
    (kind.strategy.prepare_create)(&mut object);
    let findings = kind.validate_create(kind.storage(), &object);
    let warnings = if findings.is_empty() { (kind.strategy.warnings)(&object, None) } else { Vec::new() };
    (answer(object, &findings), warnings)
}

fn update(kind: &Resource, subresource: Option<&str>, mut object: Value, old: &Value) -> Value {
    let subresource =
        subresource.map(|name| kind.storage().subresource(name).expect("recorded of served subresources"));
    let strategy = subresource.map_or(&kind.strategy, |subresource| &subresource.strategy);
    (strategy.default)(&mut object);
    (strategy.admit)(&mut object, Some(old)).expect("admission refuses no update");
    (strategy.prepare_update)(&mut object, old);
    meta::keep_system_fields(&mut object, old);
    meta::set(&mut object, "resourceVersion", "1");
    let findings = kind.validate_update(kind.storage(), subresource, &object, old);
    answer(object, &findings)
}

fn answer(mut object: Value, findings: &[FieldError]) -> Value {
    if findings.is_empty() {
        clean(&mut object);
        return object;
    }
    // A diff of Go structs follows the first line.
    let mut texts: Vec<String> =
        findings.iter().map(|finding| finding.to_string().lines().next().unwrap_or_default().into()).collect();
    texts.sort();
    json!({ "causes": texts })
}

fn clean(value: &mut Value) {
    const VOLATILE: &[&str] = &[
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "lastTransitionTime",
        "managedFields",
        "apiVersion",
        "kind",
        "generation",
        "selfLink",
    ];
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| !VOLATILE.contains(&key.as_str()));
            fields.values_mut().for_each(clean);
            fields.retain(|_, value| !is_empty(value));
        }
        Value::Array(items) => items.iter_mut().for_each(clean),
        _ => {}
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}
