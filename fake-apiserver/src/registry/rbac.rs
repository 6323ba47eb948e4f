//! Roles and bindings: well-formed rules and subjects, and a roleRef that never changes.
//!
//! Follows `pkg/apis/rbac/validation`, `pkg/apis/rbac/v1/defaults.go` and `pkg/registry/rbac/*/strategy.go` (v1.37.1). Findings
//! of declarative validation, generated from markers there, come last and are shorter. `api/escalation.rs` prevents users from
//! granting permissions that they lack.

use super::rules::{Cell, NameRule, Rules, Strategy};
use super::{default_to, items, text};
use crate::error::{Errors, FieldError, Path};
use crate::object::name;
use crate::object::selector::validate_structured;
use crate::object::validate::{IMMUTABLE, invalid_each};
use tree::Value;

/// The API group, which is also that of roles, users and groups in references.
pub const GROUP: &str = "rbac.authorization.k8s.io";

/// The common rules of all four kinds.
const ORDINARY: Rules = Rules { name_rule: NameRule::PathSegment, create_on_update: true, ..Rules::ORDINARY };

pub(super) const ROLE: Rules =
    Rules { strategy: Strategy { validate: role, validate_update: |new, _| role(new), ..Strategy::NONE }, ..ORDINARY };

pub(super) const CLUSTER_ROLE: Rules = Rules {
    strategy: Strategy { validate: cluster_role, validate_update: |new, _| cluster_role(new), ..Strategy::NONE },
    ..ORDINARY
};

pub(super) const ROLE_BINDING: Rules = Rules {
    cells: BINDING_CELLS,
    strategy: Strategy {
        default: default_binding,
        validate: |binding| binding_errors(binding, true),
        validate_update: |new, old| binding_update_errors(new, old, true),
        ..Strategy::NONE
    },
    ..ORDINARY
};

pub(super) const CLUSTER_ROLE_BINDING: Rules = Rules {
    cells: BINDING_CELLS,
    strategy: Strategy {
        default: default_binding,
        validate: |binding| binding_errors(binding, false),
        validate_update: |new, old| binding_update_errors(new, old, false),
        ..Strategy::NONE
    },
    ..ORDINARY
};

/// The cells of both bindings.
const BINDING_CELLS: &[(&str, Cell)] = &[
    ("Role", |binding, _| role_ref(binding).into()),
    ("Users", |binding, _| subjects(binding, "User")),
    ("Groups", |binding, _| subjects(binding, "Group")),
    ("ServiceAccounts", |binding, _| subjects(binding, "ServiceAccount")),
];

/// The subjects of one kind, as `SubjectsStrings` has them.
fn subjects(binding: &Value, kind: &str) -> Value {
    let wanted = items(binding, "/subjects").iter().filter(|subject| text(subject, "/kind") == kind);
    let printed = wanted.map(|subject| match kind {
        "ServiceAccount" => format!("{}/{}", text(subject, "/namespace"), text(subject, "/name")),
        _ => text(subject, "/name").to_string(),
    });
    printed.collect::<Vec<_>>().join(", ").into()
}

fn role_ref(binding: &Value) -> String {
    format!("{}/{}", text(binding, "/roleRef/kind"), text(binding, "/roleRef/name"))
}

/// `SetDefaults_RoleBinding` and `SetDefaults_Subject`.
fn default_binding(binding: &mut Value) {
    if !binding["roleRef"].is_object() {
        binding["roleRef"] = Value::Object(tree::Map::new());
    }
    default_to(&mut binding["roleRef"], "apiGroup", GROUP);
    for subject in binding.get_mut("subjects").and_then(Value::as_array_mut).into_iter().flatten() {
        if matches!(text(subject, "/kind"), "User" | "Group") {
            default_to(subject, "apiGroup", GROUP);
        }
    }
}

/// `ValidateRole`.
fn role(role: &Value) -> Vec<FieldError> {
    rules(role, true).chain(without_verbs(role)).collect()
}

/// `ValidateClusterRole`.
fn cluster_role(role: &Value) -> Vec<FieldError> {
    rules(role, false).chain(aggregation(role)).chain(without_verbs(role)).collect()
}

/// `ValidatePolicyRule` for each rule, but for declarative validation.
fn rules(role: &Value, namespaced: bool) -> impl Iterator<Item = FieldError> {
    items(role, "/rules").iter().enumerate().flat_map(move |(index, rule)| rule_errors(index, rule, namespaced))
}

/// Findings of declarative validation: verbs are required.
fn without_verbs(role: &Value) -> impl Iterator<Item = FieldError> {
    let without = items(role, "/rules").iter().enumerate().filter(|(_, rule)| items(rule, "/verbs").is_empty());
    without.map(|(index, _)| FieldError::required(format!("rules[{index}].verbs"), ""))
}

fn rule_errors(index: usize, rule: &Value, namespaced: bool) -> Vec<FieldError> {
    let path = |field: &str| format!("rules[{index}].{field}");
    let empty = |field: &str| items(rule, &format!("/{field}")).is_empty();
    let mut errors = Vec::new();
    if !empty("nonResourceURLs") {
        let mut refuse =
            |detail| errors.push(FieldError::invalid(path("nonResourceURLs"), &rule["nonResourceURLs"], detail));
        if namespaced {
            refuse("namespaced rules cannot apply to non-resource URLs");
        }
        if !["apiGroups", "resources", "resourceNames"].into_iter().all(empty) {
            refuse("rules cannot apply to both regular resources and non-resource URLs");
        }
        return errors;
    }
    for (field, what) in [("apiGroups", "api group"), ("resources", "resource")] {
        if empty(field) {
            errors.push(FieldError::required(path(field), format!("resource rules must supply at least one {what}")));
        }
    }
    errors
}

/// Findings about the selectors of roles whose rules are gathered.
fn aggregation(role: &Value) -> Vec<FieldError> {
    if role.get("aggregationRule").is_none_or(Value::is_null) {
        return Vec::new();
    }
    let at = Path::new("aggregationRule.clusterRoleSelectors");
    Errors::of(|errors| {
        let selectors = items(role, "/aggregationRule/clusterRoleSelectors");
        if selectors.is_empty() {
            errors.required(at, "at least one clusterRoleSelector required if aggregationRule is non-nil");
        }
        for (index, selector) in selectors.iter().enumerate() {
            let before = errors.len();
            validate_structured(at.index(index), selector, errors);
            if errors.len() > before {
                errors.invalid(at.index(index), Value::Null, "invalid label selector.");
            }
        }
    })
}

/// Findings about the roleRef by itself, but for declarative validation.
fn role_ref_errors(binding: &Value, namespaced: bool) -> Vec<FieldError> {
    let role = |field: &str| binding["roleRef"].get(field).cloned().unwrap_or_else(|| "".into());
    let mut errors = Vec::new();
    if role("apiGroup") != GROUP {
        errors.push(FieldError::unsupported("roleRef.apiGroup", &role("apiGroup"), &[GROUP]));
    }
    let kinds: &[&str] = if namespaced { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
    if !kinds.iter().any(|kind| role("kind") == *kind) {
        errors.push(FieldError::unsupported("roleRef.kind", &role("kind"), kinds));
    }
    let name = role("name");
    let name = name.as_str().unwrap_or_default();
    errors.extend(invalid_each("roleRef.name", name, name::path_segment(name)));
    errors
}

fn subjects_errors(binding: &Value, namespaced: bool) -> impl Iterator<Item = FieldError> {
    let subjects = items(binding, "/subjects").iter().enumerate();
    subjects.flat_map(move |(index, subject)| subject_errors(index, subject, namespaced))
}

/// `ValidateRoleBindingSubject`.
fn subject_errors(index: usize, subject: &Value, namespaced: bool) -> Vec<FieldError> {
    let path = |field: &str| format!("subjects[{index}].{field}");
    let (kind, group, name) = (text(subject, "/kind"), text(subject, "/apiGroup"), text(subject, "/name"));
    let mut errors = Vec::new();
    match kind {
        "ServiceAccount" => {
            if !name.is_empty() {
                errors.extend(invalid_each(&path("name"), name, name::dns_subdomain(name)));
            }
            if !group.is_empty() {
                errors.push(FieldError::unsupported(path("apiGroup"), &group.into(), &[""]));
            }
            if !namespaced && text(subject, "/namespace").is_empty() {
                errors.push(FieldError::required(path("namespace"), ""));
            }
        }
        "User" | "Group" => {
            if group != GROUP {
                errors.push(FieldError::unsupported(path("apiGroup"), &group.into(), &[GROUP]));
            }
        }
        _ => errors.push(FieldError::unsupported(path("kind"), &kind.into(), &["ServiceAccount", "User", "Group"])),
    }
    errors
}

/// Findings of declarative validation: names of subjects are required.
fn nameless_subjects(binding: &Value) -> impl Iterator<Item = FieldError> {
    let nameless = items(binding, "/subjects").iter().enumerate().filter(|(_, one)| text(one, "/name").is_empty());
    nameless.map(|(index, _)| FieldError::required(format!("subjects[{index}].name"), ""))
}

fn nameless_role(binding: &Value) -> Option<FieldError> {
    text(binding, "/roleRef/name").is_empty().then(|| FieldError::required("roleRef.name", ""))
}

/// `ValidateRoleBinding` and `ValidateClusterRoleBinding`.
fn binding_errors(object: &Value, namespaced: bool) -> Vec<FieldError> {
    let mut errors = role_ref_errors(object, namespaced);
    errors.extend(subjects_errors(object, namespaced));
    errors.extend(nameless_subjects(object));
    errors.extend(nameless_role(object));
    errors
}

/// `ValidateRoleBindingUpdate` and `ValidateClusterRoleBindingUpdate`; declarative validation does not look into a changed roleRef.
fn binding_update_errors(new: &Value, old: &Value, namespaced: bool) -> Vec<FieldError> {
    let mut errors = role_ref_errors(new, namespaced);
    errors.extend(nameless_role(new));
    errors.extend(subjects_errors(new, namespaced));
    if new["roleRef"] != old["roleRef"] {
        let role = |field: &str| Value::from(text(&new["roleRef"], field));
        let (group, kind, name) = (role("/apiGroup"), role("/kind"), role("/name"));
        let printed = format!("{{\"APIGroup\":{group},\"Kind\":{kind},\"Name\":{name}}}");
        errors.push(FieldError::invalid_printed("roleRef", printed, IMMUTABLE));
    }
    errors.extend(nameless_subjects(new));
    errors
}
