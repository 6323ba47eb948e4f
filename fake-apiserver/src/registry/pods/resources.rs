//! What is wrong with a container's resources, and the quality of service that they buy.
//!
//! Follows `validateResourceRequirements` of `pkg/apis/core/validation/validation.go` and
//! `pkg/apis/core/helper/qos/qos.go` (v1.37.1). Not ported: huge pages, claims, pod-level resources.

use super::validate::Findings;
use crate::error::FieldError;
use crate::object::name;
use crate::object::validate::objections;
use crate::registry::{items, quantity, text};
use serde_json::{Map, Value};

/// `standardContainerResources`.
const FOR_CONTAINERS: &[&str] = &["cpu", "memory", "ephemeral-storage"];
/// Names that need no domain, yet are no container's (`standardResources`).
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

fn entries<'a>(container: &'a Value, list: &str) -> impl Iterator<Item = (&'a String, &'a str)> {
    let list = container.get("resources").and_then(|resources| resources.get(list)).and_then(Value::as_object);
    list.into_iter().flat_map(Map::iter).map(|(resource, value)| (resource, value.as_str().unwrap_or_default()))
}

fn amount(text: &str) -> i128 {
    quantity::nano(text).unwrap_or_default()
}

/// Kubernetes' own resources; others (`example.com/gpu`) are extended ones, which are whole and never shared.
fn is_native(resource: &str) -> bool {
    resource.split_once('/').is_none_or(|(domain, _)| domain.contains("kubernetes.io"))
}

/// `resources` of a container.
pub(super) fn resources(errors: &mut Findings, path: &str, container: &Value) {
    for (resource, value) in entries(container, "limits") {
        resource_name(errors, &format!("{path}.limits[{resource}]"), resource);
        resource_value(errors, format!("{path}.limits[{resource}]"), resource, value);
    }
    for (resource, value) in entries(container, "requests") {
        resource_name(errors, &format!("{path}.requests[{resource}]"), resource);
        resource_value(errors, format!("{path}.requests[{resource}]"), resource, value);
        let limit = entries(container, "limits").find(|(other, _)| *other == resource).map(|(_, limit)| limit);
        let relation = match limit {
            None if !is_native(resource) => {
                let detail = "Limit must be set for non overcommitable resources";
                errors.push(FieldError::required(format!("{path}.limits"), detail));
                None
            }
            Some(limit) if !is_native(resource) && amount(value) != amount(limit) => Some((limit, "equal to")),
            Some(limit) if amount(value) > amount(limit) => Some((limit, "less than or equal to")),
            _ => None,
        };
        errors.extend(relation.map(|(limit, relation)| {
            let detail = format!("must be {relation} {resource} limit of {limit}");
            FieldError::invalid(format!("{path}.requests"), &value.into(), detail)
        }));
    }
}

/// `ValidateContainerResourceName`.
fn resource_name(errors: &mut Findings, path: &str, resource: &str) {
    errors.extend(objections(path, resource, name::label_key(resource)));
    if resource.contains('/') || FOR_CONTAINERS.contains(&resource) || resource.starts_with("hugepages-") {
        return;
    }
    let mut invalid = |detail: &str| errors.push(FieldError::invalid(path, &resource.into(), detail));
    if !FOR_OTHERS.contains(&resource) {
        invalid("must be a standard resource type or fully qualified");
    }
    invalid("must be a standard resource for containers");
}

/// `ValidateResourceQuantityValue`.
fn resource_value(errors: &mut Findings, path: String, resource: &str, value: &str) {
    if amount(value) < 0 {
        errors.push(FieldError::invalid(path.clone(), &value.into(), "must be greater than or equal to 0"));
    }
    if !is_native(resource) && !quantity::is_whole(value) {
        errors.push(FieldError::invalid(path, &value.into(), "must be an integer"));
    }
}

/// `ComputePodQOS`: which pods are the last to be evicted.
pub(super) fn quality_of_service(pod: &Value) -> &'static str {
    let containers: Vec<&Value> =
        ["/spec/containers", "/spec/initContainers"].iter().flat_map(|list| items(pod, list)).collect();
    let positive = |container: &Value, list: &str, resource: &str| {
        amount(text(container, &format!("/resources/{list}/{resource}"))) > 0
    };
    let total = |list: &str, resource: &str| -> i128 {
        containers
            .iter()
            .map(|container| amount(text(container, &format!("/resources/{list}/{resource}"))).max(0))
            .sum()
    };
    let compute = ["cpu", "memory"];
    let any = |list: &str| containers.iter().any(|one| compute.iter().any(|resource| positive(one, list, resource)));
    if !any("requests") && !any("limits") {
        return "BestEffort";
    }
    let limited = containers.iter().all(|one| compute.iter().all(|resource| positive(one, "limits", resource)));
    let matched = compute.iter().all(|resource| total("requests", resource) == total("limits", resource));
    if limited && matched { "Guaranteed" } else { "Burstable" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn limits_buy_service() {
        let full = json!({"resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1000m", "memory": "1Gi"}}});
        let half = json!({"resources": {"requests": {"cpu": "1"}}});
        let table = [
            (json!([{}]), "BestEffort"),
            (json!([full]), "Guaranteed"),
            (json!([full, {}]), "Burstable"),
            (json!([half]), "Burstable"),
        ];
        for (containers, class) in table {
            assert_eq!(quality_of_service(&json!({"spec": {"containers": containers}})), class);
        }
    }
}
