//! The table of built-in resources. Serving another of the record is adding its row.

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
    /// The name in the record: `deployments.apps`.
    pub(super) name: &'static str,
    pub(super) rules: Rules,
}

/// Defines the table, and a constant for the id of each row, which is its place.
macro_rules! built_in {
    ($($id:ident: $name:literal by $rules:expr,)*) => {
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
    SELF_SUBJECT_REVIEWS: "selfsubjectreviews.authentication.k8s.io" by Rules::review(Review::SelfSubject),
    TOKEN_REVIEWS: "tokenreviews.authentication.k8s.io" by Rules::review(Review::Token),
    LOCAL_SUBJECT_ACCESS_REVIEWS: "localsubjectaccessreviews.authorization.k8s.io" by Rules::review(Review::LocalSubjectAccess),
    SELF_SUBJECT_ACCESS_REVIEWS: "selfsubjectaccessreviews.authorization.k8s.io" by Rules::review(Review::SelfSubjectAccess),
    SELF_SUBJECT_RULES_REVIEWS: "selfsubjectrulesreviews.authorization.k8s.io" by Rules::review(Review::SelfSubjectRules),
    SUBJECT_ACCESS_REVIEWS: "subjectaccessreviews.authorization.k8s.io" by Rules::review(Review::SubjectAccess),
    LEASES: "leases.coordination.k8s.io" by leases::RULES,
    CLUSTER_ROLE_BINDINGS: "clusterrolebindings.rbac.authorization.k8s.io" by rbac::CLUSTER_ROLE_BINDING,
    CLUSTER_ROLES: "clusterroles.rbac.authorization.k8s.io" by rbac::CLUSTER_ROLE,
    ROLE_BINDINGS: "rolebindings.rbac.authorization.k8s.io" by rbac::ROLE_BINDING,
    ROLES: "roles.rbac.authorization.k8s.io" by rbac::ROLE,
    ENDPOINTS: "endpoints" by endpoints::RULES,
    LIMIT_RANGES: "limitranges" by limit_ranges::RULES,
    PERSISTENT_VOLUME_CLAIMS: "persistentvolumeclaims" by persistent_volume_claims::RULES,
    PERSISTENT_VOLUMES: "persistentvolumes" by persistent_volumes::RULES,
    REPLICATION_CONTROLLERS: "replicationcontrollers" by replication_controllers::RULES,
    RESOURCE_QUOTAS: "resourcequotas" by resource_quotas::RULES,
    SERVICES: "services" by services::RULES,
    MUTATING_ADMISSION_POLICIES: "mutatingadmissionpolicies.admissionregistration.k8s.io" by admission_registration::MUTATING_ADMISSION_POLICY,
    MUTATING_ADMISSION_POLICY_BINDINGS: "mutatingadmissionpolicybindings.admissionregistration.k8s.io" by admission_registration::MUTATING_ADMISSION_POLICY_BINDING,
    MUTATING_WEBHOOK_CONFIGURATIONS: "mutatingwebhookconfigurations.admissionregistration.k8s.io" by admission_registration::MUTATING_WEBHOOK_CONFIGURATION,
    VALIDATING_ADMISSION_POLICIES: "validatingadmissionpolicies.admissionregistration.k8s.io" by admission_registration::VALIDATING_ADMISSION_POLICY,
    VALIDATING_ADMISSION_POLICY_BINDINGS: "validatingadmissionpolicybindings.admissionregistration.k8s.io" by admission_registration::VALIDATING_ADMISSION_POLICY_BINDING,
    VALIDATING_WEBHOOK_CONFIGURATIONS: "validatingwebhookconfigurations.admissionregistration.k8s.io" by admission_registration::VALIDATING_WEBHOOK_CONFIGURATION,
    API_SERVICES: "apiservices.apiregistration.k8s.io" by api_services::RULES,
    CONTROLLER_REVISIONS: "controllerrevisions.apps" by apps::controller_revisions::RULES,
    DAEMON_SETS: "daemonsets.apps" by apps::daemon_sets::RULES,
    STATEFUL_SETS: "statefulsets.apps" by apps::stateful_sets::RULES,
    HORIZONTAL_POD_AUTOSCALERS: "horizontalpodautoscalers.autoscaling" by horizontal_pod_autoscalers::RULES,
    CRON_JOBS: "cronjobs.batch" by batch::cron_jobs::RULES,
    JOBS: "jobs.batch" by batch::jobs::RULES,
    CERTIFICATE_SIGNING_REQUESTS: "certificatesigningrequests.certificates.k8s.io" by certificates::CERTIFICATE_SIGNING_REQUEST,
    CLUSTER_TRUST_BUNDLES: "clustertrustbundles.certificates.k8s.io" by certificates::CLUSTER_TRUST_BUNDLE,
    POD_CERTIFICATE_REQUESTS: "podcertificaterequests.certificates.k8s.io" by certificates::POD_CERTIFICATE_REQUEST,
    ENDPOINT_SLICES: "endpointslices.discovery.k8s.io" by endpoint_slices::RULES,
    FLOW_SCHEMAS: "flowschemas.flowcontrol.apiserver.k8s.io" by flow_control::FLOW_SCHEMA,
    PRIORITY_LEVEL_CONFIGURATIONS: "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io" by flow_control::PRIORITY_LEVEL_CONFIGURATION,
    INGRESS_CLASSES: "ingressclasses.networking.k8s.io" by networking::INGRESS_CLASS,
    INGRESSES: "ingresses.networking.k8s.io" by networking::INGRESS,
    IP_ADDRESSES: "ipaddresses.networking.k8s.io" by networking::IP_ADDRESS,
    NETWORK_POLICIES: "networkpolicies.networking.k8s.io" by networking::NETWORK_POLICY,
    SERVICE_CIDRS: "servicecidrs.networking.k8s.io" by networking::SERVICE_CIDR,
    RUNTIME_CLASSES: "runtimeclasses.node.k8s.io" by runtime_classes::RULES,
    POD_DISRUPTION_BUDGETS: "poddisruptionbudgets.policy" by pod_disruption_budgets::RULES,
    DEVICE_CLASSES: "deviceclasses.resource.k8s.io" by dynamic_resources::DEVICE_CLASS,
    DEVICE_TAINT_RULES: "devicetaintrules.resource.k8s.io" by dynamic_resources::DEVICE_TAINT_RULE,
    RESOURCE_CLAIMS: "resourceclaims.resource.k8s.io" by dynamic_resources::RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATES: "resourceclaimtemplates.resource.k8s.io" by dynamic_resources::RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_SLICES: "resourceslices.resource.k8s.io" by dynamic_resources::RESOURCE_SLICE,
    PRIORITY_CLASSES: "priorityclasses.scheduling.k8s.io" by priority_classes::RULES,
    CSI_DRIVERS: "csidrivers.storage.k8s.io" by storage::CSI_DRIVER,
    CSI_NODES: "csinodes.storage.k8s.io" by storage::CSI_NODE,
    CSI_STORAGE_CAPACITIES: "csistoragecapacities.storage.k8s.io" by storage::CSI_STORAGE_CAPACITY,
    STORAGE_CLASSES: "storageclasses.storage.k8s.io" by storage::STORAGE_CLASS,
    VOLUME_ATTACHMENTS: "volumeattachments.storage.k8s.io" by storage::VOLUME_ATTACHMENT,
    VOLUME_ATTRIBUTES_CLASSES: "volumeattributesclasses.storage.k8s.io" by storage::VOLUME_ATTRIBUTES_CLASS,
    COMPONENT_STATUSES: "componentstatuses" by component_statuses::RULES,
    BINDINGS: "bindings" by Rules { handler: Handler::LegacyBinding, ..Rules::ORDINARY },
    STORAGE_VERSION_MIGRATIONS: "storageversionmigrations.storagemigration.k8s.io" by storage_version_migrations::RULES,
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
