//! Resources that a pod has of its own, for all its containers together.
//!
//! Follows `validatePodResources` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::amounts::{Amounts, of_containers};
use super::resource_name::{HUGE_PAGES, pod_resource_name};
use super::resource_requirements::{resource_claims, resource_requirements};
use crate::error::Errors;
use crate::registry::cursor::At;
use std::collections::HashSet;

/// Rules for `resources` of a pod's spec; `claims` are the names of the pod's claims of resources.
pub(super) fn pod_resources(pod: At<'_, '_>, claims: &HashSet<&str>, errors: &mut Errors) {
    let resources = pod.field("resources");
    if !resources.is_set() {
        return;
    }
    if pod.field("os.name").text() == "windows" {
        return resources.forbidden("may not be set for a windows pod", errors);
    }
    let own = resources.field("claims");
    if own.is_set() {
        own.forbidden("claims may not be set for Resources at pod-level", errors);
    }
    resource_requirements(resources.path(), resources.value(), pod_resource_name, errors);
    resource_claims(own, claims, errors);
    consistency(&pod, &resources, errors);
}

/// Rules for the resources of the containers: together they request no more than the pod, and none has a higher limit
/// (`validatePodResourceConsistency`).
fn consistency(pod: &At<'_, '_>, resources: &At<'_, '_>, errors: &mut Errors) {
    let of_pod = |list: &str| Amounts::read(&resources.value()[list]);
    let (requests, limits) = (of_pod("requests"), of_pod("limits"));
    for (list, own) in [("requests", &requests), ("limits", &limits)] {
        let all = of_containers(pod.value(), |container| &container["resources"][list]);
        for (name, together) in all.iter().filter(|(name, _)| list == "requests" || name.starts_with(HUGE_PAGES)) {
            if let Some(own) = own.get(name).filter(|own| together > own) {
                let detail = format!("must be greater than or equal to aggregate container {list} of {together}");
                errors.invalid(resources.path().child(list).key(name), &*own.text(), detail);
            }
        }
    }
    let at = resources.path();
    for (index, container) in pod.field("containers").items().enumerate() {
        for (name, limit) in Amounts::read(&container.value()["resources"]["limits"]).iter() {
            if let Some(own) = limits.get(name).filter(|own| limit > own) {
                // Upstream names the container as if it stood in the pod's resources.
                let detail = format!("must be less than or equal to pod limits of {own}");
                let at = at.item("containers", index);
                errors.invalid(at.key(name).child("limits"), &*limit.text(), detail);
            }
        }
    }
}
