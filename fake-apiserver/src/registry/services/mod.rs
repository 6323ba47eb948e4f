//! Services. Their addresses and ports are allocated in `allocation/`, before the rules here see them.
//!
//! Follows `pkg/registry/core/service/strategy.go`, `SetDefaults_Service` of `pkg/apis/core/v1/defaults.go` and
//! `pkg/api/service/util.go` (v1.37.1). Not ported: the subresource `proxy`.

mod addresses;
mod columns;
mod defaults;
mod status;
mod validation;
mod warnings;

use super::rules::{Allocator, NameRule, Rules, Strategy};
use super::{at, child, items, number, text};
use std::collections::BTreeSet;
use tree::{Map, Value};

pub(crate) use addresses::address_findings;

pub(super) const RULES: Rules = Rules {
    name_rule: NameRule::Label,
    create_on_update: true,
    delete_returns_object: true,
    allocates: Some(Allocator::Service),
    subresources: &[(
        "status",
        Strategy {
            default: defaults::default,
            validate: status::validate,
            warnings: status::warnings,
            ..Strategy::NONE
        },
    )],
    cells: columns::CELLS,
    strategy: Strategy {
        default: defaults::default,
        prepare: |_, new, old| prepare(new, old),
        validate: |_, new, old, errors| validation::validate(new, old, errors),
        warnings: |_, new, _| warnings::warnings(new),
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

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
fn is_externally_accessible(service: &Value) -> bool {
    match type_of(service) {
        "LoadBalancer" | "NodePort" => true,
        "ClusterIP" => !items(service, "/spec/externalIPs").is_empty(),
        _ => false,
    }
}

fn is_of_nodes(service: &Value) -> bool {
    matches!(type_of(service), "NodePort" | "LoadBalancer")
}

/// Removes fields of the spec.
fn clear(service: &mut Value, fields: &[&str]) {
    let Some(spec) = child(service, "spec").as_object_mut() else { return };
    for field in fields {
        spec.remove(*field);
    }
}

fn prepare(new: &mut Value, old: Option<&Value>) {
    if let Some(old) = old {
        drop_dependent(new, old);
    }
    // Every read of it drops the default that it once had (`defaultOnReadInternalTrafficPolicy`).
    let is_default = matches!(text(new, "/spec/internalTrafficPolicy"), "Cluster" | "Local");
    if type_of(new) == "ExternalName" && is_default {
        clear(new, &["internalTrafficPolicy"]);
    }
}

/// Drops the fields that the new type does not have, if the client did not change them (`dropTypeDependentFields`).
fn drop_dependent(new: &mut Value, old: &Value) {
    if needs_cluster_ip(old) && !needs_cluster_ip(new) {
        let same_ips = cluster_ip(old) == cluster_ip(new) && cluster_ips(old) == cluster_ips(new);
        let same_families = families(old) == families(new);
        let same_policy = family_policy(old) == family_policy(new);
        if same_ips {
            clear(new, &["clusterIP", "clusterIPs"]);
        }
        if same_families {
            clear(new, &["ipFamilies"]);
        }
        if same_policy {
            clear(new, &["ipFamilyPolicy"]);
        }
    }
    if is_of_nodes(old) && !is_of_nodes(new) && node_ports(old).is_superset(&node_ports(new)) {
        let ports = new.pointer_mut("/spec/ports").and_then(Value::as_array_mut);
        for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
            port.remove("nodePort");
        }
    }
    let same_check = health_check_node_port(old) == health_check_node_port(new);
    if needs_health_check(old) && !needs_health_check(new) && same_check {
        clear(new, &["healthCheckNodePort"]);
    }
    let same = |new: &Value, field: &str| old["spec"].get(field) == new["spec"].get(field);
    if type_of(old) == "LoadBalancer" && type_of(new) != "LoadBalancer" {
        for field in ["allocateLoadBalancerNodePorts", "loadBalancerClass"] {
            if same(new, field) {
                clear(new, &[field]);
            }
        }
    }
    let leaves = is_externally_accessible(old) && !is_externally_accessible(new);
    if leaves && same(new, "externalTrafficPolicy") {
        clear(new, &["externalTrafficPolicy"]);
    }
    if type_of(new) != "LoadBalancer" {
        child(new, "status")["loadBalancer"] = Value::Object(Map::new());
    }
}
