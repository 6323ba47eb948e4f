//! The quality of service class of a pod, from its resources.
//!
//! Follows `ComputePodQOS` of `pkg/apis/core/helper/qos/qos.go` (v1.37.1). Not ported: pod-level resources.

use crate::registry::types::amount;
use crate::registry::{items, text};
use tree::Value;

/// `status.qosClass` of a pod.
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
        ];
        for (containers, class) in table {
            assert_eq!(quality_of_service(&json!({"spec": {"containers": containers}})), class);
        }
    }
}
