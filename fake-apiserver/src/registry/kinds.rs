//! The table of built-in resources. Serving another of the record is adding its row.

use super::rules::Rules;
use super::{
    apps, config_maps, custom_resource_definitions, events, leases, namespaces, nodes, pod_templates, pods, rbac,
    secrets, service_accounts,
};
use crate::store::ResourceId;

/// A built-in resource.
pub(super) struct Row {
    pub(super) id: ResourceId,
    /// The name in the record: `deployments.apps`.
    pub(super) name: &'static str,
    pub(super) rules: Rules,
}

/// Defines the table, and a constant for the id of each row, which is its place.
macro_rules! built_in {
    ($($id:ident: $name:literal by $rules:path,)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Place { $($id),* }

        /// Ids of the built-in resources: the same in all clusters.
        pub mod ids {
            use super::Place;
            use crate::store::ResourceId;

            $(#[doc = concat!("Id of `", $name, "`.")]
            pub const $id: ResourceId = ResourceId(Place::$id as u32);)*
        }

        /// The rows, by id.
        pub(super) const ROWS: &[Row] = &[$(Row { id: ids::$id, name: $name, rules: $rules }),*];
    };
}

built_in! {
    CONFIG_MAPS: "configmaps" by config_maps::RULES,
    EVENTS: "events" by events::RULES,
    NAMESPACES: "namespaces" by namespaces::RULES,
    NODES: "nodes" by nodes::RULES,
    PODS: "pods" by pods::RULES,
    POD_TEMPLATES: "podtemplates" by pod_templates::RULES,
    SECRETS: "secrets" by secrets::RULES,
    SERVICE_ACCOUNTS: "serviceaccounts" by service_accounts::RULES,
    CUSTOM_RESOURCE_DEFINITIONS: "customresourcedefinitions.apiextensions.k8s.io" by custom_resource_definitions::RULES,
    DEPLOYMENTS: "deployments.apps" by apps::deployments::RULES,
    REPLICA_SETS: "replicasets.apps" by apps::replica_sets::RULES,
    SELF_SUBJECT_REVIEWS: "selfsubjectreviews.authentication.k8s.io" by Rules::REVIEW,
    TOKEN_REVIEWS: "tokenreviews.authentication.k8s.io" by Rules::REVIEW,
    LOCAL_SUBJECT_ACCESS_REVIEWS: "localsubjectaccessreviews.authorization.k8s.io" by Rules::REVIEW,
    SELF_SUBJECT_ACCESS_REVIEWS: "selfsubjectaccessreviews.authorization.k8s.io" by Rules::REVIEW,
    SELF_SUBJECT_RULES_REVIEWS: "selfsubjectrulesreviews.authorization.k8s.io" by Rules::REVIEW,
    SUBJECT_ACCESS_REVIEWS: "subjectaccessreviews.authorization.k8s.io" by Rules::REVIEW,
    LEASES: "leases.coordination.k8s.io" by leases::RULES,
    CLUSTER_ROLE_BINDINGS: "clusterrolebindings.rbac.authorization.k8s.io" by rbac::CLUSTER_ROLE_BINDING,
    CLUSTER_ROLES: "clusterroles.rbac.authorization.k8s.io" by rbac::CLUSTER_ROLE,
    ROLE_BINDINGS: "rolebindings.rbac.authorization.k8s.io" by rbac::ROLE_BINDING,
    ROLES: "roles.rbac.authorization.k8s.io" by rbac::ROLE,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;

    /// Every rule is about something recorded. That every column has a cell is checked when the registry is made.
    #[test]
    fn no_rule_is_left_over() {
        let registry = Registry::built_in();
        for Row { id, name, rules } in ROWS {
            let resource = registry.known(*id);
            let columns = || resource.versions.iter().flat_map(|version| &version.columns);
            for (cell, _) in rules.cells {
                assert!(columns().any(|column| column.name == *cell), "{name} has no column {cell}");
            }
            for (label, _) in rules.fields {
                assert!(resource.fields.iter().any(|field| field.name == *label), "{name} has no field {label}");
            }
            for (subresource, _) in rules.subresources {
                assert!(resource.storage().subresource(subresource).is_some(), "{name} has no {subresource}");
            }
        }
    }

    /// Go prints numbers and booleans also where they are unset, so their text for selectors has to be given.
    #[test]
    fn only_texts_are_selected_as_they_stand() {
        let registry = Registry::built_in();
        for Row { id, name, rules } in ROWS {
            let resource = registry.known(*id);
            let own = |field: &str| rules.fields.iter().any(|(label, _)| *label == field);
            for field in resource.fields.iter().filter(|field| !own(&field.name)) {
                let ty = field.name.split('.').try_fold(resource.storage().ty(), |ty, member| {
                    let ty = ty.target();
                    Some(ty.of(ty.field(member)?))
                });
                let ty = ty.unwrap_or_else(|| panic!("{name} has no {}", field.name)).target().name();
                assert!(!["bool", "int32", "int64"].contains(&ty), "{name}: {} is a {ty}", field.name);
            }
        }
    }
}
