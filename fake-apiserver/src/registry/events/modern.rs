//! The same events in `events.k8s.io/v1`: other names for seven fields, and stricter rules.
//!
//! Follows `pkg/apis/events/v1/conversion.go`, and `ValidateEventCreate` and `ValidateEventUpdate` of
//! `pkg/apis/core/validation/events.go` (v1.37.1).

use super::text;
use super::validate::{self, is_timed};
use crate::error::{Errors, FieldError};
use crate::object::validate::{IMMUTABLE, MetaRules, NameRule, metadata, metadata_update};
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::fields::rename;
use crate::registry::rules::{Functions, VersionRules};
use tree::Value;

pub(super) const VERSION: VersionRules = VersionRules {
    conversion: Functions {
        to_storage: |event| rename(event, FIELDS.iter().map(|(modern, core)| (*modern, *core))),
        from_storage: |event| rename(event, FIELDS.iter().map(|(modern, core)| (*core, *modern))),
    },
    validate: Some(findings),
    ..VersionRules::same("events.k8s.io", "v1")
};

/// Fields with other names in the core group.
const FIELDS: &[(&str, &str)] = &[
    ("deprecatedCount", "count"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedSource", "source"),
    ("note", "message"),
    ("regarding", "involvedObject"),
    ("reportingController", "reportingComponent"),
];

/// The rules for metadata, which differ from those for events of the core group.
const META: MetaRules = MetaRules { namespaced: true, name_rule: NameRule::Subdomain, qualified_finalizers: true };

/// Fields that an update may not change: as stored, and as findings call them.
const FIXED: &[(&str, &str)] = &[
    ("involvedObject", "involvedObject"),
    ("reason", "reason"),
    ("message", "message"),
    ("source", "source"),
    ("firstTimestamp", "firstTimestamp"),
    ("lastTimestamp", "lastTimestamp"),
    ("count", "count"),
    ("type", "type"),
    ("eventTime", "eventTime"),
    ("action", "action"),
    ("related", "related"),
    ("reportingComponent", "reportingController"),
    ("reportingInstance", "reportingInstance"),
];

fn findings(_: &Context<'_>, event: &Value, old: Option<&Value>, errors: &mut Errors) {
    errors.extend(validate::validate(event, "reportingController"));
    errors.extend(old.map_or_else(|| created(event), |old| updated(event, old)));
}

/// The findings that `ValidateEventCreate` adds for this version.
fn created(event: &Value) -> Vec<FieldError> {
    let mut errors = metadata(event, &META);
    errors.extend(series(event));
    if !is_timed(event) {
        errors.push(FieldError::required("eventTime", ""));
    }
    let invalid = |field: &str, detail: String| FieldError::invalid(field, &"".into(), detail);
    let kind = text(event, "/type");
    if !matches!(kind, "Normal" | "Warning") {
        errors.push(invalid("type", format!("has invalid value: {kind}")));
    }
    for field in ["firstTimestamp", "lastTimestamp", "count", "source"] {
        if !is_zero(&event[field]) {
            errors.push(invalid(field, "needs to be unset".into()));
        }
    }
    errors
}

/// The findings that `ValidateEventUpdate` adds for this version.
fn updated(event: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = metadata_update(event, old, &META);
    if event.get("series") != old.get("series") {
        errors.extend(series(event));
    }
    let at = At::object(event, "v1", "Event");
    for (field, called) in FIXED {
        let (new, old) = (&event[field], &old[field]);
        if new != old && !(is_zero(new) && is_zero(old)) {
            let finding = FieldError::invalid(*called, new, IMMUTABLE);
            errors.push(finding.printed_as(at.field(field).printed()));
        }
    }
    errors
}

/// `validateV1EventSeries`.
fn series(event: &Value) -> Vec<FieldError> {
    let Some(series) = event.get("series") else { return Vec::new() };
    let mut errors = Vec::new();
    if series["count"].as_i64().unwrap_or_default() < 2 {
        errors.push(FieldError::invalid("series.count", &"".into(), "should be at least 2"));
    }
    if text(series, "/lastObservedTime").is_empty() {
        errors.push(FieldError::required("series.lastObservedTime", ""));
    }
    errors
}

/// Whether it is Go's zero value.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_i64() == Some(0),
        Value::Object(members) => members.values().all(is_zero),
        Value::Bool(_) | Value::Array(_) | Value::Raw(_) => false,
    }
}
