//! Endpoints.
//!
//! Follows `pkg/registry/core/endpoint/strategy.go`, `SetDefaults_Endpoints` of `pkg/apis/core/v1/defaults.go` and
//! `formatEndpoints` of `pkg/printers/internalversion/printers.go` (v1.37.1).

use super::rules::{Rules, Strategy};
use super::types::visit;
use super::{default_to, items, number, text};
use tree::Value;

pub(super) const RULES: Rules = Rules {
    create_on_update: true,
    deprecation: Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"),
    cells: &[("Endpoints", |endpoints, _| addresses(endpoints).into())],
    strategy: Strategy { default, ..Strategy::NONE },
    ..Rules::ORDINARY
};

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
