//! Endpoints.
//!
//! Follows `pkg/registry/core/endpoint/strategy.go`, `ValidateEndpoints` of `pkg/apis/core/validation/validation.go`,
//! `SetDefaults_Endpoints` of `pkg/apis/core/v1/defaults.go` and `formatEndpoints` of `pkg/printers/internalversion/printers.go`
//! (v1.37.1).

use super::context::Context;
use super::cursor::At;
use super::rules::{Rules, Strategy};
use super::types::{endpoint_ip, port_number, visit};
use super::{default_to, items, number, text};
use crate::error::{Errors, Path};
use crate::object::{ip, meta, name};
use tree::Value;

pub(super) const RULES: Rules = Rules {
    create_on_update: true,
    deprecation: Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"),
    cells: &[("Endpoints", |endpoints, _| addresses(endpoints).into())],
    strategy: Strategy { default, validate, warnings, ..Strategy::NONE },
    ..Rules::ORDINARY
};

/// The lists of addresses of a subset.
const ADDRESSES: [&str; 2] = ["addresses", "notReadyAddresses"];
/// The label and its value by which the controller of endpoints tells its own, which are not warned about.
const MANAGED_BY: (&str, &str) = ("endpoints.kubernetes.io/managed-by", "endpoint-controller");

/// `ValidateEndpoints`: subsets that stay as they were are not judged.
fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let at = |endpoints| At::object(endpoints, "v1", "Endpoints");
    let endpoints = at(new);
    let subsets = endpoints.field("subsets");
    if !old.map(at).is_some_and(|old| subsets.equals(&old.field("subsets"))) {
        subsets.items().for_each(|one| subset(one, errors));
    }
}

fn subset(subset: At<'_, '_>, errors: &mut Errors) {
    if ADDRESSES.iter().all(|list| subset.field(list).is_empty()) {
        subset.required("must specify `addresses` or `notReadyAddresses`", errors);
    }
    for list in ADDRESSES {
        subset.field(list).items().for_each(|one| address(one, errors));
    }
    let ports = subset.field("ports");
    ports.items().for_each(|one| port(one, ports.len() > 1, errors));
}

/// `validateEndpointAddress`.
fn address(address: At<'_, '_>, errors: &mut Errors) {
    let (own, node) = (address.field("ip"), address.field("nodeName"));
    ip::address(own.path(), own.text(), &[], errors);
    address.field("hostname").optional(name::dns_label, errors);
    if node.is_set() {
        node.follows(name::dns_subdomain, errors);
    }
    endpoint_ip(own.path(), own.text(), errors);
}

/// `validateEndpointPort`.
fn port(port: At<'_, '_>, is_named: bool, errors: &mut Errors) {
    let (name, number, protocol) = (port.field("name"), port.field("port"), port.field("appProtocol"));
    match is_named {
        true => name.required_by(name::dns_label, errors),
        false => name.optional(name::dns_label, errors),
    }
    port_number(number.path(), number.number().unwrap_or_default(), errors);
    port.field("protocol").one_of(&["SCTP", "TCP", "UDP"], errors);
    if protocol.is_set() {
        protocol.follows(name::label_key, errors);
    }
}

/// Warnings about addresses in unusual forms (`endpointsWarnings`).
fn warnings(_: &Context<'_>, endpoints: &Value, _: Option<&Value>) -> Vec<String> {
    if meta::labels(endpoints).get(MANAGED_BY.0) == Some(MANAGED_BY.1) {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    for (index, subset) in items(endpoints, "/subsets").iter().enumerate() {
        let subsets = Path::new("subsets");
        let at = subsets.index(index);
        for list in ADDRESSES {
            for (index, address) in subset[list].as_array().into_iter().flatten().enumerate() {
                let at = at.item(list, index);
                warnings.extend(ip::address_warning(&at.child("ip").to_string(), text(address, "/ip")));
            }
        }
    }
    warnings
}

/// `SetDefaults_Endpoints`.
fn default(endpoints: &mut Value) {
    visit(endpoints, "subsets/*/ports/*", &mut |port| default_to(port, "protocol", "TCP"));
}

/// The most addresses that a cell shows.
const SHOWN: usize = 3;

/// `formatEndpoints`: each address with each port, or alone where there are none.
fn addresses(endpoints: &Value) -> String {
    let subsets = items(endpoints, "/subsets");
    if subsets.is_empty() {
        return "<none>".into();
    }
    let mut all = Vec::new();
    for subset in subsets {
        let ips = || items(subset, "/addresses").iter().map(|address| text(address, "/ip"));
        match items(subset, "/ports") {
            [] => all.extend(ips().map(String::from)),
            ports => ports.iter().for_each(|port| all.extend(ips().map(|ip| host_port(ip, port)))),
        }
    }
    let shown = all[..all.len().min(SHOWN)].join(",");
    match all.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} + {more} more..."),
    }
}

/// `net.JoinHostPort`.
fn host_port(ip: &str, port: &Value) -> String {
    let port = number(port, "/port").unwrap_or_default();
    if ip.contains(':') { format!("[{ip}]:{port}") } else { format!("{ip}:{port}") }
}
