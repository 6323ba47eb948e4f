//! Services. Their addresses and ports are allocated in `allocation/`, before the rules here see them.
//!
//! Follows `pkg/registry/core/service/strategy.go`, `SetDefaults_Service` of `pkg/apis/core/v1/defaults.go` and
//! `pkg/api/service/util.go` (v1.37.1).

mod addresses;
mod columns;
mod defaults;
mod spec;
mod status;
mod validation;
mod warnings;

use super::rules::{Allocator, NameRule, Rules, Strategy};
use super::types::load_balancer_warnings;
use super::{child, text};
use spec::is_externally_accessible;
use tree::{Map, Value};

pub(crate) use addresses::address_findings;
pub(crate) use spec::{
    NONE, cluster_ip, cluster_ips, families, family_policy, health_check_node_port, needs_cluster_ip,
    needs_health_check, node_ports, set_spec, shown, shown_policy, type_of,
};

pub(super) const RULES: Rules = Rules {
    name_rule: NameRule::Label,
    create_on_update: true,
    delete_returns_object: true,
    allocates: Some(Allocator::Service),
    subresources: &[
        ("proxy", Strategy::NONE),
        (
            "status",
            Strategy {
                default: defaults::default,
                validate: status::validate,
                warnings: |_, new, _| load_balancer_warnings(new),
                ..Strategy::NONE
            },
        ),
    ],
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
