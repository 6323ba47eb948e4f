//! The rules against the recorded results of the real packages for some hundred definitions
//! (`fixtures/custom/definitions.jsonl`).

use super::RULES;
use crate::deadline::Deadline;
use crate::error::FieldError;
use crate::registry::ids::CUSTOM_RESOURCE_DEFINITIONS;
use crate::registry::{Context, Registry, at, carry_over};
use crate::schema::{decode_json, encode_any};
use crate::store::Store;
use jiff::Timestamp;
use tree::{Map, Value};

/// Sets or removes a value at a JSON pointer, whose missing parents are created.
fn apply(tree: &mut Value, pointer: &str, value: Option<&Value>) {
    let Some((parent, name)) = pointer.rsplit_once('/') else {
        *tree = value.cloned().unwrap_or_default();
        return;
    };
    let name = name.replace("~1", "/").replace("~0", "~");
    if tree.pointer(parent).is_none_or(Value::is_null) {
        apply(tree, parent, Some(&Value::Object(Map::new())));
    }
    match (tree.pointer_mut(parent), value) {
        (Some(Value::Object(fields)), Some(value)) => _ = fields.insert(name.into(), value.clone()),
        (Some(Value::Object(fields)), None) => _ = fields.remove(&name),
        (Some(Value::Array(items)), Some(value)) => {
            let index: usize = name.parse().expect("a place in a list is a number");
            items.resize(items.len().max(index + 1), Value::Null);
            items[index] = value.clone();
        }
        (other, _) => panic!("{pointer} is below {other:?}"),
    }
}

/// The base with changes, defaulted.
fn definition(base: &Value, changes: &Value) -> Value {
    let mut tree = base.clone();
    for change in changes.as_array().into_iter().flatten() {
        apply(&mut tree, change["at"].as_str().unwrap_or_default(), change.get("value"));
    }
    let registry = Registry::built_in();
    let ty = registry.known(CUSTOM_RESOURCE_DEFINITIONS).storage().ty();
    let mut object = decode_json(tree.to_string().as_bytes(), ty).expect("the definition is well-formed").object;
    (RULES.strategy.default)(&mut object);
    object
}

/// A finding as in the record.
fn line(finding: &FieldError) -> String {
    format!("{} {finding}", finding.cause().reason)
}

/// The expected and the actual results of a line: findings, warnings and, without findings, the object.
fn compare(base: &Value, recorded: &Value) -> [(Vec<String>, Vec<String>); 3] {
    let texts = |field: &str| -> Vec<String> {
        let texts = recorded[field].as_array().into_iter().flatten();
        texts.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let registry = Registry::built_in();
    let resource = registry.known(CUSTOM_RESOURCE_DEFINITIONS);
    let mut new = definition(base, &recorded["new"]);
    let status = recorded["status"] == true;
    let old = (recorded["update"] == true).then(|| definition(base, &recorded["old"]));
    let (version, store) = (resource.storage(), Store::with_history(1, 1));
    let subresource = version.subresource("status").filter(|_| status && old.is_some());
    let deadline = Deadline::default();
    let context = Context {
        subresource: subresource.map_or("", |subresource| &subresource.name),
        ..Context::of_server(&version.api_version, &store, Timestamp::default(), &deadline)
    };
    // The pipeline of writes leaves to each endpoint its own field.
    match &old {
        Some(old) => carry_over(&mut new, old, if subresource.is_some() { "spec" } else { "status" }),
        None => carry_over(&mut new, &Value::Null, "status"),
    }
    let strategy = subresource.map_or(&resource.rules.strategy, |subresource| &subresource.strategy);
    (strategy.prepare)(&context, &mut new, old.as_ref());
    let findings = resource.validate(&context, &new, old.as_ref());
    let mut warnings = (strategy.warnings)(&context, &new, old.as_ref());
    let mut findings: Vec<String> = findings.errors.iter().map(line).collect();
    let mut expected = texts("findings");
    // Each is reported once.
    let mut seen = std::collections::HashSet::new();
    expected.retain(|finding| seen.insert(finding.clone()));
    let object = findings.is_empty().then(|| encode_any(&new)).into_iter().collect();
    if recorded["unordered"] == true {
        expected.sort();
        findings.sort();
    }
    warnings.sort();
    if !findings.is_empty() {
        warnings.clear();
    }
    let changed = at(recorded, "/object").filter(|_| expected.is_empty()).map(|object| {
        let ty = resource.storage().ty();
        encode_any(&decode_json(object.to_string().as_bytes(), ty).expect("it is a definition").object)
    });
    let expected_warnings = if expected.is_empty() { texts("warnings") } else { Vec::new() };
    [(expected, findings), (expected_warnings, warnings), (changed.into_iter().collect(), object)]
}

#[test]
fn definitions_are_judged_as_by_the_real_server() {
    let mut lines = include_str!("../../../../fixtures/custom/definitions.jsonl").lines();
    let mut parse = || lines.next().map(|line| serde_json::from_str::<Value>(line).expect("a line is JSON"));
    let base = parse().expect("the first line is the base")["base"].take();
    let (mut count, mut wrong) = (0, Vec::new());
    while let Some(recorded) = parse() {
        count += 1;
        for (expected, found) in compare(&base, &recorded) {
            if expected != found {
                wrong.push(format!("{}\n  {}\n  {}", recorded["about"], expected.join("\n    "), found.join("\n    ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} differ; expected and found:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 300, "{count}");
}
