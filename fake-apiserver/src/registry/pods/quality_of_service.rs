//! The quality of service class of a pod, from its resources.
//!
//! Follows `ComputePodQOS` of `pkg/apis/core/helper/qos/qos.go` (v1.37.1).

use crate::registry::items;
use crate::registry::quantity::amount;
use crate::registry::types::is_pod_level_resource;
use tree::{Map, Value};

/// `status.qosClass` of a pod.
pub(crate) fn quality_of_service(pod: &Value) -> &'static str {
    if has_pod_level_resources(pod) {
        return class(&pod["spec"]["resources"]);
    }
    let containers = ["/spec/initContainers", "/spec/containers"].iter().flat_map(|list| items(pod, list));
    common(containers.map(|container| class(&container["resources"]))).unwrap_or("BestEffort")
}

/// Whether a pod has amounts of its own, which decide in place of those of its containers (`IsPodLevelResourcesSet`).
pub(crate) fn has_pod_level_resources(pod: &Value) -> bool {
    let resources = &pod["spec"]["resources"];
    let lists = ["requests", "limits"].iter().filter_map(|list| resources[*list].as_object());
    lists.flat_map(Map::keys).any(|name| is_pod_level_resource(name))
}

/// The class of resources by themselves (`requirementsQOS`).
fn class(resources: &Value) -> &'static str {
    let amounts = |resource: &str| {
        ["requests", "limits"].map(|list| amount(resources[list][resource].as_str().unwrap_or_default()))
    };
    let of_resource = |resource: &&str| match amounts(resource) {
        [request, limit] if request != limit => "Burstable",
        [request, _] if request.is_zero() => "BestEffort",
        _ => "Guaranteed",
    };
    let listed = |list: &&&str| resources[**list].as_object().is_some_and(|list| !list.is_empty());
    match ["requests", "limits"].iter().find(listed) {
        None => "BestEffort",
        Some(_) => common(["cpu", "memory"].iter().map(of_resource)).unwrap_or("BestEffort"),
    }
}

/// The class that all have, or else `Burstable`.
fn common(mut classes: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let first = classes.next()?;
    Some(if classes.all(|class| class == first) { first } else { "Burstable" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    #[test]
    fn limits_buy_service() {
        let full = json!({"resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1000m", "memory": "1Gi"}}});
        let half = json!({"resources": {"requests": {"cpu": "1"}}});
        let table = [
            (json!([{}]), "BestEffort"),
            (json!([full]), "Guaranteed"),
            (json!([full, {}]), "Burstable"),
            (json!([half]), "Burstable"),
            (json!([full, full]), "Guaranteed"),
            (json!([full, half]), "Burstable"),
        ];
        for (containers, class) in table {
            assert_eq!(quality_of_service(&json!({"spec": {"containers": containers}})), class);
        }
        let pod = json!({"spec": {"containers": [half], "resources": full["resources"]}});
        assert_eq!(quality_of_service(&pod), "Guaranteed");
    }
}
