//! `Probe` and `Lifecycle`: probes and hooks of a container.
//!
//! Follows `validateProbe` and `validateLifecycle` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::container_port::{port_name, port_number};
use crate::error::{Errors, Path};
use crate::registry::{items, number, text};
use tree::Value;

/// Rules for the probes of the container at the path.
pub(super) fn probes(at: Path<'_>, container: &Value, errors: &mut Errors) {
    for field in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(probe) = container.get(field) else { continue };
        let at = at.child(field);
        handler(at, probe, &["exec", "httpGet", "tcpSocket", "grpc"], errors);
        let counts = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];
        for count in counts {
            errors.not_negative(at.child(count), probe.get(count).and_then(Value::as_i64));
        }
        let threshold = number(probe, "/successThreshold").unwrap_or(1);
        if field != "readinessProbe" && threshold != 1 {
            errors.invalid(at.child("successThreshold"), threshold, "must be 1");
        }
    }
}

/// Rules for the hooks of a container in a pod with so many seconds to end.
pub(super) fn lifecycle(at: Path<'_>, lifecycle: &Value, grace_period: Option<i64>, errors: &mut Errors) {
    for hook in ["postStart", "preStop"] {
        if let Some(handlers) = lifecycle.get(hook) {
            handler(at.child(hook), handlers, &["exec", "httpGet", "tcpSocket", "sleep"], errors);
            let is_only = ["exec", "httpGet", "tcpSocket"].iter().all(|kind| handlers.get(kind).is_none());
            if let Some((sleep, grace_period)) = handlers.get("sleep").filter(|_| is_only).zip(grace_period) {
                let seconds = number(sleep, "/seconds").unwrap_or_default();
                if !(0..=grace_period).contains(&seconds) {
                    let why =
                        format!("must be non-negative and less than terminationGracePeriodSeconds ({grace_period})");
                    errors.invalid(at.child(hook).child("sleep"), seconds, why);
                }
            }
        }
    }
}

/// Exactly one of several handlers must be there, and be well formed.
fn handler(at: Path<'_>, handlers: &Value, known: &[&str], errors: &mut Errors) {
    let mut given = known.iter().filter_map(|kind| Some((*kind, handlers.get(kind)?)));
    let Some((kind, one)) = given.next() else {
        return errors.required(at, "must specify a handler type");
    };
    let here = at.child(kind);
    match kind {
        "exec" if items(one, "/command").is_empty() => errors.required(here.child("command"), ""),
        "httpGet" => {
            errors.set(here.child("path"), text(one, "/path"));
            port(here.child("port"), &one["port"], errors);
            errors.one_of(here.child("scheme"), text(one, "/scheme"), &["HTTP", "HTTPS"]);
        }
        "tcpSocket" | "grpc" => port(here.child("port"), &one["port"], errors),
        _ => {}
    }
    for (extra, _) in given {
        errors.forbidden(at.child(extra), "may not specify more than 1 handler type");
    }
}

/// A port by number or by name.
fn port(at: Path<'_>, port: &Value, errors: &mut Errors) {
    match port {
        Value::String(name) => errors.invalid_each(at, name, port_name(name)),
        number => port_number(at, number.as_i64().unwrap_or_default(), errors),
    }
}
