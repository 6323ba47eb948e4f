//! The values that a service keeps although its client did not send them, and those that follow from each other.
//!
//! Follows `patchAllocatedValues` and `normalizeClusterIPs` of `pkg/registry/core/service/storage/storage.go` (v1.37.1).

use crate::registry::services::{
    cluster_ip, cluster_ips, health_check_node_port, needs_cluster_ip, needs_health_check, node_ports, set_spec,
    type_of,
};
use crate::registry::{child, flag, items, number, text};
use std::collections::HashMap;
use tree::Value;

/// Sets the allocations of the old service that the new one leaves out.
pub(super) fn patch_allocated(new: &mut Value, old: &Value) {
    if needs_cluster_ip(old) && needs_cluster_ip(new) {
        for field in ["clusterIP", "clusterIPs"] {
            let is_unset = if field == "clusterIP" { cluster_ip(new).is_empty() } else { cluster_ips(new).is_empty() };
            if let Some(value) = old["spec"].get(field).filter(|_| is_unset) {
                set_spec(new, field, value.clone());
            }
        }
    }
    if needs_node_ports(old) && needs_node_ports(new) {
        let both = &node_ports(old) & &node_ports(new);
        let of_names: HashMap<&str, i64> = items(old, "/spec/ports")
            .iter()
            .map(|port| (text(port, "/name"), number(port, "/nodePort").unwrap_or_default()))
            .collect();
        let ports = new.pointer_mut("/spec/ports").and_then(Value::as_array_mut);
        for port in ports.into_iter().flatten().filter(|port| number(port, "/nodePort").unwrap_or_default() == 0) {
            let known = of_names.get(text(port, "/name")).copied().unwrap_or_default();
            if known != 0 && !both.contains(&known) {
                port["nodePort"] = known.into();
            }
        }
    }
    if needs_health_check(old) && needs_health_check(new) && health_check_node_port(new) == 0 {
        set_spec(new, "healthCheckNodePort", health_check_node_port(old));
    }
}

/// Whether each port gets a node port.
pub(super) fn needs_node_ports(service: &Value) -> bool {
    match type_of(service) {
        "NodePort" => true,
        "LoadBalancer" => {
            service["spec"].get("allocateLoadBalancerNodePorts").is_none()
                || flag(service, "/spec/allocateLoadBalancerNodePorts")
        }
        _ => false,
    }
}

/// Makes `clusterIPs` agree with `clusterIP`, for clients that know only the latter.
pub(super) fn normalize_cluster_ips(new: &mut Value, old: Option<&Value>) {
    let own = |service: &Value| Value::from(vec![cluster_ip(service).to_owned()]);
    let Some(old) = old else {
        if !cluster_ip(new).is_empty() && cluster_ips(new).is_empty() {
            let ips = own(new);
            set_spec(new, "clusterIPs", ips);
        }
        return;
    };
    let is_same = cluster_ip(old) == cluster_ip(new);
    if is_same && !cluster_ips(old).is_empty() && cluster_ips(new).is_empty() {
        set_spec(new, "clusterIPs", old["spec"]["clusterIPs"].clone());
    }
    if !is_same && cluster_ips(old) == cluster_ips(new) {
        match cluster_ip(new) {
            "" if !cluster_ip(old).is_empty() => {
                child(new, "spec").as_object_mut().map(|spec| spec.remove("clusterIPs"));
            }
            _ => {
                let ips = own(new);
                set_spec(new, "clusterIPs", ips);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    #[test]
    fn cluster_ips_follow_the_first_one() {
        let of = |ip: &str, ips: &[&str]| json!({"spec": {"clusterIP": ip, "clusterIPs": ips}});
        let old = of("10.0.0.1", &["10.0.0.1", "fd00::1"]);
        let table: [(Value, Option<&Value>, &[&str]); 6] = [
            (of("10.0.0.2", &[]), None, &["10.0.0.2"]),
            (of("", &["10.0.0.2"]), None, &["10.0.0.2"]),
            (of("10.0.0.1", &[]), Some(&old), &["10.0.0.1", "fd00::1"]),
            (of("", &["10.0.0.1", "fd00::1"]), Some(&old), &[]),
            (of("10.0.0.2", &["10.0.0.1", "fd00::1"]), Some(&old), &["10.0.0.2"]),
            (of("10.0.0.2", &["10.0.0.2"]), Some(&old), &["10.0.0.2"]),
        ];
        for (mut new, old, expected) in table {
            normalize_cluster_ips(&mut new, old);
            assert_eq!(cluster_ips(&new), expected, "{new}");
        }
    }

    #[test]
    fn node_ports_stay_with_the_names_of_ports() {
        let of = |ports: Value| json!({"spec": {"type": "NodePort", "ports": ports}});
        let old = of(json!([{"name": "a", "port": 1, "nodePort": 30001}, {"name": "b", "port": 2, "nodePort": 30002}]));
        let mut new = of(json!([{"name": "a", "port": 1}, {"name": "c", "port": 3}, {"name": "b", "port": 4}]));
        patch_allocated(&mut new, &old);
        assert_eq!(node_ports(&new).into_iter().collect::<Vec<_>>(), [30001, 30002]);
        let mut new = of(json!([{"name": "a", "port": 1}, {"name": "b", "port": 2, "nodePort": 30001}]));
        patch_allocated(&mut new, &old);
        assert_eq!(new["spec"]["ports"][0].get("nodePort"), None, "the other port has it now");
    }
}
