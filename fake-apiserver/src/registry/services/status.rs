//! The status of services.
//!
//! Follows `ValidateServiceStatusUpdate` and `ValidateLoadBalancerStatus` of `pkg/apis/core/validation/validation.go`, and
//! `serviceStatusStrategy` of `pkg/registry/core/service/strategy.go` (v1.37.1).

use super::spec::type_of;
use crate::error::{Errors, Path};
use crate::object::{ip, name};
use crate::registry::context::Context;
use crate::registry::{items, text};
use tree::Value;

const INGRESS: &str = "/status/loadBalancer/ingress";
const AT: Path<'_> = Path::new("status.loadBalancer.ingress");

pub(super) fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let ingresses = items(new, INGRESS);
    if type_of(new) != "LoadBalancer" && !ingresses.is_empty() {
        errors.forbidden(AT, "may only be used when `spec.type` is 'LoadBalancer'");
        return;
    }
    let existing = old.map(|old| items(old, INGRESS)).unwrap_or_default();
    let existing: Vec<&str> = existing.iter().map(|ingress| text(ingress, "/ip")).filter(|ip| !ip.is_empty()).collect();
    for (index, ingress) in ingresses.iter().enumerate() {
        validate_ingress(AT.index(index), ingress, &existing, errors);
    }
}

fn validate_ingress(at: Path<'_>, ingress: &Value, existing: &[&str], errors: &mut Errors) {
    let (address, hostname) = (text(ingress, "/ip"), text(ingress, "/hostname"));
    if !address.is_empty() {
        ip::address(at.child("ip"), address, existing, errors);
    }
    let mode = ingress.get("ipMode").and_then(Value::as_str);
    match mode {
        None if !address.is_empty() => errors.required(at.child("ipMode"), "must be specified when `ip` is set"),
        Some(_) if address.is_empty() => {
            errors.forbidden(at.child("ipMode"), "may not be specified when `ip` is not set");
        }
        Some(mode) => errors.supported(at.child("ipMode"), mode, &["Proxy", "VIP"]),
        None => {}
    }
    if !hostname.is_empty() {
        errors.invalid_each(at.child("hostname"), hostname, name::dns_subdomain(hostname));
        if ip::parse(hostname).is_some() {
            errors.invalid(at.child("hostname"), hostname, "must be a DNS name, not an IP address");
        }
    }
}

pub(super) fn warnings(_: &Context<'_>, new: &Value, _: Option<&Value>) -> Vec<String> {
    let ingresses = items(new, INGRESS).iter().enumerate();
    let warning = |(index, ingress)| ip::address_warning(&AT.index(index).to_string(), text(ingress, "/ip"));
    ingresses.filter_map(warning).collect()
}
