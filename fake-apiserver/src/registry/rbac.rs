//! Roles and bindings: well-formed rules and subjects, and a roleRef that never changes.
//!
//! Follows `pkg/apis/rbac/validation`, `pkg/apis/rbac/v1/defaults.go` and `pkg/registry/rbac/*/strategy.go` (v1.37.1).
//! `api/escalation.rs` prevents users from granting permissions that they lack.

use super::cursor::At;
use super::role_bindings::{self, GROUP};
use super::rules::{Cell, Grants, NameRule, Rules, Strategy};
use super::{default_to, items, roles, text};
use crate::error::Errors;
use crate::object::name;
use crate::object::selector::validate_structured;
use tree::Value;

/// The common rules of all four kinds.
const ORDINARY: Rules = Rules { name_rule: NameRule::PathSegment, create_on_update: true, ..Rules::ORDINARY };

pub(super) const ROLE: Rules = Rules {
    grants: Some(Grants::Rules),
    digest: Some(roles::digest),
    strategy: Strategy { validate: |_, new, _, errors| role(at(new, "Role"), true, errors), ..Strategy::NONE },
    ..ORDINARY
};

pub(super) const CLUSTER_ROLE: Rules = Rules {
    grants: Some(Grants::Rules),
    digest: Some(roles::digest),
    strategy: Strategy {
        validate: |_, new, _, errors| {
            let new = at(new, "ClusterRole");
            role(new, false, errors);
            aggregation(new, errors);
        },
        ..Strategy::NONE
    },
    ..ORDINARY
};

pub(super) const ROLE_BINDING: Rules = Rules {
    grants: Some(Grants::Role),
    digest: Some(role_bindings::digest),
    cells: BINDING_CELLS,
    strategy: Strategy {
        default: default_binding,
        validate: |_, new, old, errors| {
            let at = |object| at(object, "RoleBinding");
            binding(at(new), old.map(at), true, errors);
        },
        ..Strategy::NONE
    },
    ..ORDINARY
};

pub(super) const CLUSTER_ROLE_BINDING: Rules = Rules {
    grants: Some(Grants::Role),
    digest: Some(role_bindings::digest),
    cells: BINDING_CELLS,
    strategy: Strategy {
        default: default_binding,
        validate: |_, new, old, errors| {
            let at = |object| at(object, "ClusterRoleBinding");
            binding(at(new), old.map(at), false, errors);
        },
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

/// The cursor of an object of that kind.
fn at<'v>(object: &'v Value, kind: &str) -> At<'static, 'v> {
    At::object(object, "rbac.authorization.k8s.io/v1", kind)
}

/// `ValidateRole` and `ValidateClusterRole`.
fn role(role: At<'_, '_>, namespaced: bool, errors: &mut Errors) {
    for rule in role.field("rules").items() {
        policy_rule(rule, namespaced, errors);
    }
}

/// `ValidatePolicyRule`.
fn policy_rule(rule: At<'_, '_>, namespaced: bool, errors: &mut Errors) {
    let urls = rule.field("nonResourceURLs");
    let (groups, resources) = (rule.field("apiGroups"), rule.field("resources"));
    if !urls.is_empty() {
        if namespaced {
            urls.invalid("namespaced rules cannot apply to non-resource URLs", errors);
        }
        if !(groups.is_empty() && resources.is_empty() && rule.field("resourceNames").is_empty()) {
            urls.invalid("rules cannot apply to both regular resources and non-resource URLs", errors);
        }
        return;
    }
    if groups.is_empty() {
        groups.required("resource rules must supply at least one api group", errors);
    }
    if resources.is_empty() {
        resources.required("resource rules must supply at least one resource", errors);
    }
}

/// Rules for the selectors of roles whose rules are gathered.
fn aggregation(role: At<'_, '_>, errors: &mut Errors) {
    let selectors = role.field("aggregationRule.clusterRoleSelectors");
    if !role.field("aggregationRule").is_set() {
        return;
    }
    if selectors.is_empty() {
        selectors.required("at least one clusterRoleSelector required if aggregationRule is non-nil", errors);
    }
    for selector in selectors.items() {
        let before = errors.len();
        validate_structured(selector.path(), selector.value(), errors);
        if errors.len() > before {
            selector.invalid_value(Value::Null, "invalid label selector.", errors);
        }
    }
}

/// `ValidateRoleBinding`, `ValidateClusterRoleBinding`, and the same for updates.
fn binding(binding: At<'_, '_>, old: Option<At<'_, '_>>, namespaced: bool, errors: &mut Errors) {
    let role = binding.field("roleRef");
    role.field("apiGroup").supported(&[GROUP], errors);
    let kinds: &[&str] = if namespaced { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
    role.field("kind").supported(kinds, errors);
    let name = role.field("name");
    match name.text() {
        // The declared check ends where the reference has changed.
        "" => errors.covered("", |errors| name.required("", errors)),
        _ => name.follows(name::path_segment, errors),
    }
    for subject in binding.field("subjects").items() {
        role_binding_subject(subject, namespaced, errors);
    }
    if let Some(old) = old {
        errors.covered("immutable", |errors| role.immutable(&old.field("roleRef"), errors));
    }
}

/// `ValidateRoleBindingSubject`.
fn role_binding_subject(subject: At<'_, '_>, namespaced: bool, errors: &mut Errors) {
    let (kind, group, name) = (subject.field("kind"), subject.field("apiGroup"), subject.field("name"));
    match kind.text() {
        "ServiceAccount" => {
            name.optional(name::dns_subdomain, errors);
            group.supported(&[""], errors);
            if !namespaced {
                subject.field("namespace").set(errors);
            }
        }
        "User" | "Group" => group.supported(&[GROUP], errors),
        _ => kind.unsupported(&["ServiceAccount", "User", "Group"], errors),
    }
}
