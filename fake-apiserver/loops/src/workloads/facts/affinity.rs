//! Node selectors and affinity to nodes.
//!
//! Ports `k8s.io/component-helpers/scheduling/corev1/nodeaffinity` (v0.37.1).

use super::read;
use machinery::object::meta;
use tree::Value;

/// Whether a node is one that a pod asks for.
pub(crate) fn matches(spec: &Value, node: &Value) -> bool {
    let labels = meta::labels(node);
    let selector = spec.get("nodeSelector").and_then(Value::as_object).into_iter().flatten();
    let required = spec.pointer("/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution");
    selector.into_iter().all(|(key, value)| labels.get(key) == value.as_str())
        && required.is_none_or(|required| selects(required, node))
}

/// Whether one of the terms of a node selector is about a node.
pub(crate) fn selects(selector: &Value, node: &Value) -> bool {
    read::list(selector, "/nodeSelectorTerms").iter().any(|term| {
        let (expressions, fields) = (read::list(term, "/matchExpressions"), read::list(term, "/matchFields"));
        let of_label = |expression: &Value| {
            let value = meta::labels(node).get(read::text(expression, "/key"));
            holds(expression, value)
        };
        let of_field = |expression: &Value| {
            read::text(expression, "/key") == "metadata.name" && holds(expression, Some(meta::name(node)))
        };
        !(expressions.is_empty() && fields.is_empty())
            && expressions.iter().all(of_label)
            && fields.iter().all(of_field)
    })
}

fn holds(expression: &Value, value: Option<&str>) -> bool {
    let values: Vec<&str> = read::list(expression, "/values").iter().filter_map(Value::as_str).collect();
    let numbers = || {
        let value: i64 = value?.parse().ok()?;
        let bound: i64 = values.first()?.parse().ok()?;
        Some(value.cmp(&bound))
    };
    match read::text(expression, "/operator") {
        "In" => value.is_some_and(|value| values.contains(&value)),
        "NotIn" => value.is_none_or(|value| !values.contains(&value)),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        "Gt" => numbers().is_some_and(|order| order.is_gt()),
        "Lt" => numbers().is_some_and(|order| order.is_lt()),
        _ => false,
    }
}
