//! Validation of endpoint slices.
//!
//! Follows `pkg/apis/discovery/validation/validation.go`, and `IsValidIP` and `IsFullyQualifiedDomainName` of
//! `k8s.io/apimachinery/pkg/util/validation` (v0.37.1).

use crate::error::{Errors, FieldError};
use crate::object::{ip, name};
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::types::{endpoint_ip, labels};
use std::collections::HashSet;
use tree::Value;

/// `maxEndpoints`.
const MOST_ENDPOINTS: usize = 1000;
/// `maxAddresses`.
const MOST_ADDRESSES: usize = 100;
/// `maxPorts`.
const MOST_PORTS: usize = 20_000;
/// `maxTopologyLabels`.
const MOST_LABELS: usize = 16;
/// `maxZoneHints` and `maxNodeHints`.
const MOST_HINTS: usize = 8;
/// `LabelTopologyZone`, for which the endpoint has a field.
const ZONE: &str = "topology.kubernetes.io/zone";

/// The cursor at an endpoint slice.
pub(super) fn at(slice: &Value) -> At<'static, '_> {
    At::object(slice, "discovery.k8s.io/v1", "EndpointSlice")
}

/// `ValidateEndpointSlice` and `ValidateEndpointSliceUpdate`: endpoints that stay as they were are not judged.
pub(super) fn slice(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let (slice, old) = (at(new), old.map(at));
    let (type_, endpoints) = (slice.field("addressType"), slice.field("endpoints"));
    errors.covered("", |errors| type_.one_of(&["FQDN", "IPv4", "IPv6"], errors));
    ports(slice.field("ports"), errors);
    if !old.is_some_and(|old| endpoints.equals(&old.field("endpoints"))) {
        match too_many(endpoints, MOST_ENDPOINTS) {
            Some(error) => errors.push(error),
            None => endpoints.items().for_each(|one| endpoint(one, type_.text(), errors)),
        }
    }
    if let Some(old) = old {
        errors.covered("immutable", |errors| type_.immutable(&old.field("addressType"), errors));
    }
}

fn too_many(list: At<'_, '_>, most: usize) -> Option<FieldError> {
    (list.len() > most).then(|| FieldError::too_many(list.path(), list.len(), most))
}

/// `validatePorts`.
fn ports(ports: At<'_, '_>, errors: &mut Errors) {
    if let Some(error) = too_many(ports, MOST_PORTS) {
        return errors.push(error);
    }
    let mut names = HashSet::new();
    for port in ports.items() {
        let (name, protocol) = (port.field("name"), port.field("appProtocol"));
        name.optional(name::dns_label, errors);
        if !names.insert(name.text()) {
            name.duplicate(errors);
        }
        port.field("protocol").supported(&["SCTP", "TCP", "UDP"], errors);
        if protocol.is_set() {
            protocol.follows(name::label_key, errors);
        }
    }
}

fn endpoint(endpoint: At<'_, '_>, type_: &str, errors: &mut Errors) {
    let addresses = endpoint.field("addresses");
    match too_many(addresses, MOST_ADDRESSES) {
        _ if addresses.is_empty() => {
            errors.covered("", |errors| addresses.required("must contain at least 1 address", errors));
        }
        Some(error) => errors.push(error.with_origin("maxItems").covered()),
        None => {}
    }
    addresses.items().for_each(|one| address(one, addresses, type_, errors));
    let node = endpoint.field("nodeName");
    if node.is_set() {
        node.follows(name::dns_subdomain, errors);
    }
    topology(endpoint.field("deprecatedTopology"), errors);
    let hostname = endpoint.field("hostname");
    if hostname.is_set() {
        hostname.follows(name::dns_label, errors);
    }
    hints(endpoint.field("hints"), errors);
}

/// Rules for an address of a list. Upstream does not say which one is of the other family.
fn address(address: At<'_, '_>, list: At<'_, '_>, type_: &str, errors: &mut Errors) {
    let before = errors.len();
    match type_ {
        "IPv4" => ip::address(address.path(), address.text(), &[], errors),
        "IPv6" => ip::canonical_address(address.path(), address.text(), errors),
        "FQDN" => return qualified(address, errors),
        _ => return,
    }
    if errors.len() > before {
        return;
    }
    if ip::parse(address.text()).is_some_and(|ip| ip.is_ipv6() != (type_ == "IPv6")) {
        list.invalid_value(address.text(), format!("must be an {type_} address"), errors);
    }
    endpoint_ip(address.path(), address.text(), errors);
}

/// `IsFullyQualifiedDomainName`.
fn qualified(address: At<'_, '_>, errors: &mut Errors) {
    if address.is_empty() {
        return address.required("", errors);
    }
    let domain = address.text().strip_suffix('.').unwrap_or(address.text());
    let objections = name::dns_subdomain(domain);
    if !objections.is_empty() {
        return address.invalid_value(domain, objections.join(","), errors);
    }
    if !domain.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        return address.invalid_value(domain, detail, errors);
    }
    let mut labels = domain.split('.').map(|label| (label, name::dns_label(label)));
    if let Some((label, objections)) = labels.find(|(_, objections)| !objections.is_empty()) {
        address.invalid_value(label, objections.join(","), errors);
    }
}

fn topology(topology: At<'_, '_>, errors: &mut Errors) {
    errors.extend(too_many(topology, MOST_LABELS));
    labels(topology, errors);
    if topology.entries().any(|(key, _)| key == ZONE) {
        errors.push(FieldError::internal(topology.path().key(ZONE), "reserved key was not removed in conversion"));
    }
}

/// `validateHints`: nodes are not judged if there are too many zones.
fn hints(hints: At<'_, '_>, errors: &mut Errors) {
    names(hints.field("forZones"), name::label_value, errors);
    if hints.field("forZones").len() <= MOST_HINTS {
        names(hints.field("forNodes"), name::dns_subdomain, errors);
    }
}

/// Rules for the names of a list of hints, which are unique.
fn names(list: At<'_, '_>, rule: fn(&str) -> Vec<String>, errors: &mut Errors) {
    if let Some(error) = too_many(list, MOST_HINTS) {
        return errors.push(error);
    }
    let mut names = HashSet::new();
    for hint in list.items() {
        let name = hint.field("name");
        if !names.insert(name.text()) {
            name.duplicate(errors);
        }
        name.follows(rule, errors);
    }
}
