//! What is wrong with a container's probes and hooks, and with ports wherever they are named.
//!
//! Follows `validateProbe` and `validateLifecycle` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::validate::{Findings, one_of, required};
use crate::error::FieldError;
use crate::object::validate::objections;
use crate::registry::{items, text};
use serde_json::Value;

/// `IsValidPortNum`.
pub(super) fn port_number(path: String, number: i64) -> Option<FieldError> {
    let ok = (1..=65535).contains(&number);
    (!ok).then(|| FieldError::invalid(path, &number.into(), "must be between 1 and 65535, inclusive"))
}

/// `IsValidPortName`.
pub(super) fn port_name(text: &str) -> Vec<String> {
    let rules = [
        (text.len() > 15, "must be no more than 15 characters"),
        (
            !text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
        ),
        (!text.bytes().any(|byte| byte.is_ascii_lowercase()), "must contain at least one letter (a-z)"),
        (text.contains("--"), "must not contain consecutive hyphens"),
        (text.starts_with('-') || text.ends_with('-'), "must not begin or end with a hyphen"),
    ];
    rules.into_iter().filter(|(broken, _)| *broken).map(|(_, objection)| objection.into()).collect()
}

/// The probes of a container.
pub(super) fn probes(errors: &mut Findings, path: &str, container: &Value) {
    for field in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(probe) = container.get(field) else { continue };
        let path = format!("{path}.{field}");
        handler(errors, &path, probe, &["exec", "httpGet", "tcpSocket", "grpc"]);
        let counts = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];
        for (count, value) in counts.iter().filter_map(|count| Some((count, probe.get(count)?))) {
            if value.as_i64() < Some(0) {
                let detail = "must be greater than or equal to 0";
                errors.push(FieldError::invalid(format!("{path}.{count}"), value, detail));
            }
        }
        let threshold = probe.get("successThreshold").and_then(Value::as_i64).unwrap_or(1);
        if field != "readinessProbe" && threshold != 1 {
            errors.push(FieldError::invalid(format!("{path}.successThreshold"), &threshold.into(), "must be 1"));
        }
    }
}

/// The hooks of a container.
pub(super) fn lifecycle(errors: &mut Findings, path: &str, container: &Value) {
    for hook in ["postStart", "preStop"] {
        if let Some(handlers) = container.get("lifecycle").and_then(|lifecycle| lifecycle.get(hook)) {
            handler(errors, &format!("{path}.lifecycle.{hook}"), handlers, &["exec", "httpGet", "tcpSocket", "sleep"]);
        }
    }
}

/// Exactly one of several handlers must be there, and be well formed.
fn handler(errors: &mut Findings, path: &str, handlers: &Value, known: &[&str]) {
    let mut given = known.iter().filter_map(|kind| Some((*kind, handlers.get(kind)?)));
    let Some((kind, one)) = given.next() else {
        errors.push(FieldError::required(path, "must specify a handler type"));
        return;
    };
    let at = format!("{path}.{kind}");
    match kind {
        "exec" if items(one, "/command").is_empty() => {
            errors.push(FieldError::required(format!("{at}.command"), ""));
        }
        "httpGet" => {
            required(errors, format!("{at}.path"), text(one, "/path"));
            port(errors, format!("{at}.port"), one);
            one_of(errors, format!("{at}.scheme"), text(one, "/scheme"), &["HTTP", "HTTPS"]);
        }
        "tcpSocket" | "grpc" => port(errors, format!("{at}.port"), one),
        _ => {}
    }
    for (extra, _) in given {
        errors.push(FieldError::forbidden(format!("{path}.{extra}"), "may not specify more than 1 handler type"));
    }
}

/// A port by number or by name.
fn port(errors: &mut Findings, path: String, holder: &Value) {
    match holder.get("port") {
        Some(Value::String(name)) => errors.extend(objections(&path, name, port_name(name))),
        number => errors.extend(port_number(path, number.and_then(Value::as_i64).unwrap_or_default())),
    }
}
