//! Events of the core group.

use super::kind::{FieldLabel, Kind, NameRule};
use serde_json::Value;

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

pub(super) const KIND: Kind = Kind {
    resource: "events",
    singular: "event",
    kind: "Event",
    short_names: &["ev"],
    name_rule: NameRule::PathSegment,
    qualified_finalizers: false,
    create_on_update: true,
    field_labels: FIELD_LABELS,
    ..Kind::ORDINARY
};

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
