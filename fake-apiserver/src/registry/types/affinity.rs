//! `Affinity`: nodes and pods near which a pod may run.
//!
//! Follows `validateAffinity` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::label_keys::label_keys;
use crate::error::Errors;
use crate::object::name;
use crate::object::selector::validate_structured;
use crate::registry::cursor::At;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Rules for `affinity`.
pub(super) fn affinity(affinity: At<'_, '_>, errors: &mut Errors) {
    node_affinity(affinity.field("nodeAffinity"), errors);
    for field in ["podAffinity", "podAntiAffinity"] {
        pod_affinity(affinity.field(field), errors);
    }
}

fn node_affinity(affinity: At<'_, '_>, errors: &mut Errors) {
    let required = affinity.field(REQUIRED);
    if required.is_set() {
        node_selector(required, true, errors);
    }
    for term in affinity.field(PREFERRED).items() {
        weight(&term, errors);
        node_selector_term(term.field("preference"), false, errors);
    }
}

/// `ValidateNodeSelector`. Values need not be valid for labels unless it is `strict`.
pub(in crate::registry) fn node_selector(selector: At<'_, '_>, strict: bool, errors: &mut Errors) {
    let terms = selector.field("nodeSelectorTerms");
    if terms.is_empty() {
        terms.required("must have at least one node selector term", errors);
    }
    terms.items().for_each(|term| node_selector_term(term, strict, errors));
}

fn pod_affinity(affinity: At<'_, '_>, errors: &mut Errors) {
    affinity.field(REQUIRED).items().for_each(|term| pod_affinity_term(term, errors));
    for term in affinity.field(PREFERRED).items() {
        weight(&term, errors);
        pod_affinity_term(term.field("podAffinityTerm"), errors);
    }
}

fn weight(term: &At<'_, '_>, errors: &mut Errors) {
    let weight = term.field("weight");
    if !(1..=100).contains(&weight.number().unwrap_or_default()) {
        weight.invalid("must be in the range 1-100", errors);
    }
}

/// `ValidateNodeSelectorTerm`. In preferred terms, values need not be valid for labels.
fn node_selector_term(term: At<'_, '_>, strict: bool, errors: &mut Errors) {
    for requirement in term.field("matchExpressions").items() {
        let (operator, values) = (requirement.field("operator"), requirement.field("values"));
        match operator.text() {
            "In" | "NotIn" if values.is_empty() => {
                values.required("must be specified when `operator` is 'In' or 'NotIn'", errors);
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'", errors);
            }
            "Gt" | "Lt" if values.len() != 1 => {
                values.required("must be specified single value when `operator` is 'Lt' or 'Gt'", errors);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            _ => operator.invalid("not a valid selector operator", errors),
        }
        requirement.field("key").follows(name::label_key, errors);
        values.items().filter(|_| strict).for_each(|value| value.follows(name::label_value, errors));
    }
    term.field("matchFields").items().for_each(|requirement| node_field_requirement(requirement, errors));
}

/// `ValidateNodeFieldSelectorRequirement`.
fn node_field_requirement(requirement: At<'_, '_>, errors: &mut Errors) {
    let (operator, key, values) =
        (requirement.field("operator"), requirement.field("key"), requirement.field("values"));
    match operator.text() {
        "In" | "NotIn" if values.len() != 1 => {
            let detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
            values.required(detail, errors);
        }
        "In" | "NotIn" => {}
        _ => operator.invalid("not a valid selector operator", errors),
    }
    match key.text() {
        "metadata.name" => values.items().for_each(|value| value.follows(name::dns_subdomain, errors)),
        _ => key.invalid("not a valid field selector key", errors),
    }
}

fn pod_affinity_term(term: At<'_, '_>, errors: &mut Errors) {
    for selector in ["labelSelector", "namespaceSelector"].map(|field| term.field(field)) {
        validate_structured(selector.path(), selector.value(), errors);
    }
    for namespace in term.field("namespaces").items() {
        // Upstream names neither the field nor the item.
        namespace.shown_at(term.path().child("namespace")).follows(name::dns_label, errors);
    }
    label_keys(term.path(), term.value(), errors);
    let key = term.field("topologyKey");
    if key.is_empty() {
        key.required("can not be empty", errors);
    }
    key.follows(name::label_key, errors);
}
