//! The fields of a service's spec, and what is meant by them together.

use crate::registry::{at, child, items, number, text};
use std::collections::BTreeSet;
use tree::{Map, Value};

/// The address of a service without one: `ClusterIPNone`.
pub(crate) const NONE: &str = "None";

/// `spec.type`.
pub(crate) fn type_of(service: &Value) -> &str {
    text(service, "/spec/type")
}

/// `spec.clusterIP`.
pub(crate) fn cluster_ip(service: &Value) -> &str {
    text(service, "/spec/clusterIP")
}

/// A list of texts in the spec.
pub(crate) fn texts<'v>(service: &'v Value, field: &str) -> Vec<&'v str> {
    let list = service.get("spec").and_then(|spec| spec.get(field)).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// `spec.clusterIPs`.
pub(crate) fn cluster_ips(service: &Value) -> Vec<&str> {
    texts(service, "clusterIPs")
}

/// `spec.ipFamilies`.
pub(crate) fn families(service: &Value) -> Vec<&str> {
    texts(service, "ipFamilies")
}

/// The list of texts in the spec as findings show it: Go's nil if there is none.
pub(crate) fn shown(service: &Value, field: &str) -> Value {
    let list = service.get("spec").and_then(|spec| spec.get(field));
    list.filter(|list| list.is_array()).cloned().unwrap_or_default()
}

/// `spec.ipFamilyPolicy`; "" if there is none.
pub(crate) fn family_policy(service: &Value) -> &str {
    text(service, "/spec/ipFamilyPolicy")
}

/// The family policy as findings show it.
pub(crate) fn shown_policy(service: &Value) -> Value {
    at(service, "/spec/ipFamilyPolicy").cloned().unwrap_or_default()
}

/// The distinct node ports of a service's ports.
pub(crate) fn node_ports(service: &Value) -> BTreeSet<i64> {
    let ports = items(service, "/spec/ports").iter().filter_map(|port| number(port, "/nodePort"));
    ports.filter(|port| *port != 0).collect()
}

/// `spec.healthCheckNodePort`, 0 if there is none.
pub(crate) fn health_check_node_port(service: &Value) -> i64 {
    number(service, "/spec/healthCheckNodePort").unwrap_or_default()
}

/// Whether the service is of a type that has cluster IPs, if only "None".
pub(crate) fn needs_cluster_ip(service: &Value) -> bool {
    type_of(service) != "ExternalName"
}

/// Whether its only cluster IP is "None".
pub(crate) fn is_headless(service: &Value) -> bool {
    cluster_ips(service) == [NONE]
}

/// `NeedsHealthCheck`.
pub(crate) fn needs_health_check(service: &Value) -> bool {
    type_of(service) == "LoadBalancer" && text(service, "/spec/externalTrafficPolicy") == "Local"
}

/// `ExternallyAccessible`.
pub(super) fn is_externally_accessible(service: &Value) -> bool {
    match type_of(service) {
        "LoadBalancer" | "NodePort" => true,
        "ClusterIP" => !items(service, "/spec/externalIPs").is_empty(),
        _ => false,
    }
}

/// Sets a field of the spec.
pub(crate) fn set_spec(service: &mut Value, field: &str, value: impl Into<Value>) {
    let spec = child(service, "spec");
    if !spec.is_object() {
        *spec = Value::Object(Map::new());
    }
    spec[field] = value.into();
}
