//! The text of an event in one line, as it is in logs of the format `legacy` and in messages about events that are lost.
//!
//! Ports `pkg/audit/format.go` of `k8s.io/apiserver` (v0.37.1).

use super::event::Event;
use crate::schema::quote;
use jiff::fmt::temporal::DateTimePrinter;

/// The line, without a line feed (`EventString`). Times are in UTC.
pub(super) fn line(event: &Event) -> String {
    let origin = &event.origin;
    let user = origin.user.as_deref().filter(|user| !user.name.is_empty());
    let (user, groups) = match user {
        Some(user) if user.groups.is_empty() => (&*user.name, "<none>".to_owned()),
        Some(user) => (&*user.name, quoted(&user.groups)),
        None => ("<none>", "<none>".to_owned()),
    };
    let (acted, acted_groups) = match event.impersonated.as_ref().map(|impersonated| &impersonated.user) {
        Some(user) => (&*user.name, quoted(&user.groups)),
        None => ("<self>", "<lookup>".to_owned()),
    };
    let namespace = event.object.as_ref().map_or("", |object| &object.namespace);
    let ip = origin.source_ips.first().map_or_else(|| "<unknown>".to_owned(), ToString::to_string);
    let response = event.outcome.as_ref().map_or_else(|| "<deferred>".to_owned(), |outcome| outcome.code.to_string());
    let parts = [
        ("id", &*origin.audit_id),
        ("stage", event.stage.name()),
        ("ip", &ip),
        ("method", &origin.verb),
        ("user", user),
        ("groups", &groups),
        ("as", acted),
        ("asgroups", &acted_groups),
        ("user-agent", &origin.user_agent),
        ("namespace", if namespace.is_empty() { "<none>" } else { namespace }),
        ("uri", &origin.uri),
    ];
    let time = DateTimePrinter::new().timestamp_to_string(&origin.received);
    let parts: String = parts.iter().map(|(name, value)| format!(" {name}={}", quote(value))).collect();
    format!("{time} AUDIT:{parts} response=\"{response}\"")
}

/// `auditStringSlice`.
fn quoted(list: &[String]) -> String {
    list.iter().map(|item| quote(item)).collect::<Vec<_>>().join(",")
}
