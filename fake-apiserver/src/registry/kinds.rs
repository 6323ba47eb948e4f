//! The table of built-in resources. Serving another of the record is adding its id, and its row.

use super::ids;
use super::rules::Rules;
use super::subresources::{Handler, Review};
use super::{
    admission_registration, api_services, apps, batch, certificates, component_statuses, config_maps,
    custom_resource_definitions, dynamic_resources, endpoint_slices, endpoints, events, flow_control,
    horizontal_pod_autoscalers, leases, limit_ranges, namespaces, networking, nodes, persistent_volume_claims,
    persistent_volumes, pod_disruption_budgets, pod_templates, pods, priority_classes, rbac, replication_controllers,
    resource_quotas, runtime_classes, secrets, service_accounts, services, storage, storage_version_migrations,
};
use crate::store::ResourceId;

/// A built-in resource.
pub(super) struct Row {
    pub(super) id: ResourceId,
    pub(super) rules: Rules,
}

const fn row(id: ResourceId, rules: Rules) -> Row {
    Row { id, rules }
}

/// The rows, by id.
pub(super) const ROWS: &[Row] = &[
    row(ids::CONFIG_MAPS, config_maps::RULES),
    row(ids::EVENTS, events::RULES),
    row(ids::NAMESPACES, namespaces::RULES),
    row(ids::NODES, nodes::RULES),
    row(ids::PODS, pods::RULES),
    row(ids::POD_TEMPLATES, pod_templates::RULES),
    row(ids::SECRETS, secrets::RULES),
    row(ids::SERVICE_ACCOUNTS, service_accounts::RULES),
    row(ids::CUSTOM_RESOURCE_DEFINITIONS, custom_resource_definitions::RULES),
    row(ids::DEPLOYMENTS, apps::deployments::RULES),
    row(ids::REPLICA_SETS, apps::replica_sets::RULES),
    row(ids::SELF_SUBJECT_REVIEWS, Rules::review(Review::SelfSubject)),
    row(ids::TOKEN_REVIEWS, Rules::review(Review::Token)),
    row(ids::LOCAL_SUBJECT_ACCESS_REVIEWS, Rules::review(Review::LocalSubjectAccess)),
    row(ids::SELF_SUBJECT_ACCESS_REVIEWS, Rules::review(Review::SelfSubjectAccess)),
    row(ids::SELF_SUBJECT_RULES_REVIEWS, Rules::review(Review::SelfSubjectRules)),
    row(ids::SUBJECT_ACCESS_REVIEWS, Rules::review(Review::SubjectAccess)),
    row(ids::LEASES, leases::RULES),
    row(ids::CLUSTER_ROLE_BINDINGS, rbac::CLUSTER_ROLE_BINDING),
    row(ids::CLUSTER_ROLES, rbac::CLUSTER_ROLE),
    row(ids::ROLE_BINDINGS, rbac::ROLE_BINDING),
    row(ids::ROLES, rbac::ROLE),
    row(ids::ENDPOINTS, endpoints::RULES),
    row(ids::LIMIT_RANGES, limit_ranges::RULES),
    row(ids::PERSISTENT_VOLUME_CLAIMS, persistent_volume_claims::RULES),
    row(ids::PERSISTENT_VOLUMES, persistent_volumes::RULES),
    row(ids::REPLICATION_CONTROLLERS, replication_controllers::RULES),
    row(ids::RESOURCE_QUOTAS, resource_quotas::RULES),
    row(ids::SERVICES, services::RULES),
    row(ids::MUTATING_ADMISSION_POLICIES, admission_registration::MUTATING_ADMISSION_POLICY),
    row(ids::MUTATING_ADMISSION_POLICY_BINDINGS, admission_registration::MUTATING_ADMISSION_POLICY_BINDING),
    row(ids::MUTATING_WEBHOOK_CONFIGURATIONS, admission_registration::MUTATING_WEBHOOK_CONFIGURATION),
    row(ids::VALIDATING_ADMISSION_POLICIES, admission_registration::VALIDATING_ADMISSION_POLICY),
    row(ids::VALIDATING_ADMISSION_POLICY_BINDINGS, admission_registration::VALIDATING_ADMISSION_POLICY_BINDING),
    row(ids::VALIDATING_WEBHOOK_CONFIGURATIONS, admission_registration::VALIDATING_WEBHOOK_CONFIGURATION),
    row(ids::API_SERVICES, api_services::RULES),
    row(ids::CONTROLLER_REVISIONS, apps::controller_revisions::RULES),
    row(ids::DAEMON_SETS, apps::daemon_sets::RULES),
    row(ids::STATEFUL_SETS, apps::stateful_sets::RULES),
    row(ids::HORIZONTAL_POD_AUTOSCALERS, horizontal_pod_autoscalers::RULES),
    row(ids::CRON_JOBS, batch::cron_jobs::RULES),
    row(ids::JOBS, batch::jobs::RULES),
    row(ids::CERTIFICATE_SIGNING_REQUESTS, certificates::CERTIFICATE_SIGNING_REQUEST),
    row(ids::CLUSTER_TRUST_BUNDLES, certificates::CLUSTER_TRUST_BUNDLE),
    row(ids::POD_CERTIFICATE_REQUESTS, certificates::POD_CERTIFICATE_REQUEST),
    row(ids::ENDPOINT_SLICES, endpoint_slices::RULES),
    row(ids::FLOW_SCHEMAS, flow_control::FLOW_SCHEMA),
    row(ids::PRIORITY_LEVEL_CONFIGURATIONS, flow_control::PRIORITY_LEVEL_CONFIGURATION),
    row(ids::INGRESS_CLASSES, networking::INGRESS_CLASS),
    row(ids::INGRESSES, networking::INGRESS),
    row(ids::IP_ADDRESSES, networking::IP_ADDRESS),
    row(ids::NETWORK_POLICIES, networking::NETWORK_POLICY),
    row(ids::SERVICE_CIDRS, networking::SERVICE_CIDR),
    row(ids::RUNTIME_CLASSES, runtime_classes::RULES),
    row(ids::POD_DISRUPTION_BUDGETS, pod_disruption_budgets::RULES),
    row(ids::DEVICE_CLASSES, dynamic_resources::DEVICE_CLASS),
    row(ids::DEVICE_TAINT_RULES, dynamic_resources::DEVICE_TAINT_RULE),
    row(ids::RESOURCE_CLAIMS, dynamic_resources::RESOURCE_CLAIM),
    row(ids::RESOURCE_CLAIM_TEMPLATES, dynamic_resources::RESOURCE_CLAIM_TEMPLATE),
    row(ids::RESOURCE_SLICES, dynamic_resources::RESOURCE_SLICE),
    row(ids::PRIORITY_CLASSES, priority_classes::RULES),
    row(ids::CSI_DRIVERS, storage::CSI_DRIVER),
    row(ids::CSI_NODES, storage::CSI_NODE),
    row(ids::CSI_STORAGE_CAPACITIES, storage::CSI_STORAGE_CAPACITY),
    row(ids::STORAGE_CLASSES, storage::STORAGE_CLASS),
    row(ids::VOLUME_ATTACHMENTS, storage::VOLUME_ATTACHMENT),
    row(ids::VOLUME_ATTRIBUTES_CLASSES, storage::VOLUME_ATTRIBUTES_CLASS),
    row(ids::COMPONENT_STATUSES, component_statuses::RULES),
    row(ids::BINDINGS, Rules { handler: Handler::LegacyBinding, ..Rules::ORDINARY }),
    row(ids::STORAGE_VERSION_MIGRATIONS, storage_version_migrations::RULES),
];

#[cfg(test)]
mod tests {
    use super::ids::NAMES;
    use super::*;
    use crate::registry::Registry;

    #[test]
    fn every_id_has_its_row() {
        let ids: Vec<u32> = ROWS.iter().map(|row| row.id.0).collect();
        assert_eq!(ids, Vec::from_iter(0..NAMES.len() as u32));
    }

    /// Every rule is about something recorded. That every column has a cell is checked when the registry is made.
    #[test]
    fn no_rule_is_left_over() {
        let registry = Registry::built_in();
        for Row { id, rules } in ROWS {
            let name = NAMES[id.0 as usize];
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
        for Row { id, rules } in ROWS {
            let name = NAMES[id.0 as usize];
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
