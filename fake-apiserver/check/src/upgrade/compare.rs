//! Comparison of definitions, and of the objects that are read by them.

use std::collections::BTreeSet;
use tree::Value;

/// The version that a definition stores, as an `apiVersion`.
pub(super) fn storage(definition: &Value) -> Option<String> {
    let spec = &definition["spec"];
    let stored = versions(definition).iter().find(|version| version["storage"] == true)?;
    Some(format!("{}/{}", spec["group"].as_str()?, stored["name"].as_str()?))
}

fn versions(definition: &Value) -> &[Value] {
    definition["spec"]["versions"].as_array().map_or(&[], Vec::as_slice)
}

/// Which rules in CEL are new in a definition, and which versions it does not serve any more.
pub(super) fn rules(old: Option<&Value>, new: &Value) -> Vec<String> {
    let name = new["metadata"]["name"].as_str().unwrap_or_default();
    let Some(old) = old else { return vec![format!("{name} is new")] };
    let (before, after) = (all_rules(old), all_rules(new));
    let added = after.difference(&before).map(|rule| format!("{name}: a new rule: {rule}"));
    let served = |definition: &Value| -> BTreeSet<String> {
        let served = versions(definition).iter().filter(|version| version["served"] == true);
        served.filter_map(|version| version["name"].as_str()).map(str::to_owned).collect()
    };
    let (before, after) = (served(old), served(new));
    let gone = before.difference(&after).map(|version| format!("{name}: {version} is not served any more"));
    added.chain(gone).collect()
}

/// The rules of all versions, each with its version and place.
fn all_rules(definition: &Value) -> BTreeSet<String> {
    let mut rules = BTreeSet::new();
    for version in versions(definition) {
        let name = version["name"].as_str().unwrap_or_default();
        collect(&version["schema"]["openAPIV3Schema"], &mut vec![name.to_owned()], &mut rules);
    }
    rules
}

fn collect(schema: &Value, path: &mut Vec<String>, rules: &mut BTreeSet<String>) {
    for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
        let place = match path.as_slice() {
            [version] => version.clone(),
            [version, fields @ ..] => format!("{version} {}", fields.join(".")),
            [] => String::new(),
        };
        rules.insert(format!("{place}: {}", rule["rule"].as_str().unwrap_or_default()));
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        below(property, name, path, rules);
    }
    for (field, name) in [("items", "[]"), ("additionalProperties", "*")] {
        if schema[field].is_object() {
            below(&schema[field], name, path, rules);
        }
    }
}

fn below(schema: &Value, name: &str, path: &mut Vec<String>, rules: &mut BTreeSet<String>) {
    path.push(name.to_owned());
    collect(schema, path, rules);
    path.pop();
}

/// The fields that one object has and another one has not.
pub(super) fn pruned(before: &Value, after: &Value) -> Vec<String> {
    let mut found = Vec::new();
    lost(before, after, "", &mut found);
    found
}

fn lost(before: &Value, after: &Value, path: &str, found: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(fields), Value::Object(others)) => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
                match others.get(name) {
                    Some(other) => lost(value, other, &path, found),
                    None => found.push(path),
                }
            }
        }
        (Value::Array(items), Value::Array(others)) => {
            for (index, (item, other)) in items.iter().zip(others).enumerate() {
                lost(item, other, &format!("{path}[{index}]"), found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    fn definition(rule: &str, version: &str) -> Value {
        json!({"metadata": {"name": "ws.a.com"}, "spec": {"group": "a.com", "versions": [{
            "name": version, "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"properties": {"spec": {"properties": {"l": {"items": {"x-kubernetes-validations": [{"rule": rule}]}}}}}}},
        }]}})
    }

    #[test]
    fn new_rules_and_lost_versions_are_told() {
        let old = definition("self > 1", "v1");
        assert_eq!(rules(Some(&old), &old), [""; 0]);
        assert_eq!(rules(Some(&old), &definition("self > 2", "v1")), ["ws.a.com: a new rule: v1 spec.l.[]: self > 2"]);
        assert!(
            rules(Some(&old), &definition("self > 1", "v2"))
                .contains(&"ws.a.com: v1 is not served any more".to_owned())
        );
        assert_eq!(storage(&old).as_deref(), Some("a.com/v1"));
    }

    #[test]
    fn lost_fields_are_told() {
        let before = json!({"a": 1, "b": {"c": 1, "d": [{"e": 1, "f": 2}]}});
        let after = json!({"a": 2, "b": {"d": [{"f": 2}], "new": true}});
        assert_eq!(pruned(&before, &after), ["b.c", "b.d[0].e"]);
    }
}
