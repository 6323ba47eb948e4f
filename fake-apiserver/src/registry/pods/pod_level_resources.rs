//! Defaults of the resources that a pod has of its own, once some are set: they follow from those of its containers, and from each other.
//!
//! Follows `DefaultPodLevelResources` of `pkg/api/pod/util.go` (v1.37.1).

use crate::registry::types::{Amounts, is_pod_level_resource, is_shared_resource, of_containers};
use crate::registry::{child, items};
use tree::Value;

/// Fills in the resources of a pod.
pub(super) fn default(pod: &mut Value) {
    let own = |pod: &Value, list: &str| Amounts::read(&pod["spec"]["resources"][list]);
    let of_all = |list: &'static str| of_containers(&pod["spec"], |container| &container["resources"][list]);
    let (mut requests, mut limits) = (own(pod, "requests"), own(pod, "limits"));
    if requests.is_empty() && limits.is_empty() {
        return;
    }
    let (all_requests, all_limits) = (of_all("requests"), of_all("limits"));
    // Huge pages, which cannot be overcommitted, then what can be, then the rest.
    let is_huge = |name: &str| is_pod_level_resource(name) && !is_shared_resource(name);
    let is_shared = |name: &str| is_pod_level_resource(name) && is_shared_resource(name);
    limits.fill(&all_limits.only(|name, _| is_huge(name) && !requests.has(name)));
    requests.fill(&all_requests.only(|name, _| is_shared(name)));
    requests.fill(&limits.only(|name, _| is_pod_level_resource(name)));
    let are_limited = |name: &str| {
        let lists = ["/spec/containers", "/spec/initContainers", "/spec/ephemeralContainers"];
        let mut containers = lists.iter().flat_map(|list| items(pod, list));
        containers.all(|container| container["resources"]["limits"].get(name).is_some())
    };
    let mut most = all_limits.only(|name, _| requests.has(name) && is_pod_level_resource(name) && are_limited(name));
    most.raise(&requests.only(|name, _| most.has(name)));
    limits.fill(&most);
    let resources = child(child(pod, "spec"), "resources");
    for (list, amounts) in [("requests", requests), ("limits", limits)] {
        if !amounts.is_empty() {
            resources[list] = amounts.value();
        }
    }
}
