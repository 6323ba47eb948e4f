//! Where a pod may run: affinity to nodes and to other pods, and how pods are spread.
//!
//! Follows `validateAffinity` and `validateTopologySpreadConstraints` of `pkg/apis/core/validation/validation.go` (v1.37.1).
//! Not ported: selectors of pods and of fields, and keys of labels to match.

use super::validate::{Findings, one_of};
use crate::error::FieldError;
use crate::object::name;
use crate::object::validate::objections;
use crate::registry::{items, text};
use serde_json::Value;

/// `spec.affinity`.
pub(super) fn affinity(errors: &mut Findings, spec: &Value) {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
    let Some(affinity) = spec.get("affinity") else { return };
    if let Some(nodes) = affinity.get("nodeAffinity") {
        let path = "spec.affinity.nodeAffinity";
        if let Some(selector) = nodes.get(REQUIRED) {
            let path = format!("{path}.{REQUIRED}.nodeSelectorTerms");
            let terms = items(selector, "/nodeSelectorTerms");
            if terms.is_empty() {
                errors.push(FieldError::required(path.as_str(), "must have at least one node selector term"));
            }
            for (index, term) in terms.iter().enumerate() {
                node_selector_term(errors, &format!("{path}[{index}]"), term, true);
            }
        }
        for (index, term) in items(nodes, &format!("/{PREFERRED}")).iter().enumerate() {
            let path = format!("{path}.{PREFERRED}[{index}]");
            weight(errors, &path, term);
            node_selector_term(errors, &format!("{path}.preference"), &term["preference"], false);
        }
    }
    for field in ["podAffinity", "podAntiAffinity"] {
        let Some(pods) = affinity.get(field) else { continue };
        let path = format!("spec.affinity.{field}");
        for (index, term) in items(pods, &format!("/{REQUIRED}")).iter().enumerate() {
            pod_affinity_term(errors, &format!("{path}.{REQUIRED}[{index}]"), term);
        }
        for (index, term) in items(pods, &format!("/{PREFERRED}")).iter().enumerate() {
            let path = format!("{path}.{PREFERRED}[{index}]");
            weight(errors, &path, term);
            pod_affinity_term(errors, &format!("{path}.podAffinityTerm"), &term["podAffinityTerm"]);
        }
    }
}

fn weight(errors: &mut Findings, path: &str, term: &Value) {
    let weight = term.get("weight").and_then(Value::as_i64).unwrap_or_default();
    if !(1..=100).contains(&weight) {
        errors.push(FieldError::invalid(format!("{path}.weight"), &weight.into(), "must be in the range 1-100"));
    }
}

/// `ValidateNodeSelectorTerm`. What is only preferred may have values that no label has.
fn node_selector_term(errors: &mut Findings, path: &str, term: &Value, strict: bool) {
    for (index, requirement) in items(term, "/matchExpressions").iter().enumerate() {
        let path = format!("{path}.matchExpressions[{index}]");
        let values = items(requirement, "/values");
        let at = format!("{path}.values");
        match text(requirement, "/operator") {
            "In" | "NotIn" if values.is_empty() => {
                errors.push(FieldError::required(at.as_str(), "must be specified when `operator` is 'In' or 'NotIn'"));
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.push(FieldError::forbidden(at.as_str(), detail));
            }
            "Gt" | "Lt" if values.len() != 1 => {
                let detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
                errors.push(FieldError::required(at.as_str(), detail));
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            other => {
                let detail = "not a valid selector operator";
                errors.push(FieldError::invalid(format!("{path}.operator"), &other.into(), detail));
            }
        }
        let key = text(requirement, "/key");
        errors.extend(objections(&format!("{path}.key"), key, name::label_key(key)));
        for (index, value) in values.iter().filter_map(Value::as_str).enumerate().filter(|_| strict) {
            errors.extend(objections(&format!("{at}[{index}]"), value, name::label_value(value)));
        }
    }
}

fn pod_affinity_term(errors: &mut Findings, path: &str, term: &Value) {
    for namespace in items(term, "/namespaces").iter().filter_map(Value::as_str) {
        errors.extend(objections(&format!("{path}.namespace"), namespace, name::dns_label(namespace)));
    }
    let key = text(term, "/topologyKey");
    let path = format!("{path}.topologyKey");
    if key.is_empty() {
        errors.push(FieldError::required(path.as_str(), "can not be empty"));
    }
    errors.extend(objections(&path, key, name::label_key(key)));
}

/// `spec.topologySpreadConstraints`.
pub(super) fn topology_spread(errors: &mut Findings, spec: &Value) {
    let all = items(spec, "/topologySpreadConstraints");
    for (index, constraint) in all.iter().enumerate() {
        let path = format!("spec.topologySpreadConstraints[{index}]");
        let positive = |field: &str, value: i64| {
            (value <= 0)
                .then(|| FieldError::invalid(format!("{path}.{field}"), &value.into(), "must be greater than zero"))
        };
        let number = |field: &str| constraint.get(field).and_then(Value::as_i64);
        let (key, action) = (text(constraint, "/topologyKey"), text(constraint, "/whenUnsatisfiable"));
        errors.extend(positive("maxSkew", number("maxSkew").unwrap_or_default()));
        match key {
            "" => errors.push(FieldError::required(format!("{path}.topologyKey"), "can not be empty")),
            _ => errors.extend(objections(&format!("{path}.topologyKey"), key, name::label_key(key))),
        }
        let actions = ["DoNotSchedule", "ScheduleAnyway"];
        if !actions.contains(&action) {
            let path = format!("{path}.whenUnsatisfiable");
            errors.push(FieldError::unsupported(path, &action.into(), &actions));
        }
        let same = |other: &Value| text(other, "/topologyKey") == key && text(other, "/whenUnsatisfiable") == action;
        if all[index + 1..].iter().any(same) {
            let path = format!("{path}.{{topologyKey, whenUnsatisfiable}}");
            errors.push(FieldError::duplicate(path, &format!("{{{key}, {action}}}").into()));
        }
        if let Some(domains) = number("minDomains") {
            errors.extend(positive("minDomains", domains));
            if action != "DoNotSchedule" {
                let detail = format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
                errors.push(FieldError::invalid(format!("{path}.minDomains"), &domains.into(), detail));
            }
        }
        for field in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            if let Some(policy) = constraint.get(field).and_then(Value::as_str) {
                one_of(errors, format!("{path}.{field}"), policy, &["Honor", "Ignore"]);
            }
        }
    }
}
