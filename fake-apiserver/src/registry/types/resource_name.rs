//! `ResourceName`: the names of resources, and the amounts that they can have.
//!
//! Follows `validateResourceName` and what builds on it in `pkg/apis/core/validation/validation.go`, with the sets of
//! `pkg/apis/core/helper/helpers.go` (v1.37.1).

use crate::error::{Errors, Path};
use crate::object::name;
use crate::registry::quantity::{Quantity, is_whole};

/// `DefaultResourceRequestsPrefix`.
const REQUESTS: &str = "requests.";
/// `ResourceHugePagesPrefix`.
pub(super) const HUGE_PAGES: &str = "hugepages-";
/// `ResourceRequestsHugePagesPrefix`.
const REQUESTS_OF_HUGE_PAGES: &str = "requests.hugepages-";
/// `standardContainerResources`.
const FOR_CONTAINERS: &[&str] = &["cpu", "memory", "ephemeral-storage"];
/// Numbers of objects (`integerResources`).
const NUMBERS: &[&str] = &[
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];
/// Other resources of quotas (`standardQuotaResources`).
const FOR_QUOTAS: &[&str] = &[
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
];
/// `ResourceStorage`, of which there are claims and limits, but no quotas.
const STORAGE: &str = "storage";

/// Kubernetes' own resources (`IsNativeResource`).
pub(crate) fn is_native_resource(resource: &str) -> bool {
    !resource.contains('/') || resource.contains("kubernetes.io/")
}

/// Resources of others (`example.com/gpu`), which are whole (`IsExtendedResourceName`).
pub(crate) fn is_extended_resource(resource: &str) -> bool {
    let is_key = || name::label_key(&format!("{REQUESTS}{resource}")).is_empty();
    !is_native_resource(resource) && !resource.starts_with(REQUESTS) && is_key()
}

/// Resources that may be overcommitted (`IsOvercommitAllowed`).
pub(in crate::registry) fn is_shared_resource(resource: &str) -> bool {
    is_native_resource(resource) && !resource.starts_with(HUGE_PAGES)
}

/// Resources that a pod can have of its own, beside those of its containers (`IsSupportedPodLevelResource`).
pub(crate) fn is_pod_level_resource(resource: &str) -> bool {
    ["cpu", "memory"].contains(&resource) || resource.starts_with(HUGE_PAGES)
}

/// `IsStandardQuotaResourceName`.
pub(in crate::registry) fn is_standard_for_quota(resource: &str) -> bool {
    [FOR_CONTAINERS, NUMBERS, FOR_QUOTAS].iter().any(|known| known.contains(&resource))
        || [HUGE_PAGES, REQUESTS_OF_HUGE_PAGES].iter().any(|prefix| resource.starts_with(prefix))
}

/// `validateResourceName`.
pub(in crate::registry) fn resource_name(at: Path<'_>, resource: &str, errors: &mut Errors) {
    let bad = name::label_key(resource);
    if !bad.is_empty() {
        errors.invalid_each(at, resource, bad);
    } else if !resource.contains('/') && resource != STORAGE && !is_standard_for_quota(resource) {
        errors.invalid(at, resource, "must be a standard resource type or fully qualified");
    }
}

/// `ValidateContainerResourceName`.
pub(in crate::registry) fn container_resource_name(at: Path<'_>, resource: &str, errors: &mut Errors) {
    resource_name(at, resource, errors);
    match resource.contains('/') {
        true if !is_native_resource(resource) && !is_extended_resource(resource) => {
            errors.invalid(at, resource, "doesn't follow extended resource name standard");
        }
        false if !FOR_CONTAINERS.contains(&resource) && !resource.starts_with(HUGE_PAGES) => {
            errors.invalid(at, resource, "must be a standard resource for containers");
        }
        _ => {}
    }
}

/// `validatePodResourceName`.
pub(super) fn pod_resource_name(at: Path<'_>, resource: &str, errors: &mut Errors) {
    let before = errors.len();
    resource_name(at, resource, errors);
    if errors.len() == before && !is_pod_level_resource(resource) {
        errors.supported(at, resource, &["cpu", HUGE_PAGES, "memory"]);
    }
}

/// `ValidateResourceQuotaResourceName`.
pub(in crate::registry) fn quota_resource_name(at: Path<'_>, resource: &str, errors: &mut Errors) {
    resource_name(at, resource, errors);
    if !resource.contains('/') && !is_standard_for_quota(resource) {
        errors.invalid(at, resource, "must be a standard resource for quota");
    }
}

/// `ValidateResourceQuantityValue`.
pub(in crate::registry) fn resource_value(at: Path<'_>, resource: &str, amount: &Quantity, errors: &mut Errors) {
    if amount.sign().is_lt() {
        errors.invalid(at, &*amount.text(), "must be greater than or equal to 0");
    }
    let is_number = NUMBERS.contains(&resource) || is_extended_resource(resource);
    if is_number && !is_whole(amount) {
        errors.invalid(at, &*amount.text(), "must be an integer");
    }
}
