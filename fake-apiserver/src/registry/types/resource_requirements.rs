//! `ResourceRequirements`: requests and limits of a container, and the claims of its pod that it uses.
//!
//! Follows `validateResourceRequirements` and `validateResourceClaimNames` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::resource_name::{HUGE_PAGES, container_resource_name, is_shared_resource, resource_value};
use crate::error::{Errors, FieldError, Path};
use crate::object::name;
use crate::registry::cursor::At;
use crate::registry::quantity::{Quantity, amount, is_whole};
use std::collections::HashSet;
use tree::{Map, Text, Value, json};

fn entries(list: &Value) -> impl Iterator<Item = (&Text, Quantity)> {
    let entries = list.as_object().into_iter().flat_map(Map::iter);
    entries.map(|(name, value)| (name, amount(value.as_str().unwrap_or_default())))
}

/// Rule for an amount of huge pages: they are whole (`validateResourceQuantityHugePageValue`).
fn huge_pages(at: Path<'_>, resource: &str, amount: &Quantity, errors: &mut Errors) {
    let Some(size) = resource.strip_prefix(HUGE_PAGES) else { return };
    let size = Quantity::parse(size).ok().filter(|size| size.sign().is_gt() && is_whole(size));
    // Upstream divides by a size that has overflowed to 0.
    if size.and_then(|size| amount.value().checked_rem(size.value())) != Some(0) {
        errors.invalid(at, &*amount.text(), format!("{amount} is not positive integer multiple of {resource}"));
    }
}

/// Rules for `resources` whose names follow a rule, that for containers or that for pods.
pub(super) fn resource_requirements(
    at: Path<'_>,
    resources: &Value,
    name: fn(Path<'_>, &str, &mut Errors),
    errors: &mut Errors,
) {
    for (resource, value) in entries(&resources["limits"]) {
        name(at.child("limits").key(resource), resource, errors);
        resource_value(at.child("limits").key(resource), resource, &value, errors);
        huge_pages(at.child("limits").key(resource), resource, &value, errors);
    }
    for (resource, value) in entries(&resources["requests"]) {
        name(at.child("requests").key(resource), resource, errors);
        resource_value(at.child("requests").key(resource), resource, &value, errors);
        let limit = resources["limits"].get(resource).map(|limit| amount(limit.as_str().unwrap_or_default()));
        let relation = match limit {
            None if !is_shared_resource(resource) => {
                errors.required(at.child("limits"), "Limit must be set for non overcommitable resources");
                None
            }
            Some(limit) if !is_shared_resource(resource) && value != limit => Some((limit, "equal to")),
            Some(limit) if value > limit => Some((limit, "less than or equal to")),
            _ => None,
        };
        if let Some((limit, relation)) = relation {
            let detail = format!("must be {relation} {resource} limit of {limit}");
            errors.invalid(at.child("requests"), &*value.text(), detail);
        }
        huge_pages(at.child("requests").key(resource), resource, &value, errors);
    }
    let names = || ["limits", "requests"].into_iter().flat_map(|list| entries(&resources[list])).map(|(name, _)| name);
    if names().any(|name| name.starts_with(HUGE_PAGES))
        && !names().any(|name| matches!(name.as_str(), "cpu" | "memory"))
    {
        errors.forbidden(at, "HugePages require cpu or memory");
    }
}

/// Rules for the resources that a pod takes beside those of its containers (`validateOverhead`).
pub(in crate::registry) fn overhead(at: Path<'_>, resources: &Value, errors: &mut Errors) {
    resource_requirements(at, &json!({ "limits": resources.clone() }), container_resource_name, errors);
}

/// Rules for `claims` of a container's resources, where the pod has claims of those names.
pub(super) fn resource_claims(claims: At<'_, '_>, of_pod: &HashSet<&str>, errors: &mut Errors) {
    let mut used: HashSet<String> = HashSet::new();
    for claim in claims.items() {
        let (name, request) = (claim.field("name").text(), claim.field("request"));
        if name.is_empty() {
            claim.required("", errors);
            continue;
        }
        let duplicate = |shown: &str| FieldError::duplicate(claim.path(), &shown.into());
        if used.contains(name) {
            errors.push(duplicate(name));
        } else {
            let mut key = name.to_owned();
            if !request.is_empty() {
                request.follows(name::dns_label, errors);
                key = format!("{name}/{}", request.text());
            }
            if used.contains(&key) {
                errors.push(duplicate(&key));
            } else if request.is_empty() {
                // The whole claim, of which some requests are used already.
                let requests = used.iter().filter(|used| used.split_once('/').is_some_and(|(claim, _)| claim == name));
                requests.for_each(|_| errors.push(duplicate(name)));
            }
            used.insert(key);
        }
        if !of_pod.contains(name) {
            let mut names: Vec<&str> = of_pod.iter().copied().collect();
            names.sort_unstable();
            let names = if names.is_empty() { " which is empty".to_owned() } else { format!(": {}", names.join(", ")) };
            let detail = format!("must be one of the names in pod.spec.resourceClaims{names}");
            errors.push(FieldError::not_found(claim.path(), &name.into()).with_detail(detail));
        }
    }
}
