//! Nodes.

use super::kind::{FieldLabel, Kind, Strategy, Subresource};

pub(super) const KIND: Kind = Kind {
    resource: "nodes",
    singular: "node",
    kind: "Node",
    short_names: &["no"],
    namespaced: false,
    subresources: &[Subresource::status("Node", Strategy::NONE)],
    field_labels: &[FieldLabel {
        label: "spec.unschedulable",
        value: |node| node["spec"]["unschedulable"].as_bool().unwrap_or_default().to_string().into(),
    }],
    ..Kind::ORDINARY
};
