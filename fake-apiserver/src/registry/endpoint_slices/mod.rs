//! Endpoint slices.
//!
//! Follows `pkg/registry/discovery/endpointslice/strategy.go`, `pkg/apis/discovery/validation/validation.go`,
//! `SetDefaults_EndpointPort` of `pkg/apis/discovery/v1/defaults.go` and `printEndpointSlice` of
//! `pkg/printers/internalversion/printers.go` (v1.37.1).

mod validate;

use crate::error::Path;
use crate::object::{ip, meta, name};
use crate::registry::context::Context;
use crate::registry::defaults::Fill::OptionalText;
use crate::registry::defaults::{fill, visit};
use crate::registry::rules::{Rules, Strategy};
use crate::registry::{items, number, text};
use tree::Value;

pub(in crate::registry) const RULES: Rules = Rules {
    owns_generation: true,
    labels_count: true,
    cells: &[
        ("AddressType", |slice, _| text(slice, "/addressType").into()),
        ("Ports", |slice, _| {
            first_three(items(slice, "/ports").iter().map(|port| match number(port, "/port") {
                Some(number) => number.to_string(),
                None => text(port, "/name").into(),
            }))
            .into()
        }),
        ("Endpoints", |slice, _| {
            let addresses = items(slice, "/endpoints").iter().flat_map(|endpoint| items(endpoint, "/addresses"));
            first_three(addresses.map(|address| address.as_str().unwrap_or_default().into())).into()
        }),
    ],
    strategy: Strategy {
        default: |slice| {
            fill(slice, &[("ports/*", &[("name", OptionalText("")), ("protocol", OptionalText("TCP"))])]);
        },
        prepare,
        validate: validate::slice,
        warnings,
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

/// `dropTopologyOnV1`: changed endpoints lose their topology, which only names the nodes of endpoints that have been in the slice.
fn prepare(_: &Context<'_>, slice: &mut Value, old: Option<&Value>) {
    const TOPOLOGY: &str = "deprecatedTopology";
    if old.is_some_and(|old| validate::at(slice).field("endpoints").equals(&validate::at(old).field("endpoints"))) {
        return;
    }
    let hostname = |endpoint: &Value| endpoint[TOPOLOGY]["kubernetes.io/hostname"].as_str().map(String::from);
    let before: Vec<String> =
        old.map(|old| items(old, "/endpoints")).unwrap_or_default().iter().filter_map(hostname).collect();
    visit(slice, "endpoints/*", &mut |endpoint| {
        let host = hostname(endpoint).filter(|host| before.contains(host) && name::dns_subdomain(host).is_empty());
        let Some(fields) = endpoint.as_object_mut() else { return };
        fields.remove(TOPOLOGY);
        if let Some(host) = host.filter(|_| !fields.contains_key("nodeName")) {
            fields.insert("nodeName".into(), host.into());
        }
    });
}

/// Warnings about a deprecated type of addresses in a new slice, and about addresses in unusual forms, but for those that
/// controllers write.
fn warnings(_: &Context<'_>, slice: &Value, old: Option<&Value>) -> Vec<String> {
    const ENDPOINTS: Path<'_> = Path::new("endpoints");
    const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
    const CONTROLLERS: [&str; 2] = ["endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"];
    let mut warnings = Vec::new();
    if old.is_none() && text(slice, "/addressType") == "FQDN" {
        warnings.push("spec.addressType: FQDN endpoints are deprecated".into());
    }
    if meta::labels(slice).get(MANAGED_BY).is_some_and(|controller| CONTROLLERS.contains(&controller)) {
        return warnings;
    }
    for (index, endpoint) in items(slice, "/endpoints").iter().enumerate() {
        let at = ENDPOINTS.index(index);
        for (index, address) in items(endpoint, "/addresses").iter().enumerate() {
            warnings.extend(ip::address_warning(&at.item("addresses", index).to_string(), text(address, "")));
        }
    }
    warnings
}

/// Up to three texts, and how many more there are (`listWithMoreString`).
fn first_three(texts: impl Iterator<Item = String>) -> String {
    const SHOWN: usize = 3;
    let texts: Vec<String> = texts.collect();
    let shown = texts[..texts.len().min(SHOWN)].join(",");
    match shown.as_str() {
        _ if texts.len() > SHOWN => format!("{shown} + {} more...", texts.len() - SHOWN),
        "" => "<unset>".into(),
        _ => shown,
    }
}
