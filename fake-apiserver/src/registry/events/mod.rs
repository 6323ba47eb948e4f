//! Events of the core group, as they are stored. It has few rules for those without an `eventTime`.
//!
//! Follows `legacyValidateEvent` of `pkg/apis/core/validation/events.go` (v1.37.1).

mod modern;

use crate::error::FieldError;
use crate::object::{meta, name, validate as object};
use crate::registry::columns::since;
use crate::registry::rules::{Cell, NameRule, Rules, Strategy};
use crate::registry::text;
use jiff::Timestamp;
use tree::Value;

pub(super) const RULES: Rules = Rules {
    name_rule: NameRule::PathSegment,
    qualified_finalizers: false,
    create_on_update: true,
    fields: &[("source", |event| match text(event, "/source/component") {
        "" => text(event, "/reportingComponent").into(),
        component => component.into(),
    })],
    cells: CELLS,
    strategy: Strategy { validate: |_, event, _, errors| errors.extend(validate(event, REPORTER)), ..Strategy::NONE },
    versions: &[modern::VERSION],
    ..Rules::ORDINARY
};

/// The core group's field for the component that reports an event.
const REPORTER: &str = "reportingComponent";

const CELLS: &[(&str, Cell)] = &[
    ("Last Seen", |event, now| last_seen(event, now).into()),
    ("Type", |event, _| text(event, "/type").into()),
    ("Reason", |event, _| text(event, "/reason").into()),
    ("Object", |event, _| {
        let kind = text(event, "/involvedObject/kind").to_lowercase();
        match text(event, "/involvedObject/name") {
            "" => kind.into(),
            name => format!("{kind}/{name}").into(),
        }
    }),
    ("Subobject", |event, _| text(event, "/involvedObject/fieldPath").into()),
    ("Source", |event, _| source(event).into()),
    ("Message", |event, _| text(event, "/message").trim().into()),
    ("First Seen", |event, now| first_seen(event, now).into()),
    ("Count", |event, _| {
        let count = |of: &Value| of.get("count").and_then(Value::as_i64).unwrap_or_default();
        match (event.get("series"), count(event)) {
            (Some(series), _) => count(series).into(),
            (None, 0) => 1.into(),
            (None, count) => count.into(),
        }
    }),
];

fn first_seen(event: &Value, now: Timestamp) -> String {
    match text(event, "/firstTimestamp") {
        "" => since(text(event, "/eventTime"), now),
        first => since(first, now),
    }
}

fn last_seen(event: &Value, now: Timestamp) -> String {
    match (event.get("series"), text(event, "/lastTimestamp")) {
        (Some(_), _) => since(text(event, "/series/lastObservedTime"), now),
        (None, "") => first_seen(event, now),
        (None, last) => since(last, now),
    }
}

/// `formatEventSource`.
fn source(event: &Value) -> String {
    let first =
        |pointers: [&str; 2]| pointers.into_iter().map(|pointer| text(event, pointer)).find(|one| !one.is_empty());
    let component = first(["/source/component", "/reportingComponent"]).unwrap_or_default();
    match first(["/source/host", "/reportingInstance"]) {
        None => component.into(),
        Some(instance) => format!("{component}, {instance}"),
    }
}

/// Limits of `pkg/apis/core/validation/events.go`: field, most bytes, whether it must be set.
const LIMITS: &[(&str, usize, bool)] =
    &[("reportingInstance", 128, true), ("action", 128, true), ("reason", 128, true), ("message", 1024, false)];

/// `legacyValidateEvent`, with the reporter's field as in the version of the request.
fn validate(event: &Value, reporter_field: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let involved = text(event, "/involvedObject/namespace");
    let timed = is_timed(event);
    let agrees = match (involved, meta::namespace(event)) {
        ("", "default") => true,
        ("", "kube-system") => timed,
        ("", own) => !timed && own.is_empty(),
        (involved, own) => timed || involved == own,
    };
    if !agrees {
        let detail = "does not match event.namespace";
        errors.push(FieldError::invalid("involvedObject.namespace", &involved.into(), detail));
    }
    if !timed {
        return errors;
    }
    let reporter = text(event, "/reportingComponent");
    if reporter.is_empty() {
        errors.push(FieldError::required(reporter_field, ""));
    }
    errors.extend(object::invalid_each(reporter_field, reporter, name::label_key(reporter)));
    for (field, most, required) in LIMITS {
        let length = event.get(*field).and_then(Value::as_str).map_or(0, str::len);
        if length == 0 && *required {
            errors.push(FieldError::required(*field, ""));
        }
        if length > *most {
            errors.push(FieldError::invalid(*field, &"".into(), format!("can have at most {most} characters")));
        }
    }
    errors
}

fn is_timed(event: &Value) -> bool {
    !text(event, "/eventTime").is_empty()
}
