//! Events as they are stored, in the words of the core group, which asks for little unless they carry an `eventTime`.
//!
//! Follows `legacyValidateEvent` of `pkg/apis/core/validation/events.go` (v1.37.1).

mod modern;

use crate::error::FieldError;
use crate::object::{meta, name, validate as object};
use crate::registry::columns::{column, since};
use crate::registry::kind::{Column, FieldLabel, Kind, NameRule, Strategy};
use crate::registry::text;
use jiff::Timestamp;
use serde_json::Value;

pub(super) const KIND: Kind = Kind {
    resource: "events",
    singular: "event",
    kind: "Event",
    short_names: &["ev"],
    name_rule: NameRule::PathSegment,
    qualified_finalizers: false,
    create_on_update: true,
    field_labels: FIELD_LABELS,
    columns: COLUMNS,
    strategy: Strategy {
        validate: |event| validate(event, REPORTER),
        validate_update: |new, _| validate(new, REPORTER),
        ..Strategy::NONE
    },
    other_versions: &[modern::VERSION],
    ..Kind::ORDINARY
};

/// What core calls the component that reports an event.
const REPORTER: &str = "reportingComponent";

const FIELD_LABELS: &[FieldLabel] = &[
    FieldLabel { label: "involvedObject.kind", value: |event| text(event, "/involvedObject/kind").into() },
    FieldLabel { label: "involvedObject.namespace", value: |event| text(event, "/involvedObject/namespace").into() },
    FieldLabel { label: "involvedObject.name", value: |event| text(event, "/involvedObject/name").into() },
    FieldLabel { label: "involvedObject.uid", value: |event| text(event, "/involvedObject/uid").into() },
    FieldLabel { label: "involvedObject.apiVersion", value: |event| text(event, "/involvedObject/apiVersion").into() },
    FieldLabel {
        label: "involvedObject.resourceVersion",
        value: |event| text(event, "/involvedObject/resourceVersion").into(),
    },
    FieldLabel { label: "involvedObject.fieldPath", value: |event| text(event, "/involvedObject/fieldPath").into() },
    FieldLabel { label: "reason", value: |event| text(event, "/reason").into() },
    FieldLabel { label: "reportingComponent", value: |event| text(event, "/reportingComponent").into() },
    FieldLabel {
        label: "source",
        value: |event| match text(event, "/source/component") {
            "" => text(event, "/reportingComponent").into(),
            component => component.into(),
        },
    },
    FieldLabel { label: "type", value: |event| text(event, "/type").into() },
];

const COLUMNS: &[Column] = &[
    column("Last Seen", 0, "The time at which the most recent occurrence of this event was recorded.", |event, now| {
        last_seen(event, now).into()
    }),
    column("Type", 0, "Type of this event (Normal, Warning), new types could be added in the future", |event, _| {
        text(event, "/type").into()
    }),
    column(
        "Reason",
        0,
        "This should be a short, machine understandable string that gives the reason for the transition into the \
         object's current status.",
        |event, _| text(event, "/reason").into(),
    ),
    column("Object", 0, "The object that this event is about.", |event, _| {
        let kind = text(event, "/involvedObject/kind").to_lowercase();
        match text(event, "/involvedObject/name") {
            "" => kind.into(),
            name => format!("{kind}/{name}").into(),
        }
    }),
    column(
        "Subobject",
        1,
        "If referring to a piece of an object instead of an entire object, this string should contain a valid JSON/Go \
         field access statement, such as desiredState.manifest.containers[2]. For example, if the object reference is \
         to a container within a pod, this would take on a value like: \"spec.containers{name}\" (where \"name\" \
         refers to the name of the container that triggered the event) or if no container name is specified \
         \"spec.containers[2]\" (container with index 2 in this pod). This syntax is chosen only to have some \
         well-defined way of referencing a part of an object.",
        |event, _| text(event, "/involvedObject/fieldPath").into(),
    ),
    column(
        "Source",
        1,
        "The component reporting this event. Should be a short machine understandable string.",
        |event, _| source(event).into(),
    ),
    column("Message", 0, "A human-readable description of the status of this operation.", |event, _| {
        text(event, "/message").trim().into()
    }),
    column(
        "First Seen",
        1,
        "The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)",
        |event, now| first_seen(event, now).into(),
    ),
    column("Count", 1, "The number of times this event has occurred.", |event, _| {
        let count = |of: &Value| of.get("count").and_then(Value::as_i64).unwrap_or_default();
        match (event.get("series"), count(event)) {
            (Some(series), _) => count(series).into(),
            (None, 0) => 1.into(),
            (None, count) => count.into(),
        }
    }),
    Column { priority: 1, ..crate::registry::columns::NAME },
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

/// `legacyValidateEvent`, which calls the reporter as the version of the request does.
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
    errors.extend(object::objections(reporter_field, reporter, name::label_key(reporter)));
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
