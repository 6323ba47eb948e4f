//! Labels of nodes that are deprecated, wherever a selector of nodes names them.
//!
//! Follows `pkg/api/node/util.go` (v1.37.1).

use crate::error::Path;
use crate::object::name;
use crate::registry::{items, text};
use tree::Value;

/// `deprecatedNodeLabels`.
const DEPRECATED: [(&str, &str); 8] = [
    ("beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"),
    ("beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"),
    (
        "failure-domain.beta.kubernetes.io/region",
        "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead",
    ),
    ("failure-domain.beta.kubernetes.io/zone", "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"),
    ("beta.kubernetes.io/instance-type", "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"),
    ("app.kubernetes.io/created-by", "deprecated since v1.9"),
    ("scheduler.alpha.kubernetes.io/preferAvoidPods", "deprecated since v1.22; use Taints and Tolerations instead"),
    ("node-role.kubernetes.io/master", "use \"node-role.kubernetes.io/control-plane\" instead"),
];

/// Message about a deprecated label (`GetNodeLabelDeprecatedMessage`).
pub(in crate::registry) fn deprecation(label: &str) -> Option<&'static str> {
    DEPRECATED.iter().find(|(deprecated, _)| *deprecated == label).map(|(_, message)| *message)
}

/// Warnings about a term of a node selector (`GetWarningsForNodeSelectorTerm`); `values` asks for those about values, too.
pub(in crate::registry) fn node_selector_term_warnings(
    at: Path<'_>,
    term: &Value,
    values: bool,
    warnings: &mut Vec<String>,
) {
    for (index, requirement) in items(term, "/matchExpressions").iter().enumerate() {
        let at = at.item("matchExpressions", index);
        let key = text(requirement, "/key");
        warnings.extend(deprecation(key).map(|message| format!("{}: {key} is {message}", at.child("key"))));
        for (index, value) in items(requirement, "/values").iter().filter_map(Value::as_str).enumerate() {
            let objections = if values { name::label_value(value) } else { Vec::new() };
            let at = at.item("values", index);
            warnings.extend(objections.iter().map(|objection| format!("{at}: {value} is invalid, {objection}")));
        }
    }
}
