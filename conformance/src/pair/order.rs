//! Sorting of lists that upstream leaves in no fixed order, so that answers can be compared.

use serde_json::Value;

/// Leaves of a list of groups only that one.
pub(super) fn keep_group(document: &mut Value, group: &str) {
    if let Some(groups) = document["items"].as_array_mut() {
        groups.retain(|item| item["metadata"]["name"] == group);
    }
}

/// Sorts the lists that upstream leaves in no fixed order: the conditions of a definition, which controllers add concurrently, and those in
/// the order of a Go map: the resources of a version, and findings about an object.
pub(super) fn sort_unordered(document: &mut Value) {
    if document["kind"] == "APIGroupDiscoveryList" {
        let groups = document["items"].as_array_mut().into_iter().flatten();
        for version in groups.flat_map(|group| group["versions"].as_array_mut().into_iter().flatten()) {
            sort_by(&mut version["resources"], "resource");
        }
    }
    let (pointer, key) = match document["kind"].as_str() {
        Some("CustomResourceDefinition") => ("/status/conditions", "type"),
        Some("APIResourceList") => ("/resources", "name"),
        Some("Status") => return sort_findings(document),
        _ => return,
    };
    if let Some(items) = document.pointer_mut(pointer) {
        sort_by(items, key);
    }
}

/// Sorts the findings of a refusal, in its causes and in its message.
fn sort_findings(document: &mut Value) {
    let Some(causes) = document.pointer_mut("/details/causes").and_then(Value::as_array_mut) else { return };
    let findings = |causes: &[Value]| {
        let text = |cause: &Value, member: &str| cause[member].as_str().unwrap_or_default().to_owned();
        let mut findings = Vec::new();
        for finding in causes.iter().map(|cause| format!("{}: {}", text(cause, "field"), text(cause, "message"))) {
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        }
        format!("[{}]", findings.join(", "))
    };
    let found = findings(causes);
    causes.sort_by_key(Value::to_string);
    let sorted = findings(causes);
    if let Some(start) = document["message"].as_str().and_then(|message| message.strip_suffix(&found)) {
        document["message"] = format!("{start}{sorted}").into();
    }
}

/// Sorts items by a field. A resource's subresources, `name/of`, stay behind it in the order that they have.
fn sort_by(items: &mut Value, key: &str) {
    let items = items.as_array_mut().map(Vec::as_mut_slice).unwrap_or_default();
    items.sort_by_key(|item| item[key].as_str().and_then(|name| name.split('/').next()).map(str::to_owned));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn findings_have_no_order() {
        let refusal = |fields: &[&str], listed: &str| {
            let causes: Vec<Value> =
                fields.iter().map(|field| json!({"field": field, "message": "Required value"})).collect();
            json!({"kind": "Status", "message": format!("A is invalid: {listed}"), "details": {"causes": causes}})
        };
        let sorted = |mut document: Value| {
            sort_unordered(&mut document);
            document
        };
        let ordered = refusal(&["a", "b", "b"], "[a: Required value, b: Required value]");
        assert_eq!(sorted(refusal(&["b", "a", "b"], "[b: Required value, a: Required value]")), ordered);
        assert_eq!(sorted(ordered.clone()), ordered);
        let single = refusal(&["b"], "b: Required value");
        assert_eq!(sorted(single.clone()), single);
        let other = refusal(&["b", "a"], "[c: Required value]");
        assert_eq!(sorted(other)["message"], "A is invalid: [c: Required value]");
    }

    #[test]
    fn what_has_no_order_is_sorted() {
        let types = |types: [&str; 2]| json!(types.map(|name| json!({"type": name})));
        let names = |names: &[&str]| names.iter().map(|name| json!({"name": name})).collect::<Value>();
        for (document, sorted) in [
            (
                json!({"kind": "CustomResourceDefinition", "status": {"conditions": types(["b", "a"])}}),
                json!({"kind": "CustomResourceDefinition", "status": {"conditions": types(["a", "b"])}}),
            ),
            (
                json!({"kind": "APIResourceList", "resources": names(&["b", "b/y", "b/x", "a"])}),
                json!({"kind": "APIResourceList", "resources": names(&["a", "b", "b/y", "b/x"])}),
            ),
            (
                json!({"kind": "APIGroupDiscoveryList", "items": [{"versions": [{"resources": [{"resource": "b"}, {"resource": "a"}]}]}]}),
                json!({"kind": "APIGroupDiscoveryList", "items": [{"versions": [{"resources": [{"resource": "a"}, {"resource": "b"}]}]}]}),
            ),
            (
                json!({"kind": "A", "resources": names(&["b", "a"])}),
                json!({"kind": "A", "resources": names(&["b", "a"])}),
            ),
        ] {
            let mut changed = document;
            sort_unordered(&mut changed);
            assert_eq!(changed, sorted);
        }
    }
}
