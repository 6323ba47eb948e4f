//! Leases.

use super::kind::Kind;

pub(super) const KIND: Kind = Kind {
    group: "coordination.k8s.io",
    resource: "leases",
    singular: "lease",
    kind: "Lease",
    qualified_finalizers: false,
    unconditional_update: false,
    create_on_update: true,
    ..Kind::ORDINARY
};
