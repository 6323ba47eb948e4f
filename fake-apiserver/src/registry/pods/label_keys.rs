//! Label keys in the affinity and the spread of a new pod, which become requirements with the pod's own values.
//!
//! Follows `mutatePodAffinity` and `mutateTopologySpreadConstraints` of `pkg/registry/core/pod/strategy.go` (v1.37.1).

use crate::registry::defaults::visit;
use tree::{Value, json};

/// The fields with label keys, and the operators of their requirements.
const OPERATORS: [(&str, &str); 2] = [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")];
/// The places of terms with such fields, in a pod's spec.
const TERMS: [&str; 3] = [
    "affinity/podAffinity|podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/*/podAffinityTerm",
    "affinity/podAffinity|podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/*",
    "topologySpreadConstraints/*",
];

/// Adds the requirements to the label selectors of the terms. A term without a selector selects nothing, and stays so.
pub(super) fn merge(pod: &mut Value) {
    let labels = pod["metadata"]["labels"].clone();
    for place in TERMS {
        visit(&mut pod["spec"], place, &mut |term| require(term, &labels));
    }
}

fn require(term: &mut Value, labels: &Value) {
    let mut added = Vec::new();
    for (field, operator) in OPERATORS {
        let keys = term[field].as_array().into_iter().flatten().filter_map(Value::as_str);
        let values = keys.filter_map(|key| Some((key, labels.get(key)?.as_str()?)));
        added.extend(values.map(|(key, value)| json!({ "key": key, "operator": operator, "values": [value] })));
    }
    if added.is_empty() || !term["labelSelector"].is_object() {
        return;
    }
    let requirements = &mut term["labelSelector"]["matchExpressions"];
    match requirements.as_array_mut() {
        Some(requirements) => requirements.extend(added),
        None => *requirements = added.into(),
    }
}
