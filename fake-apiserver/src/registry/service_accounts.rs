//! ServiceAccounts.

use super::kind::{Kind, Strategy, Subresource};

pub(super) const KIND: Kind = Kind {
    resource: "serviceaccounts",
    singular: "serviceaccount",
    kind: "ServiceAccount",
    short_names: &["sa"],
    subresources: &[Subresource {
        name: "token",
        group: "authentication.k8s.io",
        version: "v1",
        kind: "TokenRequest",
        verbs: &["create"],
        strategy: Strategy::NONE,
    }],
    delete_returns_object: true,
    ..Kind::ORDINARY
};
