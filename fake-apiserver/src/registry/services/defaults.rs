//! The defaults of services.
//!
//! Follows `SetDefaults_Service` of `pkg/apis/core/v1/defaults.go` (v1.37.1).

use super::spec::is_externally_accessible;
use crate::registry::{child, default_to, number, text};
use tree::{Value, json};

/// `DefaultClientIPServiceAffinitySeconds`.
const AFFINITY_SECONDS: i64 = 3 * 60 * 60;

/// `SetDefaults_Service`.
pub(super) fn default(service: &mut Value) {
    let spec = child(service, "spec");
    default_to(spec, "sessionAffinity", "None");
    match text(spec, "/sessionAffinity") {
        "None" => {
            spec.as_object_mut().map(|spec| spec.remove("sessionAffinityConfig"));
        }
        "ClientIP" if number(spec, "/sessionAffinityConfig/clientIP/timeoutSeconds").is_none() => {
            spec["sessionAffinityConfig"] = json!({"clientIP": {"timeoutSeconds": AFFINITY_SECONDS}});
        }
        _ => {}
    }
    default_to(spec, "type", "ClusterIP");
    spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten().for_each(default_port);
    if is_externally_accessible(service) {
        default_to(child(service, "spec"), "externalTrafficPolicy", "Cluster");
    }
    let spec = child(service, "spec");
    let type_ = text(spec, "/type").to_owned();
    if matches!(&*type_, "NodePort" | "LoadBalancer" | "ClusterIP") && spec.get("internalTrafficPolicy").is_none() {
        default_to(spec, "internalTrafficPolicy", "Cluster");
    }
    if type_ == "LoadBalancer" {
        default_to(spec, "allocateLoadBalancerNodePorts", true);
        let ingresses = service.pointer_mut("/status/loadBalancer/ingress").and_then(Value::as_array_mut);
        for ingress in ingresses.into_iter().flatten().filter(|ingress| !text(ingress, "/ip").is_empty()) {
            default_to(ingress, "ipMode", "VIP");
        }
    }
}

fn default_port(port: &mut Value) {
    default_to(port, "protocol", "TCP");
    let is_unset = |target: &Value| target.as_i64() == Some(0) || target.as_str() == Some("");
    if port.get("targetPort").is_none_or(is_unset) {
        port["targetPort"] = number(port, "/port").unwrap_or_default().into();
    }
}
