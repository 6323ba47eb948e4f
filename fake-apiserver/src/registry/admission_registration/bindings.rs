//! Validation of the bindings of policies.
//!
//! Follows `pkg/apis/admissionregistration/validation/validation.go` (v1.37.1).

use super::rules::{match_resources, mutating_operations};
use crate::error::Errors;
use crate::object::name;
use crate::object::selector::validate_structured;
use crate::registry::cursor::At;
use std::collections::HashSet;
use tree::Value;

/// `validateValidatingAdmissionPolicyBindingSpec`.
pub(super) fn validating(binding: &Value, errors: &mut Errors) {
    let object = At::object(binding, "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding");
    let spec = object.field("spec");
    let policy = spec.field("policyName");
    match policy.is_empty() {
        true => errors.covered("", |errors| policy.required("", errors)),
        false => policy.follows(name::dns_subdomain, errors),
    }
    parameters(spec.field("paramRef"), errors);
    let resources = spec.field("matchResources");
    if resources.is_set() {
        match_resources(resources, errors);
    }
    actions(spec.field("validationActions"), errors);
}

/// `validateMutatingAdmissionPolicyBindingSpec`.
pub(super) fn mutating(binding: &Value, errors: &mut Errors) {
    let object = At::object(binding, "admissionregistration.k8s.io/v1", "MutatingAdmissionPolicyBinding");
    let spec = object.field("spec");
    spec.field("policyName").required_by(name::dns_subdomain, errors);
    parameters(spec.field("paramRef"), errors);
    let resources = spec.field("matchResources");
    if resources.is_set() {
        match_resources(resources, errors);
        mutating_operations(resources, errors);
    }
}

/// `validateParamRef`.
fn parameters(reference: At<'_, '_>, errors: &mut Errors) {
    if !reference.is_set() {
        return;
    }
    let (name, selector) = (reference.field("name"), reference.field("selector"));
    let has_both = !name.is_empty() && selector.is_set();
    const EXCLUSIVE: &str = "name and selector are mutually exclusive";
    name.optional(name::path_segment, errors);
    if has_both {
        name.forbidden(EXCLUSIVE, errors);
    }
    validate_structured(selector.path(), selector.value(), errors);
    if has_both {
        selector.forbidden(EXCLUSIVE, errors);
    }
    if name.is_empty() && !selector.is_set() {
        reference.required("one of name or selector must be specified", errors);
    }
    let action = reference.field("parameterNotFoundAction");
    match action.text() {
        "" => action.required("", errors),
        "Deny" | "Allow" => {}
        _ => action.unsupported(&["Deny", "Allow"], errors),
    }
}

/// `validateValidationActions`.
fn actions(actions: At<'_, '_>, errors: &mut Errors) {
    let mut seen = HashSet::new();
    for action in actions.items() {
        action.supported(&["Audit", "Deny", "Warn"], errors);
        if !seen.insert(action.text()) {
            action.duplicate(errors);
        }
    }
    if seen.contains("Deny") && seen.contains("Warn") {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure information in the API \
            response and headers serves no purpose)";
        actions.invalid(detail, errors);
    }
    if seen.is_empty() {
        errors.covered("", |errors| actions.required("at least one validation action is required", errors));
    }
}
