//! Rules that say which requests are matched: by operation, group, version, resource and name, by selectors, and by conditions in
//! CEL.
//!
//! Follows `pkg/apis/admissionregistration/validation/validation.go` (v1.37.1).

use super::checks::{Checks, Given};
use super::expressions::Names;
use crate::error::{Errors, FieldError};
use crate::object::name;
use crate::object::selector::validate_structured;
use crate::registry::cursor::At;
use kubernetes_cel::Type;
use std::collections::HashSet;

pub(super) const FAILURE_POLICIES: &[&str] = &["Fail", "Ignore"];
pub(super) const MATCH_POLICIES: &[&str] = &["Equivalent", "Exact"];
const OPERATIONS: &[&str] = &["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
/// The operations whose objects can be changed.
const MUTATING_OPERATIONS: &[&str] = &["*", "CONNECT", "CREATE", "UPDATE"];
const SCOPES: &[&str] = &["*", "Cluster", "Namespaced"];
const MAX_CONDITIONS: usize = 64;

/// Checks that an enumeration, if it is set, has one of its values.
pub(super) fn supported_if_set(at: At<'_, '_>, supported: &[&str], errors: &mut Errors) {
    if at.is_set() {
        at.supported(supported, errors);
    }
}

/// Checks that an enumeration is set, and to one of its values. An empty text is set.
pub(super) fn set_and_supported(at: At<'_, '_>, supported: &[&str], errors: &mut Errors) {
    match at.is_set() {
        true => at.supported(supported, errors),
        false => at.required("", errors),
    }
}

/// `validateRuleWithOperations`.
pub(super) fn rule_with_operations(rule: At<'_, '_>, errors: &mut Errors) {
    let operations = rule.field("operations");
    some_or_all(operations, "operations", errors);
    for operation in operations.items() {
        operation.supported(OPERATIONS, errors);
    }
    let (groups, versions) = (rule.field("apiGroups"), rule.field("apiVersions"));
    some_or_all(groups, "API groups", errors);
    some_or_all(versions, "API versions", errors);
    for version in versions.items() {
        version.set(errors);
    }
    resources(rule.field("resources"), errors);
    supported_if_set(rule.field("scope"), SCOPES, errors);
}

/// There must be something in a list, and nothing beside the wildcard.
fn some_or_all(list: At<'_, '_>, noun: &str, errors: &mut Errors) {
    list.set(errors);
    if list.len() > 1 && list.items().any(|item| item.text() == "*") {
        list.invalid(format!("if '*' is present, must not specify other {noun}"), errors);
    }
}

/// `validateResources`: resources with or without subresources.
fn resources(list: At<'_, '_>, errors: &mut Errors) {
    list.set(errors);
    let (mut with_all_subresources, mut subresources_of_all) = (HashSet::new(), HashSet::new());
    let mut is_last_plain = false;
    for item in list.items() {
        if item.is_empty() {
            item.required("", errors);
            continue;
        }
        let Some((resource, subresource)) = item.text().split_once('/') else {
            is_last_plain = item.text() != "*";
            continue;
        };
        if with_all_subresources.contains(resource) {
            item.invalid(format!("if '{resource}/*' is present, must not specify {}", item.text()), errors);
        }
        if subresources_of_all.contains(subresource) {
            item.invalid(format!("if '*/{subresource}' is present, must not specify {}", item.text()), errors);
        }
        if subresource == "*" {
            with_all_subresources.insert(resource);
        }
        if resource == "*" {
            subresources_of_all.insert(subresource);
        }
    }
    let has = |wildcard| list.items().any(|item| item.text() == wildcard);
    if list.len() > 1 && has("*/*") {
        list.invalid("if '*/*' is present, must not specify other resources", errors);
    }
    if has("*") && is_last_plain {
        list.invalid("if '*' is present, must not specify other resources without subresources", errors);
    }
}

/// `validateMatchResources`.
pub(super) fn match_resources(constraints: At<'_, '_>, errors: &mut Errors) {
    set_and_supported(constraints.field("matchPolicy"), MATCH_POLICIES, errors);
    for selector in ["namespaceSelector", "objectSelector"] {
        let selector = constraints.field(selector);
        match selector.is_set() {
            true => validate_structured(selector.path(), selector.value(), errors),
            false => selector.required("", errors),
        }
    }
    for rules in ["resourceRules", "excludeResourceRules"] {
        for rule in constraints.field(rules).items() {
            named_rule(rule, errors);
        }
    }
}

/// `validateNamedRuleWithOperations`.
fn named_rule(rule: At<'_, '_>, errors: &mut Errors) {
    let mut seen = HashSet::new();
    for name in rule.field("resourceNames").items() {
        name.follows(name::path_segment, errors);
        if !seen.insert(name.text()) {
            name.duplicate(errors);
        }
    }
    rule_with_operations(rule, errors);
}

/// Checks that the rules of a policy that changes objects match no deletions.
pub(super) fn mutating_operations(constraints: At<'_, '_>, errors: &mut Errors) {
    let shown = constraints.path();
    for rule in constraints.field("resourceRules").items() {
        for operation in rule.field("operations").items() {
            operation.shown_at(shown.child("resourceRules.operations")).supported(MUTATING_OPERATIONS, errors);
        }
    }
}

/// `validateMatchConditions`; `stored` are the expressions that the object had before.
pub(super) fn match_conditions(
    conditions: At<'_, '_>,
    checks: &mut Checks<'_>,
    params: bool,
    stored: &HashSet<&str>,
    errors: &mut Errors,
) {
    if conditions.len() > MAX_CONDITIONS {
        errors.push(FieldError::too_many(conditions.path(), conditions.len(), MAX_CONDITIONS));
    }
    let mut names = HashSet::new();
    for condition in conditions.items() {
        let (expression, name) = (condition.field("expression"), condition.field("name"));
        match expression.text().trim() {
            "" => expression.required("", errors),
            text => {
                let names = Names { params, authorizer: true, ..Names::default() };
                let is_stored = stored.contains(text);
                let given = Given { text, shown: text, names, expected: &[Type::Bool], is_stored };
                checks.check(&expression, given, errors);
            }
        }
        name.required_by(name::label_key, errors);
        if !name.is_empty() && !names.insert(name.text()) {
            name.duplicate(errors);
        }
    }
}
