//! The points at which load balancers are reached, in the status of a service or an ingress.
//!
//! Follows what `ValidateLoadBalancerStatus` of `pkg/apis/core/validation/validation.go` and
//! `ValidateIngressLoadBalancerStatus` of `pkg/apis/networking/validation/validation.go` have in common (v1.37.1).

use crate::error::{Errors, Path};
use crate::object::{ip, name};
use crate::registry::{items, text};
use tree::Value;

const POINTS: &str = "/status/loadBalancer/ingress";

/// Rules for the address of a point; those that the `old` object has are not judged.
pub(in crate::registry) fn load_balancer_address(
    at: Path<'_>,
    point: &Value,
    old: Option<&Value>,
    errors: &mut Errors,
) {
    let existing = old.map(|old| items(old, POINTS)).unwrap_or_default();
    let existing: Vec<&str> = existing.iter().map(|point| text(point, "/ip")).collect();
    let address = text(point, "/ip");
    if !address.is_empty() {
        ip::address(at.child("ip"), address, &existing, errors);
    }
}

/// Rules for the name of the host of a point.
pub(in crate::registry) fn load_balancer_hostname(at: Path<'_>, point: &Value, errors: &mut Errors) {
    let hostname = text(point, "/hostname");
    errors.optional(at.child("hostname"), hostname, name::dns_subdomain);
    if ip::parse(hostname).is_some() {
        errors.invalid(at.child("hostname"), hostname, "must be a DNS name, not an IP address");
    }
}

/// Warnings about the addresses of all points of an object.
pub(in crate::registry) fn load_balancer_warnings(object: &Value) -> Vec<String> {
    let at = Path::new("status.loadBalancer.ingress");
    let points = items(object, POINTS).iter().enumerate();
    points.filter_map(|(index, point)| ip::address_warning(&at.index(index).to_string(), text(point, "/ip"))).collect()
}
