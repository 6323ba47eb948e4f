//! Namespaces.

use super::kind::{FieldLabel, Kind, NameRule, Strategy, Subresource};

pub(super) const KIND: Kind = Kind {
    resource: "namespaces",
    singular: "namespace",
    kind: "Namespace",
    short_names: &["ns"],
    namespaced: false,
    verbs: &["create", "delete", "get", "list", "patch", "update", "watch"],
    subresources: &[
        Subresource {
            name: "finalize",
            group: "",
            version: "",
            kind: "Namespace",
            verbs: &["update"],
            strategy: Strategy::NONE,
        },
        Subresource::status("Namespace", Strategy::NONE),
    ],
    name_rule: NameRule::Label,
    delete_returns_object: true,
    field_labels: &[FieldLabel {
        label: "status.phase",
        value: |namespace| namespace["status"]["phase"].as_str().unwrap_or_default().into(),
    }],
    ..Kind::ORDINARY
};
