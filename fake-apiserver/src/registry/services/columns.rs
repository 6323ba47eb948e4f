//! The cells of services in tables.
//!
//! Follows `printService` of `pkg/printers/internalversion/printers.go` (v1.37.1).

use crate::registry::columns::{or, text_map};
use crate::registry::rules::Cell;
use crate::registry::{items, number, text};
use std::collections::BTreeSet;
use tree::Value;

/// The addresses and names of a load balancer, each once and sorted (`loadBalancerStatusStringer`).
fn load_balancer(service: &Value) -> impl Iterator<Item = &str> {
    let ingress = items(service, "/status/loadBalancer/ingress").iter();
    let names = ingress.map(|ingress| or(text(ingress, "/ip"), text(ingress, "/hostname")));
    names.filter(|name| !name.is_empty()).collect::<BTreeSet<_>>().into_iter()
}

/// `getServiceExternalIP`.
fn external_ip(service: &Value) -> String {
    let external = || items(service, "/spec/externalIPs").iter().filter_map(Value::as_str);
    let joined = |texts: Vec<&str>, none: &str| if texts.is_empty() { none.into() } else { texts.join(",") };
    match text(service, "/spec/type") {
        "ClusterIP" | "NodePort" => joined(external().collect(), "<none>"),
        "LoadBalancer" => joined(load_balancer(service).chain(external()).collect(), "<pending>"),
        "ExternalName" => text(service, "/spec/externalName").into(),
        _ => "<unknown>".into(),
    }
}

/// `makePortString`.
fn ports(service: &Value) -> String {
    let ports = items(service, "/spec/ports").iter().map(|port| {
        let (own, protocol) = (number(port, "/port").unwrap_or_default(), text(port, "/protocol"));
        match number(port, "/nodePort").filter(|node_port| *node_port > 0) {
            Some(node_port) => format!("{own}:{node_port}/{protocol}"),
            None => format!("{own}/{protocol}"),
        }
    });
    ports.collect::<Vec<_>>().join(",")
}

pub(super) const CELLS: &[(&str, Cell)] = &[
    ("Type", |service, _| text(service, "/spec/type").into()),
    ("Cluster-IP", |service, _| items(service, "/spec/clusterIPs").first().cloned().unwrap_or("<none>".into())),
    ("External-IP", |service, _| external_ip(service).into()),
    ("Port(s)", |service, _| or(&ports(service), "<none>").into()),
    ("Selector", |service, _| text_map(&service["spec"]["selector"]).into()),
];
