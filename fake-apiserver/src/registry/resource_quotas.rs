//! Resource quotas.
//!
//! Follows `pkg/registry/core/resourcequota/strategy.go`, `ValidateResourceQuota` and what belongs to it in
//! `pkg/apis/core/validation/validation.go`, and `printResourceQuota` of `pkg/printers/internalversion/printers.go` (v1.37.1).

use super::context::Context;
use super::cursor::At;
use super::rules::{Rules, Strategy};
use super::types::{is_standard_for_quota, quota_resource_name, resource_value, round_resources, visit};
use super::{amount, text};
use crate::error::Errors;
use crate::object::validate::IMMUTABLE;
use std::collections::HashSet;
use tree::Value;

pub(super) const RULES: Rules = Rules {
    cells: &[("Request", |quota, _| amounts(quota, false).into()), ("Limit", |quota, _| amounts(quota, true).into())],
    delete_returns_object: true,
    subresources: &[("status", Strategy { default, validate: status, ..Strategy::NONE })],
    strategy: Strategy { default, validate, warnings, ..Strategy::NONE },
    ..Rules::ORDINARY
};

/// Scopes that select pods or not, and have no values.
const SCOPES_WITHOUT_VALUES: [&str; 5] =
    ["Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "CrossNamespacePodAffinity"];
/// Scopes with values.
const SCOPES_WITH_VALUES: [&str; 2] = ["PriorityClass", "VolumeAttributesClass"];
/// Scopes that exclude each other.
const OPPOSITES: [[&str; 2]; 2] = [["BestEffort", "NotBestEffort"], ["Terminating", "NotTerminating"]];
/// `podComputeQuotaResources`.
const OF_PODS: [&str; 6] = ["cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"];

fn at(quota: &Value) -> At<'static, '_> {
    At::object(quota, "v1", "ResourceQuota")
}

/// `ValidateResourceQuota` and `ValidateResourceQuotaUpdate`.
fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let (quota, old) = (at(new), old.map(at));
    let spec = quota.field("spec");
    let list = spec.field("scopes");
    amounts_of(spec.field("hard"), errors);
    scopes(spec, errors);
    scope_selector(spec, errors);
    if let Some(old) = old
        && texts(list) != texts(old.field("spec.scopes"))
    {
        list.invalid(IMMUTABLE, errors);
    }
}

/// `ValidateResourceQuotaStatusUpdate`.
fn status(_: &Context<'_>, new: &Value, _: Option<&Value>, errors: &mut Errors) {
    let quota = at(new);
    amounts_of(quota.field("status.hard"), errors);
    amounts_of(quota.field("status.used"), errors);
}

fn amounts_of(list: At<'_, '_>, errors: &mut Errors) {
    for (resource, amount) in list.entries() {
        quota_resource_name(amount.path(), resource, errors);
        resource_value(amount.path(), resource, &self::amount(amount.text()), errors);
    }
}

fn texts<'v>(list: At<'_, 'v>) -> HashSet<&'v str> {
    list.items().map(|item| item.text()).collect()
}

fn is_scope(scope: &str) -> bool {
    SCOPES_WITHOUT_VALUES.contains(&scope) || SCOPES_WITH_VALUES.contains(&scope)
}

/// `IsResourceQuotaScopeValidForResource`.
fn fits(scope: &str, resource: &str) -> bool {
    match scope {
        "BestEffort" => resource == "pods",
        "VolumeAttributesClass" => matches!(resource, "persistentvolumeclaims" | "requests.storage"),
        _ if is_scope(scope) => resource == "pods" || OF_PODS.contains(&resource),
        _ => true,
    }
}

/// The number of a quota's resources that a scope cannot select.
fn misfits(spec: At<'_, '_>, scope: &str) -> usize {
    let hard = spec.field("hard");
    hard.entries().filter(|(resource, _)| is_standard_for_quota(resource) && !fits(scope, resource)).count()
}

/// `validateResourceQuotaScopes`, of which every finding shows the whole list.
fn scopes(spec: At<'_, '_>, errors: &mut Errors) {
    let list = spec.field("scopes");
    for scope in list.items() {
        if !is_scope(scope.text()) {
            list.invalid("unsupported scope", errors);
        }
        (0..misfits(spec, scope.text())).for_each(|_| list.invalid("unsupported scope applied to resource", errors));
    }
    let all = texts(list);
    for _ in OPPOSITES.iter().filter(|pair| pair.iter().all(|scope| all.contains(scope))) {
        list.invalid("conflicting scopes", errors);
    }
}

/// `validateScopedResourceSelectorRequirement`, which does not say which of the requirements is wrong.
fn scope_selector(spec: At<'_, '_>, errors: &mut Errors) {
    let (list, selector) = (spec.field("scopeSelector.matchExpressions"), spec.field("scopeSelector"));
    let (path, spec_scopes) = (list.path(), spec.field("scopes"));
    let (name_path, operator_path, values_path) =
        (path.child("scopeName"), path.child("operator"), path.child("values"));
    let mut all = HashSet::new();
    for requirement in list.items() {
        let (name, operator) = (requirement.field("scopeName"), requirement.field("operator"));
        let (name, operator) = (name.shown_at(name_path), operator.shown_at(operator_path));
        let values = requirement.field("values");
        let values = values.shown_at(values_path);
        if !is_scope(name.text()) {
            name.invalid("unsupported scope", errors);
        }
        for _ in 0..misfits(spec, name.text()) {
            selector.shown_at(path).invalid("unsupported scope applied to resource", errors);
        }
        if SCOPES_WITHOUT_VALUES.contains(&name.text()) && operator.text() != "Exists" {
            let detail = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, \
                          ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, \
                          ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
            operator.invalid(detail, errors);
        }
        match operator.text() {
            "In" | "NotIn" if values.is_empty() => {
                let detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
                values.required(detail, errors);
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
                values.invalid(detail, errors);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => operator.invalid("not a valid selector operator", errors),
        }
        all.insert(name.text());
    }
    for _ in OPPOSITES.iter().filter(|pair| pair.iter().all(|scope| all.contains(scope))) {
        spec_scopes.shown_at(path).invalid("conflicting scopes", errors);
    }
}

fn default(quota: &mut Value) {
    visit(quota, "spec|status/hard", &mut round_resources);
    visit(quota, "status/used", &mut round_resources);
}

/// Warnings about requests that are greater than limits, when the quota is created (`WarningsOnCreate`).
fn warnings(_: &Context<'_>, quota: &Value, old: Option<&Value>) -> Vec<String> {
    let hard = |resource: &str| quota["spec"]["hard"][resource].as_str();
    let greater = |resource: &&str| {
        let mut name = format!("requests.{resource}");
        let mut request = hard(&name);
        if request.is_none() && matches!(*resource, "cpu" | "memory") {
            request = hard(resource);
            name = (*resource).into();
        }
        let limit_name = format!("limits.{resource}");
        let (request, limit) = (amount(request?), amount(hard(&limit_name)?));
        (request > limit)
            .then(|| format!("ResourceQuota {name} ({request}) should be less than {limit_name} ({limit})"))
    };
    let known = ["cpu", "memory", "storage", "ephemeral-storage"];
    if old.is_some() { Vec::new() } else { known.iter().filter_map(greater).collect() }
}

/// The used and the allowed amount of each resource: those of limits, or all others.
fn amounts(quota: &Value, limits: bool) -> String {
    let hard = quota["status"]["hard"].as_object().into_iter().flatten();
    let hard = hard.filter(|(resource, _)| resource.starts_with("limits.") == limits);
    let shown = |(resource, hard): (_, &Value)| {
        let used = quota["status"]["used"][resource].as_str().unwrap_or("0");
        format!("{resource}: {used}/{}", text(hard, ""))
    };
    hard.map(|(resource, hard)| shown((resource.as_str(), hard))).collect::<Vec<_>>().join(", ")
}
