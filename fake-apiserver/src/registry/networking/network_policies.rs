//! Network policies.
//!
//! Follows `pkg/registry/networking/networkpolicy/strategy.go`, `ValidateNetworkPolicy` and `ValidateNetworkPolicyUpdate` of
//! `pkg/apis/networking/validation/validation.go`, `pkg/apis/networking/v1/defaults.go` and `printNetworkPolicy` of
//! `pkg/printers/internalversion/printers.go` (v1.37.1).

use crate::error::Errors;
use crate::object::ip::{self, Cidr};
use crate::object::selector::validate_structured_update;
use crate::registry::columns::label_selector;
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::defaults::Fill::OptionalText;
use crate::registry::defaults::fill;
use crate::registry::rules::{Rules, Strategy};
use crate::registry::types::{port_name, port_number};
use crate::registry::{child, items};
use tree::{Value, json};

/// The directions of rules, and the field for the peers of each.
const DIRECTIONS: [(&str, &str); 2] = [("ingress", "from"), ("egress", "to")];
/// The types of policies.
const TYPES: [&str; 2] = ["Ingress", "Egress"];

pub(in crate::registry) const RULES: Rules = Rules {
    owns_generation: true,
    counts_empties: true,
    cells: &[("Pod-Selector", |policy, _| label_selector(policy["spec"].get("podSelector")).into())],
    strategy: Strategy { default, validate, warnings, ..Strategy::NONE },
    ..Rules::ORDINARY
};

fn at(policy: &Value) -> At<'static, '_> {
    At::object(policy, "networking.k8s.io/v1", "NetworkPolicy")
}

/// The old policy, as far as a new one may keep what is wrong with it.
struct Before<'v> {
    selector: Option<&'v Value>,
    cidrs: Vec<&'v str>,
}

fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let policy = at(new);
    let spec = policy.field("spec");
    let mut before = Before { selector: old.map(|old| &old["spec"]["podSelector"]), cidrs: Vec::new() };
    if let Some(old) = old {
        blocks(at(old), |block| before.cidrs.extend(cidrs(block)));
    }
    selector(spec.field("podSelector"), &before, errors);
    for (direction, peers) in DIRECTIONS {
        for rule in spec.field(direction).items() {
            rule.field("ports").items().for_each(|port| self::port(port, errors));
            rule.field(peers).items().for_each(|peer| self::peer(peer, &before, errors));
        }
    }
    let types = spec.field("policyTypes");
    if types.len() > TYPES.len() {
        return types.invalid("may not specify more than two policyTypes", errors);
    }
    types.items().for_each(|type_| type_.supported(&TYPES, errors));
}

fn selector(selector: At<'_, '_>, before: &Before<'_>, errors: &mut Errors) {
    validate_structured_update(selector.path(), selector.value(), before.selector, errors);
}

/// `ValidateNetworkPolicyPort`.
fn port(at: At<'_, '_>, errors: &mut Errors) {
    let (port, end) = (at.field("port"), at.field("endPort"));
    at.field("protocol").supported(&["TCP", "UDP", "SCTP"], errors);
    match (port.value(), end.number()) {
        (Value::Null, Some(_)) => end.invalid("may not be specified when `port` is not specified", errors),
        (Value::Null, None) => {}
        (Value::String(name), last) => {
            if last.is_some() {
                end.invalid("may not be specified when `port` is non-numeric", errors);
            }
            errors.invalid_each(port.path(), name, port_name(name));
        }
        (number, last) => {
            let first = number.as_i64().unwrap_or_default();
            port_number(port.path(), first, errors);
            if last.is_some_and(|last| last < first) {
                end.invalid("must be greater than or equal to `port`", errors);
            }
            if let Some(last) = last {
                port_number(end.path(), last, errors);
            }
        }
    }
}

/// `ValidateNetworkPolicyPeer`.
fn peer(peer: At<'_, '_>, before: &Before<'_>, errors: &mut Errors) {
    let (pods, namespaces, block) = (peer.field("podSelector"), peer.field("namespaceSelector"), peer.field("ipBlock"));
    for selector in [pods, namespaces].into_iter().filter(At::is_set) {
        self::selector(selector, before, errors);
    }
    if block.is_set() {
        self::block(block, &before.cidrs, errors);
    }
    match (block.is_set(), pods.is_set() || namespaces.is_set()) {
        (false, false) => peer.required("must specify a peer", errors),
        (true, true) => peer.forbidden("may not specify both ipBlock and another peer", errors),
        _ => {}
    }
}

/// `ValidateIPBlock`.
fn block(block: At<'_, '_>, old: &[&str], errors: &mut Errors) {
    let cidr = block.field("cidr");
    if cidr.is_empty() {
        return errors.covered("", |errors| cidr.required("", errors));
    }
    ip::cidr(cidr.path(), cidr.text(), old, errors);
    let Some((_, range)) = Cidr::parse(cidr.text()) else { return };
    for except in block.field("except").items() {
        ip::cidr(except.path(), except.text(), old, errors);
        if Cidr::parse(except.text()).is_some_and(|(_, except)| !except.is_within(range)) {
            except.invalid("must be a strict subset of `cidr`", errors);
        }
    }
}

/// Calls `with` on all blocks of addresses of a policy.
fn blocks<'v>(policy: At<'_, 'v>, mut with: impl FnMut(At<'_, 'v>)) {
    for (direction, peers) in DIRECTIONS {
        for rule in policy.field("spec").field(direction).items() {
            for peer in rule.field(peers).items().filter(|peer| peer.field("ipBlock").is_set()) {
                with(peer.field("ipBlock"));
            }
        }
    }
}

/// The ranges of a block.
fn cidrs<'v>(block: At<'_, 'v>) -> Vec<&'v str> {
    let mut cidrs = vec![block.field("cidr").text()];
    cidrs.extend(block.field("except").items().map(|except| except.text()));
    cidrs
}

/// `networkPolicyWarnings`.
fn warnings(_: &Context<'_>, policy: &Value, _: Option<&Value>) -> Vec<String> {
    let mut warnings = Vec::new();
    blocks(at(policy), |block| {
        let mut warn = |cidr: At<'_, '_>| warnings.extend(ip::cidr_warnings(&cidr.path().to_string(), cidr.text()));
        warn(block.field("cidr"));
        block.field("except").items().for_each(warn);
    });
    warnings
}

/// `SetDefaults_NetworkPolicy` and `SetDefaults_NetworkPolicyPort`.
fn default(policy: &mut Value) {
    let spec = child(policy, "spec");
    if items(spec, "/policyTypes").is_empty() {
        *child(spec, "policyTypes") = match items(spec, "/egress").is_empty() {
            true => json!(["Ingress"]),
            false => json!(["Ingress", "Egress"]),
        };
    }
    fill(spec, &[("ingress|egress/*/ports/*", &[("protocol", OptionalText("TCP"))])]);
}
