//! Validation of flow schemas.
//!
//! Follows `pkg/apis/flowcontrol/validation/validation.go`, and `pkg/apis/flowcontrol/bootstrap/default.go` of `k8s.io/apiserver`
//! (v1.37.1).

use crate::error::Errors;
use crate::object::{meta, name};
use crate::registry::context::Context;
use crate::registry::cursor::At;
use std::collections::HashSet;
use tree::{Value, json};

/// `FlowSchemaMaxMatchingPrecedence`.
const MAX_PRECEDENCE: i64 = 10_000;
const VERBS: &[&str] = &["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];
/// The kinds of subjects, each with its field.
const SUBJECTS: [(&str, &str); 3] = [("ServiceAccount", "serviceAccount"), ("User", "user"), ("Group", "group")];

/// `ValidateFlowSchema`, without the metadata.
pub(super) fn validate(_: &Context<'_>, schema: &Value, _: Option<&Value>, errors: &mut Errors) {
    let object = At::object(schema, "flowcontrol.apiserver.k8s.io/v1", "FlowSchema");
    let spec = object.field("spec");
    let precedence = spec.field("matchingPrecedence");
    let number = precedence.number().unwrap_or_default();
    if number <= 0 {
        precedence.invalid("must be a positive value", errors);
    }
    if number > MAX_PRECEDENCE {
        precedence.invalid(format!("must not be greater than {MAX_PRECEDENCE}"), errors);
    }
    if number == 1 && meta::name(schema) != "exempt" {
        precedence.invalid("only the schema named 'exempt' may have matchingPrecedence 1", errors);
    }
    let method = spec.field("distinguisherMethod");
    let type_ = method.field("type");
    if method.is_set() && !["ByNamespace", "ByUser"].contains(&type_.text()) {
        // Upstream shows the method in place of its type.
        method.shown_at(type_.path()).unsupported(&["ByNamespace", "ByUser"], errors);
    }
    let level = spec.field("priorityLevelConfiguration.name");
    match level.is_empty() {
        true => level.required("must reference a priority level", errors),
        false => level.follows(name::dns_subdomain, errors),
    }
    for rule in spec.field("rules").items() {
        rule_with_subjects(rule, errors);
    }
    if let Some(mandatory) = mandatory(meta::name(schema))
        && let Some(ty) = spec.ty()
        && !spec.equals(&At::new(&mandatory, ty))
    {
        spec.invalid(format!("spec of '{}' must equal the fixed value", meta::name(schema)), errors);
    }
    conditions(object.field("status.conditions"), errors);
}

/// The rules for the conditions of a status.
pub(super) fn conditions(conditions: At<'_, '_>, errors: &mut Errors) {
    let mut seen = HashSet::new();
    for condition in conditions.items() {
        let type_ = condition.field("type");
        if !seen.insert(type_.text()) {
            type_.duplicate(errors);
        }
        type_.set(errors);
    }
}

/// The fixed spec of the schema of a name (`MandatoryFlowSchemas`).
fn mandatory(name: &str) -> Option<Value> {
    let group = |name: &str| json!({"kind": "Group", "group": {"name": name}});
    let everything = |subjects: Vec<Value>| {
        json!([{
            "subjects": Value::from(subjects),
            "resourceRules": [
                {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": true},
            ],
            "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
        }])
    };
    match name {
        "exempt" => Some(json!({
            "priorityLevelConfiguration": {"name": "exempt"},
            "matchingPrecedence": 1,
            "rules": everything(vec![group("system:masters")]),
        })),
        "catch-all" => Some(json!({
            "priorityLevelConfiguration": {"name": "catch-all"},
            "matchingPrecedence": MAX_PRECEDENCE,
            "distinguisherMethod": {"type": "ByUser"},
            "rules": everything(vec![group("system:unauthenticated"), group("system:authenticated")]),
        })),
        _ => None,
    }
}

/// `ValidateFlowSchemaPolicyRulesWithSubjects`.
fn rule_with_subjects(rule: At<'_, '_>, errors: &mut Errors) {
    let (subjects, resources, others) =
        (rule.field("subjects"), rule.field("resourceRules"), rule.field("nonResourceRules"));
    if subjects.is_empty() {
        subjects.required("subjects must contain at least one value", errors);
    }
    for subject in subjects.items() {
        self::subject(subject, errors);
    }
    if resources.is_empty() && others.is_empty() {
        rule.required("at least one of resourceRules and nonResourceRules has to be non-empty", errors);
    }
    for rule in resources.items() {
        resource_rule(rule, errors);
    }
    for rule in others.items() {
        non_resource_rule(rule, errors);
    }
}

/// `ValidateFlowSchemaSubject`.
fn subject(subject: At<'_, '_>, errors: &mut Errors) {
    let kind = subject.field("kind");
    let Some((_, own)) = SUBJECTS.iter().find(|(known, _)| *known == kind.text()) else {
        return kind.unsupported(&["Group", "ServiceAccount", "User"], errors);
    };
    let named = subject.field(own);
    let is_account = kind.text() == "ServiceAccount";
    match named.is_set() {
        true if is_account => account(named, errors),
        true => named.field("name").set(errors),
        false => named.required(&format!("{own} is required when subject kind is '{}'", kind.text()), errors),
    }
    for (other, field) in SUBJECTS.into_iter().filter(|(known, _)| *known != kind.text()) {
        if subject.field(field).is_set() {
            let detail = format!("{field} is forbidden when subject kind is not '{other}'");
            subject.field(field).forbidden(detail, errors);
        }
    }
}

/// `ValidateServiceAccountSubject`.
fn account(account: At<'_, '_>, errors: &mut Errors) {
    let (own, namespace) = (account.field("name"), account.field("namespace"));
    match own.text() {
        "" => own.required("", errors),
        "*" => {}
        _ => own.follows(name::dns_subdomain, errors),
    }
    match namespace.is_empty() {
        true => namespace.required("must specify namespace for service account", errors),
        false => namespace.follows(name::dns_label, errors),
    }
}

fn has_wildcard(list: At<'_, '_>) -> bool {
    list.items().any(|item| item.text() == "*")
}

/// Something must be there, and nothing beside the wildcard. Says whether more is to be checked: there are items and no wildcard.
fn some_or_all(list: At<'_, '_>, missing: &str, noun: &str, errors: &mut Errors) -> bool {
    if list.is_empty() {
        list.required(missing, errors);
        return false;
    }
    if !has_wildcard(list) {
        return true;
    }
    if list.len() > 1 {
        list.invalid(format!("if '*' is present, must not specify other {noun}"), errors);
    }
    false
}

fn verbs(verbs: At<'_, '_>, errors: &mut Errors) {
    let is_plain = some_or_all(verbs, "verbs must contain at least one value", "verbs", errors);
    if is_plain && !verbs.items().all(|verb| VERBS.contains(&verb.text())) {
        verbs.unsupported(VERBS, errors);
    }
}

/// `ValidateFlowSchemaNonResourcePolicyRule`.
fn non_resource_rule(rule: At<'_, '_>, errors: &mut Errors) {
    verbs(rule.field("verbs"), errors);
    let urls = rule.field("nonResourceURLs");
    let missing = "nonResourceURLs must contain at least one value";
    if some_or_all(urls, missing, "non-resource URLs", errors) {
        for url in urls.items() {
            if let Some(objection) = url_objection(url.text()) {
                url.invalid(objection, errors);
            }
        }
    }
}

/// `ValidateNonResourceURLPath`.
fn url_objection(path: &str) -> Option<&'static str> {
    let wildcards = path.matches('*').count();
    match path {
        "" => Some("must not be empty"),
        "/" => None,
        _ if !path.starts_with('/') => Some("must start with slash"),
        _ if path.contains(' ') => Some("must not contain white-space"),
        _ if path.contains("//") => Some("must not contain double slash"),
        _ if wildcards > 1 || (wildcards == 1 && !path.ends_with("/*")) => Some("wildcard can only do suffix matching"),
        _ => None,
    }
}

/// `ValidateFlowSchemaResourcePolicyRule`.
fn resource_rule(rule: At<'_, '_>, errors: &mut Errors) {
    verbs(rule.field("verbs"), errors);
    let groups = rule.field("apiGroups");
    some_or_all(groups, "resource rules must supply at least one api group", "api groups", errors);
    let resources = rule.field("resources");
    some_or_all(resources, "resource rules must supply at least one resource", "resources", errors);
    let namespaces = rule.field("namespaces");
    if namespaces.is_empty() && rule.field("clusterScope").flag() {
        return;
    }
    let missing = "resource rules that are not cluster scoped must supply at least one namespace";
    if some_or_all(namespaces, missing, "namespaces", errors) {
        for namespace in namespaces.items() {
            for objection in name::dns_label(namespace.text()) {
                let detail = format!("each member of this list must be '*' or a DNS-1123 label; {objection}");
                namespace.invalid(detail, errors);
            }
        }
    }
}
