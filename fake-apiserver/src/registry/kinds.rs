//! The table of built-in resources. Serving another is adding its row.

use super::kind::Kind;
use super::{
    apps, config_maps, events, leases, namespaces, nodes, pod_templates, pods, rbac, reviews, secrets, service_accounts,
};

/// Makes the table, and a constant for the id of each row: its place.
macro_rules! built_in {
    ($($id:ident: $row:path,)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Place { $($id),* }

        /// Ids of the built-in resources: the same in all clusters.
        pub mod ids {
            use super::Place;
            use crate::store::ResourceId;

            $(#[doc = concat!("Id of the resource of the row `", stringify!($row), "`.")]
            pub const $id: ResourceId = ResourceId(Place::$id as u32);)*
        }

        /// The rows, with their ids.
        pub(super) const ROWS: &[(crate::store::ResourceId, Kind)] = &[$((ids::$id, $row)),*];
    };
}

built_in! {
    CONFIG_MAPS: config_maps::KIND,
    EVENTS: events::KIND,
    NAMESPACES: namespaces::KIND,
    NODES: nodes::KIND,
    PODS: pods::KIND,
    POD_TEMPLATES: pod_templates::KIND,
    SECRETS: secrets::KIND,
    SERVICE_ACCOUNTS: service_accounts::KIND,
    DEPLOYMENTS: apps::deployments::KIND,
    REPLICA_SETS: apps::replica_sets::KIND,
    SELF_SUBJECT_REVIEWS: reviews::SELF_SUBJECT_REVIEW,
    TOKEN_REVIEWS: reviews::TOKEN_REVIEW,
    LOCAL_SUBJECT_ACCESS_REVIEWS: reviews::LOCAL_SUBJECT_ACCESS_REVIEW,
    SELF_SUBJECT_ACCESS_REVIEWS: reviews::SELF_SUBJECT_ACCESS_REVIEW,
    SELF_SUBJECT_RULES_REVIEWS: reviews::SELF_SUBJECT_RULES_REVIEW,
    SUBJECT_ACCESS_REVIEWS: reviews::SUBJECT_ACCESS_REVIEW,
    LEASES: leases::KIND,
    CLUSTER_ROLE_BINDINGS: rbac::CLUSTER_ROLE_BINDING,
    CLUSTER_ROLES: rbac::CLUSTER_ROLE,
    ROLE_BINDINGS: rbac::ROLE_BINDING,
    ROLES: rbac::ROLE,
}
