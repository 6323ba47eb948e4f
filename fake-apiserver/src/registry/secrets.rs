//! Secrets.

use super::kind::{FieldLabel, Kind};

pub(super) const KIND: Kind = Kind {
    resource: "secrets",
    singular: "secret",
    kind: "Secret",
    field_labels: &[FieldLabel { label: "type", value: |secret| secret["type"].as_str().unwrap_or_default().into() }],
    ..Kind::ORDINARY
};
