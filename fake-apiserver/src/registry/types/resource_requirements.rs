//! `ResourceRequirements`: requests and limits of a container.
//!
//! Follows `validateResourceRequirements` of `pkg/apis/core/validation/validation.go` (v1.37.1). Not ported: claims.

use crate::error::{Errors, Path};
use crate::object::name;
use crate::registry::quantity;
use tree::{Map, Text, Value};

/// `DefaultResourceRequestsPrefix`.
const QUOTA: &str = "requests.";
/// `ResourceHugePagesPrefix`.
const HUGE_PAGES: &str = "hugepages-";
/// `standardContainerResources`.
const FOR_CONTAINERS: &[&str] = &["cpu", "memory", "ephemeral-storage"];
/// Names that need no domain, but are not for containers (`standardResources`).
const FOR_OTHERS: &[&str] = &[
    "pods",
    "services",
    "secrets",
    "configmaps",
    "storage",
    "resourcequotas",
    "replicationcontrollers",
    "persistentvolumeclaims",
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "services.nodeports",
    "services.loadbalancers",
];

fn entries(list: &Value) -> impl Iterator<Item = (&Text, &str)> {
    list.as_object().into_iter().flat_map(Map::iter).map(|(name, value)| (name, value.as_str().unwrap_or_default()))
}

/// Amount of a quantity, in units of 10⁻⁹; 0 without one.
pub(crate) fn amount(text: &str) -> i128 {
    quantity::nano(text).unwrap_or_default()
}

/// Kubernetes' own resources (`IsNativeResource`).
pub(in crate::registry) fn is_native_resource(resource: &str) -> bool {
    !resource.contains('/') || resource.contains("kubernetes.io/")
}

/// Resources of others (`example.com/gpu`), which are whole (`IsExtendedResourceName`).
fn is_extended(resource: &str) -> bool {
    let for_quota = format!("{QUOTA}{resource}");
    !is_native_resource(resource) && !resource.starts_with(QUOTA) && name::label_key(&for_quota).is_empty()
}

/// Resources that may be overcommitted (`IsOvercommitAllowed`).
fn is_shared(resource: &str) -> bool {
    is_native_resource(resource) && !resource.starts_with(HUGE_PAGES)
}

/// Rule for an amount of huge pages: they are whole (`validateResourceQuantityHugePageValue`).
fn huge_pages(at: Path<'_>, resource: &str, value: &str, errors: &mut Errors) {
    let Some(size) = resource.strip_prefix(HUGE_PAGES) else { return };
    let whole = quantity::is_whole(size).then(|| amount(size)).filter(|size| *size > 0);
    if whole.is_none_or(|size| amount(value) % size != 0) {
        errors.invalid(at, value, format!("{value} is not positive integer multiple of {resource}"));
    }
}

/// Rules for `resources` of a container.
pub(in crate::registry) fn resource_requirements(at: Path<'_>, resources: &Value, errors: &mut Errors) {
    for (resource, value) in entries(&resources["limits"]) {
        container_resource_name(at.child("limits").key(resource), resource, errors);
        resource_value(at.child("limits").key(resource), resource, value, errors);
        huge_pages(at.child("limits").key(resource), resource, value, errors);
    }
    for (resource, value) in entries(&resources["requests"]) {
        container_resource_name(at.child("requests").key(resource), resource, errors);
        resource_value(at.child("requests").key(resource), resource, value, errors);
        let limit = resources["limits"].get(resource).map(|limit| limit.as_str().unwrap_or_default());
        let relation = match limit {
            None if !is_shared(resource) => {
                errors.required(at.child("limits"), "Limit must be set for non overcommitable resources");
                None
            }
            Some(limit) if !is_shared(resource) && amount(value) != amount(limit) => Some((limit, "equal to")),
            Some(limit) if amount(value) > amount(limit) => Some((limit, "less than or equal to")),
            _ => None,
        };
        if let Some((limit, relation)) = relation {
            let detail = format!("must be {relation} {resource} limit of {limit}");
            errors.invalid(at.child("requests"), value, detail);
        }
        huge_pages(at.child("requests").key(resource), resource, value, errors);
    }
    let names = || ["limits", "requests"].into_iter().flat_map(|list| entries(&resources[list])).map(|(name, _)| name);
    if names().any(|name| name.starts_with(HUGE_PAGES))
        && !names().any(|name| matches!(name.as_str(), "cpu" | "memory"))
    {
        errors.forbidden(at, "HugePages require cpu or memory");
    }
}

/// `ValidateContainerResourceName`.
pub(in crate::registry) fn container_resource_name(at: Path<'_>, resource: &str, errors: &mut Errors) {
    let bad = name::label_key(resource);
    let is_named = bad.is_empty();
    errors.invalid_each(at, resource, bad);
    if resource.contains('/') {
        if !is_native_resource(resource) && !is_extended(resource) {
            errors.invalid(at, resource, "doesn't follow extended resource name standard");
        }
        return;
    }
    if FOR_CONTAINERS.contains(&resource) || resource.starts_with(HUGE_PAGES) {
        return;
    }
    if is_named && !FOR_OTHERS.contains(&resource) {
        errors.invalid(at, resource, "must be a standard resource type or fully qualified");
    }
    errors.invalid(at, resource, "must be a standard resource for containers");
}

/// `ValidateResourceQuantityValue`.
fn resource_value(at: Path<'_>, resource: &str, value: &str, errors: &mut Errors) {
    if amount(value) < 0 {
        errors.invalid(at, value, "must be greater than or equal to 0");
    }
    if is_extended(resource) && !quantity::is_whole(value) {
        errors.invalid(at, value, "must be an integer");
    }
}
