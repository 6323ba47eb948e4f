//! The status of services.
//!
//! Follows `ValidateServiceStatusUpdate` and `ValidateLoadBalancerStatus` of `pkg/apis/core/validation/validation.go`, and
//! `serviceStatusStrategy` of `pkg/registry/core/service/strategy.go` (v1.37.1).

use super::spec::type_of;
use crate::error::{Errors, Path};
use crate::registry::context::Context;
use crate::registry::types::{load_balancer_address, load_balancer_hostname};
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
    for (index, ingress) in ingresses.iter().enumerate() {
        validate_ingress(AT.index(index), ingress, old, errors);
    }
}

fn validate_ingress(at: Path<'_>, ingress: &Value, old: Option<&Value>, errors: &mut Errors) {
    load_balancer_address(at, ingress, old, errors);
    let has_address = !text(ingress, "/ip").is_empty();
    match ingress.get("ipMode").and_then(Value::as_str) {
        None if has_address => errors.required(at.child("ipMode"), "must be specified when `ip` is set"),
        Some(_) if !has_address => {
            errors.forbidden(at.child("ipMode"), "may not be specified when `ip` is not set");
        }
        Some(mode) => errors.supported(at.child("ipMode"), mode, &["Proxy", "VIP"]),
        None => {}
    }
    load_balancer_hostname(at, ingress, errors);
}
