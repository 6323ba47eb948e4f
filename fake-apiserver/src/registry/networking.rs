//! Ingresses and their classes, network policies, IP addresses and service CIDRs.
//!
//! Follows `pkg/registry/networking/*/strategy.go`, `pkg/apis/networking/v1/defaults.go` and
//! `pkg/printers/internalversion/printers.go` (v1.37.1).

use super::columns::{label_selector, since};
use super::context::Context;
use super::defaults::Fill::OptionalText;
use super::defaults::fill;
use super::rules::{Cell, NameRule, Rules, Strategy};
use super::{child, items, text};
use crate::object::meta;
use crate::schema::quote;
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use tree::{Value, json};

pub(super) const INGRESS_CLASS: Rules = Rules {
    owns_generation: true,
    cells: &[
        ("Name", |class, _| {
            let is_default = meta::annotations(class).get(DEFAULT_CLASS) == Some("true");
            format!("{}{}", meta::name(class), if is_default { " (default)" } else { "" }).into()
        }),
        ("Controller", |class, _| text(class, "/spec/controller").into()),
        ("Parameters", |class, _| parameters(class).into()),
    ],
    strategy: Strategy {
        default: |class| fill(class, &[("spec/parameters", &[("scope", OptionalText("Cluster"))])]),
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

pub(super) const INGRESS: Rules = Rules {
    owns_generation: true,
    cells: INGRESS_CELLS,
    strategy: Strategy { warnings: ingress_warnings, ..Strategy::NONE },
    ..Rules::ORDINARY
};

/// A new ingress ought to name its class in a field.
fn ingress_warnings(_: &Context<'_>, ingress: &Value, old: Option<&Value>) -> Vec<String> {
    const CLASS: &str = "kubernetes.io/ingress.class";
    let annotated = meta::annotations(ingress).get(CLASS).is_some();
    match old.is_none() && annotated && ingress["spec"].get("ingressClassName").is_none() {
        true => vec![format!("annotation {CLASS:?} is deprecated, please use 'spec.ingressClassName' instead")],
        false => Vec::new(),
    }
}

pub(super) const IP_ADDRESS: Rules = Rules {
    name_rule: NameRule::Of(|_, own| address_name(own)),
    cells: &[("ParentRef", |address, _| match address["spec"].get("parentRef") {
        None => "<none>".into(),
        Some(parent) => parent_ref(parent).into(),
    })],
    more_cells: &[|address, now| since(meta::creation_timestamp(address), now).into()],
    ..Rules::ORDINARY
};

pub(super) const NETWORK_POLICY: Rules = Rules {
    owns_generation: true,
    cells: &[("Pod-Selector", |policy, _| label_selector(policy["spec"].get("podSelector")).into())],
    strategy: Strategy { default: default_network_policy, ..Strategy::NONE },
    ..Rules::ORDINARY
};

pub(super) const SERVICE_CIDR: Rules = Rules {
    status_keeps_metadata: true,
    cells: &[("CIDRs", |cidr, _| {
        let cidrs: Vec<&str> = items(cidr, "/spec/cidrs").iter().filter_map(Value::as_str).collect();
        cidrs.join(",").into()
    })],
    ..Rules::ORDINARY
};

/// `AnnotationIsDefaultIngressClass`.
const DEFAULT_CLASS: &str = "ingressclass.kubernetes.io/is-default-class";

/// The parameters of a class: kind, group and name.
fn parameters(class: &Value) -> String {
    let Some(parameters) = class["spec"].get("parameters") else { return "<none>".into() };
    let group = parameters.get("apiGroup").and_then(Value::as_str).map(|group| format!(".{group}"));
    format!("{}{}/{}", text(parameters, "/kind"), group.unwrap_or_default(), text(parameters, "/name"))
}

/// The resource, the namespace and the name of an object that has an address.
fn parent_ref(parent: &Value) -> String {
    let resource = match (text(parent, "/resource"), text(parent, "/group")) {
        (resource, "") => resource.to_lowercase(),
        (resource, group) => format!("{resource}.{group}").to_lowercase(),
    };
    let namespace = match text(parent, "/namespace") {
        "" => String::new(),
        namespace => format!("/{namespace}"),
    };
    format!("{resource}{namespace}/{}", text(parent, "/name"))
}

const INGRESS_CELLS: &[(&str, Cell)] = &[
    ("Class", |ingress, _| ingress["spec"]["ingressClassName"].as_str().unwrap_or("<none>").into()),
    ("Hosts", |ingress, _| hosts(items(ingress, "/spec/rules")).into()),
    ("Address", |ingress, _| {
        let points = items(ingress, "/status/loadBalancer/ingress").iter();
        let addresses = points.map(|point| match text(point, "/ip") {
            "" => text(point, "/hostname"),
            ip => ip,
        });
        let addresses: BTreeSet<&str> = addresses.filter(|address| !address.is_empty()).collect();
        addresses.into_iter().collect::<Vec<_>>().join(",").into()
    }),
    ("Ports", |ingress, _| if items(ingress, "/spec/tls").is_empty() { "80".into() } else { "80, 443".into() }),
];

/// `formatHosts`: the first three hosts, and how many rules there are beyond three.
fn hosts(rules: &[Value]) -> String {
    const SHOWN: usize = 3;
    let mut hosts = Vec::new();
    let mut more = false;
    for rule in rules {
        more |= hosts.len() == SHOWN;
        match text(rule, "/host") {
            "" => {}
            host if !more => hosts.push(host),
            _ => {}
        }
    }
    match hosts.join(",") {
        none if none.is_empty() => "*".into(),
        shown if more => format!("{shown} + {} more...", rules.len() - SHOWN),
        shown => shown,
    }
}

/// `SetDefaults_NetworkPolicy` and `SetDefaults_NetworkPolicyPort`.
fn default_network_policy(policy: &mut Value) {
    let spec = child(policy, "spec");
    if items(spec, "/policyTypes").is_empty() {
        *child(spec, "policyTypes") = match items(spec, "/egress").is_empty() {
            true => json!(["Ingress"]),
            false => json!(["Ingress", "Egress"]),
        };
    }
    fill(spec, &[("ingress|egress/*/ports/*", &[("protocol", OptionalText("TCP"))])]);
}

/// `IsValidIP`: objections to a name that has to be an address, in the form in which Go prints it.
fn address_name(text: &str) -> Vec<String> {
    let objection = match text.parse::<IpAddr>() {
        Ok(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => {
            "must not be an IPv4-mapped IPv6 address".into()
        }
        Ok(address) if address.to_string() == text => return Vec::new(),
        Ok(address) => format!("must be in canonical form ({})", quote(&address.to_string())),
        Err(_) if has_leading_zeros(text) => "must not have leading 0s".into(),
        Err(_) => "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)".into(),
    };
    vec![objection]
}

/// Whether it would be an address without the zeros before the numbers of an IPv4 address (`ParseIPSloppy`).
fn has_leading_zeros(text: &str) -> bool {
    let number = |part: &str| match part.trim_start_matches('0') {
        "" if !part.is_empty() => "0".to_owned(),
        number => number.to_owned(),
    };
    text.split('.').map(number).collect::<Vec<_>>().join(".").parse::<Ipv4Addr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_one_form() {
        let table = [
            ("10.0.0.1", ""),
            ("fd00::1", ""),
            ("FD00::1", "must be in canonical form (\"fd00::1\")"),
            ("fd00:0::1", "must be in canonical form (\"fd00::1\")"),
            ("::ffff:10.0.0.1", "must not be an IPv4-mapped IPv6 address"),
            ("10.00.0.1", "must not have leading 0s"),
            ("10.0.0", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
            ("a", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
        ];
        for (text, objection) in table {
            assert_eq!(address_name(text).join(" "), objection, "{text}");
        }
    }
}
