//! `ResourceRequirements`: requests and limits of a container.
//!
//! Follows `validateResourceRequirements` of `pkg/apis/core/validation/validation.go` (v1.37.1). Not ported: huge pages,
//! claims.

use crate::error::{Errors, Path};
use crate::object::name;
use crate::registry::quantity;
use tree::{Map, Text, Value};

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
pub(in crate::registry) fn amount(text: &str) -> i128 {
    quantity::nano(text).unwrap_or_default()
}

/// Kubernetes' own resources; others (`example.com/gpu`) are extended ones, which are whole and never shared.
fn is_native(resource: &str) -> bool {
    resource.split_once('/').is_none_or(|(domain, _)| domain.contains("kubernetes.io"))
}

/// Rules for `resources` of a container.
pub(super) fn resource_requirements(at: Path<'_>, resources: &Value, errors: &mut Errors) {
    for (resource, value) in entries(&resources["limits"]) {
        resource_name(at.child("limits").key(resource), resource, errors);
        resource_value(at.child("limits").key(resource), resource, value, errors);
    }
    for (resource, value) in entries(&resources["requests"]) {
        resource_name(at.child("requests").key(resource), resource, errors);
        resource_value(at.child("requests").key(resource), resource, value, errors);
        let limit = resources["limits"].get(resource).map(|limit| limit.as_str().unwrap_or_default());
        let relation = match limit {
            None if !is_native(resource) => {
                errors.required(at.child("limits"), "Limit must be set for non overcommitable resources");
                None
            }
            Some(limit) if !is_native(resource) && amount(value) != amount(limit) => Some((limit, "equal to")),
            Some(limit) if amount(value) > amount(limit) => Some((limit, "less than or equal to")),
            _ => None,
        };
        if let Some((limit, relation)) = relation {
            let detail = format!("must be {relation} {resource} limit of {limit}");
            errors.invalid(at.child("requests"), value, detail);
        }
    }
}

/// `ValidateContainerResourceName`.
fn resource_name(at: Path<'_>, resource: &str, errors: &mut Errors) {
    errors.invalid_each(at, resource, name::label_key(resource));
    if resource.contains('/') || FOR_CONTAINERS.contains(&resource) || resource.starts_with("hugepages-") {
        return;
    }
    if !FOR_OTHERS.contains(&resource) {
        errors.invalid(at, resource, "must be a standard resource type or fully qualified");
    }
    errors.invalid(at, resource, "must be a standard resource for containers");
}

/// `ValidateResourceQuantityValue`.
fn resource_value(at: Path<'_>, resource: &str, value: &str, errors: &mut Errors) {
    if amount(value) < 0 {
        errors.invalid(at, value, "must be greater than or equal to 0");
    }
    if !is_native(resource) && !quantity::is_whole(value) {
        errors.invalid(at, value, "must be an integer");
    }
}
