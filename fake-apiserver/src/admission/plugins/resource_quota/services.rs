//! The evaluator of services: their number, that of load balancers, and that of node ports.
//!
//! Follows `pkg/quota/v1/evaluator/core/services.go` (v1.37.1).

use super::evaluator::Evaluator;
use crate::admission::{Attributes, Operation};
use crate::registry::{Amounts, Quantity, items, number, text};
use tree::Value;

/// `serviceResources`.
const MEASURED: [&str; 4] = ["count/services", "services", "services.loadbalancers", "services.nodeports"];

/// The evaluator of services.
pub(super) struct Services;

impl Evaluator for Services {
    fn handles(&self, write: &Attributes<'_>, _: &Value) -> bool {
        write.subresource.is_empty() && matches!(write.operation, Operation::Create | Operation::Update)
    }

    fn measures(&self, resource: &str) -> bool {
        MEASURED.contains(&resource)
    }

    fn usage(&self, service: &Value) -> Amounts {
        let ports = items(service, "/spec/ports");
        let given = || ports.iter().filter(|port| number(port, "/nodePort").is_some_and(|port| port != 0)).count();
        let (balancers, node_ports) = match text(service, "/spec/type") {
            "NodePort" => (0, ports.len()),
            "LoadBalancer" if service["spec"]["allocateLoadBalancerNodePorts"] == false => (1, given()),
            "LoadBalancer" => (1, ports.len()),
            _ => (0, 0),
        };
        MEASURED.into_iter().zip([1, 1, balancers, node_ports].map(Quantity::count)).collect()
    }
}
