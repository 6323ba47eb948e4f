//! `Probe` and `Lifecycle`: probes and hooks of a container.
//!
//! Follows `validateProbe` and `validateLifecycle` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::container_port::{port_name, port_number};
use crate::error::Errors;
use crate::registry::cursor::At;
use tree::Value;

/// Rules for the probes of a container.
pub(super) fn probes(container: &At<'_, '_>, errors: &mut Errors) {
    for field in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let probe = container.field(field);
        if !probe.is_set() {
            continue;
        }
        handler(&probe, &["exec", "httpGet", "tcpSocket", "grpc"], errors);
        let counts = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];
        counts.iter().for_each(|count| probe.field(count).not_negative(errors));
        let threshold = probe.field("successThreshold");
        if field != "readinessProbe" && threshold.number().is_some_and(|threshold| threshold != 1) {
            threshold.invalid("must be 1", errors);
        }
    }
}

/// Rules for the hooks of a container in a pod with so many seconds to end.
pub(super) fn lifecycle(lifecycle: At<'_, '_>, grace_period: Option<i64>, errors: &mut Errors) {
    for hook in ["postStart", "preStop"] {
        let handlers = lifecycle.field(hook);
        if !handlers.is_set() {
            continue;
        }
        handler(&handlers, &["exec", "httpGet", "tcpSocket", "sleep"], errors);
        let is_only = ["exec", "httpGet", "tcpSocket"].iter().all(|kind| !handlers.field(kind).is_set());
        let sleep = handlers.field("sleep");
        if let Some(grace_period) = grace_period.filter(|_| is_only && sleep.is_set()) {
            let seconds = sleep.field("seconds").number().unwrap_or_default();
            if !(0..=grace_period).contains(&seconds) {
                let why = format!("must be non-negative and less than terminationGracePeriodSeconds ({grace_period})");
                sleep.invalid_value(seconds, why, errors);
            }
        }
    }
}

/// Exactly one of several handlers must be there, and be well formed.
fn handler(handlers: &At<'_, '_>, known: &[&str], errors: &mut Errors) {
    let mut given = known.iter().filter(|kind| handlers.field(kind).is_set());
    let Some(kind) = given.next() else {
        return handlers.required("must specify a handler type", errors);
    };
    let one = handlers.field(kind);
    match *kind {
        "exec" => one.field("command").set(errors),
        "httpGet" => {
            one.field("path").set(errors);
            port(one.field("port"), errors);
            one.field("scheme").one_of(&["HTTP", "HTTPS"], errors);
            http_headers(&one.field("httpHeaders"), errors);
        }
        "tcpSocket" | "grpc" => port(one.field("port"), errors),
        _ => {}
    }
    for extra in given {
        handlers.field(extra).forbidden("may not specify more than 1 handler type", errors);
    }
}

/// The headers of a request, each of which has a name (`IsHTTPHeaderName`). Errors are about all of them together.
fn http_headers(headers: &At<'_, '_>, errors: &mut Errors) {
    let why = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is \
        '[-A-Za-z0-9]+')";
    for header in headers.items() {
        let name = header.field("name");
        let is_name =
            |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_name(name.text()) {
            headers.invalid_value(name.text(), why, errors);
        }
    }
}

/// A port by number or by name.
fn port(port: At<'_, '_>, errors: &mut Errors) {
    match port.value() {
        Value::String(_) => port.follows(port_name, errors),
        number => port_number(port.path(), number.as_i64().unwrap_or_default(), errors),
    }
}
