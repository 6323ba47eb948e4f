//! `Affinity`: nodes and pods near which a pod may run.
//!
//! Follows `validateAffinity` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::label_keys::label_keys;
use crate::error::{Errors, Path};
use crate::object::name;
use crate::object::selector::validate_structured;
use crate::registry::{items, number, text};
use tree::Value;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Terms of a list in a kind of affinity.
fn terms<'a>(affinity: &'a Value, list: &str) -> impl Iterator<Item = (usize, &'a Value)> {
    affinity.get(list).and_then(Value::as_array).into_iter().flatten().enumerate()
}

/// Rules for `affinity`.
pub(super) fn affinity(at: Path<'_>, affinity: &Value, errors: &mut Errors) {
    if let Some(nodes) = affinity.get("nodeAffinity") {
        node_affinity(at.child("nodeAffinity"), nodes, errors);
    }
    for field in ["podAffinity", "podAntiAffinity"] {
        if let Some(pods) = affinity.get(field) {
            pod_affinity(at.child(field), pods, errors);
        }
    }
}

fn node_affinity(at: Path<'_>, affinity: &Value, errors: &mut Errors) {
    if let Some(selector) = affinity.get(REQUIRED) {
        node_selector(at.child(REQUIRED), selector, true, errors);
    }
    let at = at.child(PREFERRED);
    for (index, term) in terms(affinity, PREFERRED) {
        let at = at.index(index);
        weight(at, term, errors);
        node_selector_term(at.child("preference"), &term["preference"], false, errors);
    }
}

/// `ValidateNodeSelector`. Values need not be valid for labels unless it is `strict`.
pub(in crate::registry) fn node_selector(at: Path<'_>, selector: &Value, strict: bool, errors: &mut Errors) {
    let at = at.child("nodeSelectorTerms");
    let terms = items(selector, "/nodeSelectorTerms");
    if terms.is_empty() {
        errors.required(at, "must have at least one node selector term");
    }
    for (index, term) in terms.iter().enumerate() {
        node_selector_term(at.index(index), term, strict, errors);
    }
}

fn pod_affinity(at: Path<'_>, affinity: &Value, errors: &mut Errors) {
    for (index, term) in terms(affinity, REQUIRED) {
        pod_affinity_term(at.item(REQUIRED, index), term, errors);
    }
    let at = at.child(PREFERRED);
    for (index, term) in terms(affinity, PREFERRED) {
        let at = at.index(index);
        weight(at, term, errors);
        pod_affinity_term(at.child("podAffinityTerm"), &term["podAffinityTerm"], errors);
    }
}

fn weight(at: Path<'_>, term: &Value, errors: &mut Errors) {
    let weight = number(term, "/weight").unwrap_or_default();
    if !(1..=100).contains(&weight) {
        errors.invalid(at.child("weight"), weight, "must be in the range 1-100");
    }
}

/// `ValidateNodeSelectorTerm`. In preferred terms, values need not be valid for labels.
fn node_selector_term(at: Path<'_>, term: &Value, strict: bool, errors: &mut Errors) {
    for (index, requirement) in items(term, "/matchExpressions").iter().enumerate() {
        let at = at.item("matchExpressions", index);
        let values = items(requirement, "/values");
        match text(requirement, "/operator") {
            "In" | "NotIn" if values.is_empty() => {
                errors.required(at.child("values"), "must be specified when `operator` is 'In' or 'NotIn'");
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.forbidden(at.child("values"), detail);
            }
            "Gt" | "Lt" if values.len() != 1 => {
                let detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
                errors.required(at.child("values"), detail);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            other => errors.invalid(at.child("operator"), other, "not a valid selector operator"),
        }
        let key = text(requirement, "/key");
        errors.invalid_each(at.child("key"), key, name::label_key(key));
        for (index, value) in values.iter().filter_map(Value::as_str).enumerate().filter(|_| strict) {
            errors.invalid_each(at.item("values", index), value, name::label_value(value));
        }
    }
    for (index, requirement) in items(term, "/matchFields").iter().enumerate() {
        node_field_requirement(at.item("matchFields", index), requirement, errors);
    }
}

/// `ValidateNodeFieldSelectorRequirement`.
fn node_field_requirement(at: Path<'_>, requirement: &Value, errors: &mut Errors) {
    let values = items(requirement, "/values");
    match text(requirement, "/operator") {
        "In" | "NotIn" if values.len() != 1 => {
            let detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
            errors.required(at.child("values"), detail);
        }
        "In" | "NotIn" => {}
        other => errors.invalid(at.child("operator"), other, "not a valid selector operator"),
    }
    match text(requirement, "/key") {
        "metadata.name" => {
            for (index, value) in values.iter().filter_map(Value::as_str).enumerate() {
                errors.invalid_each(at.item("values", index), value, name::dns_subdomain(value));
            }
        }
        other => errors.invalid(at.child("key"), other, "not a valid field selector key"),
    }
}

fn pod_affinity_term(at: Path<'_>, term: &Value, errors: &mut Errors) {
    for field in ["labelSelector", "namespaceSelector"] {
        validate_structured(at.child(field), &term[field], errors);
    }
    for namespace in items(term, "/namespaces").iter().filter_map(Value::as_str) {
        errors.invalid_each(at.child("namespace"), namespace, name::dns_label(namespace));
    }
    label_keys(at, term, errors);
    let key = text(term, "/topologyKey");
    if key.is_empty() {
        errors.required(at.child("topologyKey"), "can not be empty");
    }
    errors.invalid_each(at.child("topologyKey"), key, name::label_key(key));
}
