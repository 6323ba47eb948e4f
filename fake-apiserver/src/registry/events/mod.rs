//! Events of the core group, as they are stored.

mod modern;
mod validate;

use crate::registry::columns::since;
use crate::registry::rules::{Cell, NameRule, Rules, Strategy};
use crate::registry::text;
use jiff::Timestamp;
use tree::Value;

pub(super) const RULES: Rules = Rules {
    name_rule: NameRule::PathSegment,
    qualified_finalizers: false,
    create_on_update: true,
    ignores_propagation: true,
    fields: &[("source", |event| match text(event, "/source/component") {
        "" => text(event, "/reportingComponent").into(),
        component => component.into(),
    })],
    cells: CELLS,
    strategy: Strategy {
        validate: |_, event, _, errors| errors.extend(validate::validate(event, REPORTER)),
        ..Strategy::NONE
    },
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
