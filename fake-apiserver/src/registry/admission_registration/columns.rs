//! The cells of policies and their bindings.
//!
//! Follows `pkg/printers/internalversion/printers.go` (v1.37.1).

use crate::registry::rules::Cell;
use crate::registry::{items, text};
use tree::Value;

pub(super) const PARAM_KIND: (&str, Cell) = ("ParamKind", |policy, _| match policy["spec"].get("paramKind") {
    None => "<unset>".into(),
    Some(kind) => format!("{}/{}", text(kind, "/apiVersion"), text(kind, "/kind")).into(),
});

/// The parameters of a binding: a name, in a namespace or any, or a selector.
pub(super) fn param_ref(binding: &Value) -> String {
    let Some(parameters) = binding["spec"].get("paramRef") else { return "<unset>".into() };
    match (text(parameters, "/namespace"), text(parameters, "/name"), parameters.get("selector")) {
        (_, "", Some(selector)) => go_selector(selector),
        (_, "", None) => "<unset>".into(),
        ("", name, _) => format!("*/{name}"),
        (namespace, name, _) => format!("{namespace}/{name}"),
    }
}

/// A selector as Go prints the struct (`LabelSelector.String`).
fn go_selector(selector: &Value) -> String {
    let labels = selector["matchLabels"].as_object().into_iter().flatten();
    let labels: String = labels.map(|(key, value)| format!("{key}: {},", value.as_str().unwrap_or_default())).collect();
    let requirement = |requirement: &Value| {
        let values: Vec<&str> = items(requirement, "/values").iter().filter_map(Value::as_str).collect();
        format!(
            "LabelSelectorRequirement{{Key:{},Operator:{},Values:[{}],}},",
            text(requirement, "/key"),
            text(requirement, "/operator"),
            values.join(" ")
        )
    };
    let expressions: String = items(selector, "/matchExpressions").iter().map(requirement).collect();
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{labels}}},MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )
}
