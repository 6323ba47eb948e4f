//! The ids of the built-in resources: the same in all clusters.

use crate::store::ResourceId;

/// Defines a constant for each id, which is its place, and the names by place.
macro_rules! ids {
    ($($id:ident: $name:literal,)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Place { $($id),* }

        $(#[doc = concat!("Id of `", $name, "`.")]
        pub const $id: ResourceId = ResourceId(Place::$id as u32);)*

        /// The names of the resources in the record, by id.
        pub(super) const NAMES: &[&str] = &[$($name),*];
    };
}

ids! {
    CONFIG_MAPS: "configmaps",
    EVENTS: "events",
    NAMESPACES: "namespaces",
    NODES: "nodes",
    PODS: "pods",
    POD_TEMPLATES: "podtemplates",
    SECRETS: "secrets",
    SERVICE_ACCOUNTS: "serviceaccounts",
    CUSTOM_RESOURCE_DEFINITIONS: "customresourcedefinitions.apiextensions.k8s.io",
    DEPLOYMENTS: "deployments.apps",
    REPLICA_SETS: "replicasets.apps",
    SELF_SUBJECT_REVIEWS: "selfsubjectreviews.authentication.k8s.io",
    TOKEN_REVIEWS: "tokenreviews.authentication.k8s.io",
    LOCAL_SUBJECT_ACCESS_REVIEWS: "localsubjectaccessreviews.authorization.k8s.io",
    SELF_SUBJECT_ACCESS_REVIEWS: "selfsubjectaccessreviews.authorization.k8s.io",
    SELF_SUBJECT_RULES_REVIEWS: "selfsubjectrulesreviews.authorization.k8s.io",
    SUBJECT_ACCESS_REVIEWS: "subjectaccessreviews.authorization.k8s.io",
    LEASES: "leases.coordination.k8s.io",
    CLUSTER_ROLE_BINDINGS: "clusterrolebindings.rbac.authorization.k8s.io",
    CLUSTER_ROLES: "clusterroles.rbac.authorization.k8s.io",
    ROLE_BINDINGS: "rolebindings.rbac.authorization.k8s.io",
    ROLES: "roles.rbac.authorization.k8s.io",
    ENDPOINTS: "endpoints",
    LIMIT_RANGES: "limitranges",
    PERSISTENT_VOLUME_CLAIMS: "persistentvolumeclaims",
    PERSISTENT_VOLUMES: "persistentvolumes",
    REPLICATION_CONTROLLERS: "replicationcontrollers",
    RESOURCE_QUOTAS: "resourcequotas",
    SERVICES: "services",
    MUTATING_ADMISSION_POLICIES: "mutatingadmissionpolicies.admissionregistration.k8s.io",
    MUTATING_ADMISSION_POLICY_BINDINGS: "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
    MUTATING_WEBHOOK_CONFIGURATIONS: "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    VALIDATING_ADMISSION_POLICIES: "validatingadmissionpolicies.admissionregistration.k8s.io",
    VALIDATING_ADMISSION_POLICY_BINDINGS: "validatingadmissionpolicybindings.admissionregistration.k8s.io",
    VALIDATING_WEBHOOK_CONFIGURATIONS: "validatingwebhookconfigurations.admissionregistration.k8s.io",
    API_SERVICES: "apiservices.apiregistration.k8s.io",
    CONTROLLER_REVISIONS: "controllerrevisions.apps",
    DAEMON_SETS: "daemonsets.apps",
    STATEFUL_SETS: "statefulsets.apps",
    HORIZONTAL_POD_AUTOSCALERS: "horizontalpodautoscalers.autoscaling",
    CRON_JOBS: "cronjobs.batch",
    JOBS: "jobs.batch",
    CERTIFICATE_SIGNING_REQUESTS: "certificatesigningrequests.certificates.k8s.io",
    CLUSTER_TRUST_BUNDLES: "clustertrustbundles.certificates.k8s.io",
    POD_CERTIFICATE_REQUESTS: "podcertificaterequests.certificates.k8s.io",
    ENDPOINT_SLICES: "endpointslices.discovery.k8s.io",
    FLOW_SCHEMAS: "flowschemas.flowcontrol.apiserver.k8s.io",
    PRIORITY_LEVEL_CONFIGURATIONS: "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
    INGRESS_CLASSES: "ingressclasses.networking.k8s.io",
    INGRESSES: "ingresses.networking.k8s.io",
    IP_ADDRESSES: "ipaddresses.networking.k8s.io",
    NETWORK_POLICIES: "networkpolicies.networking.k8s.io",
    SERVICE_CIDRS: "servicecidrs.networking.k8s.io",
    RUNTIME_CLASSES: "runtimeclasses.node.k8s.io",
    POD_DISRUPTION_BUDGETS: "poddisruptionbudgets.policy",
    DEVICE_CLASSES: "deviceclasses.resource.k8s.io",
    DEVICE_TAINT_RULES: "devicetaintrules.resource.k8s.io",
    RESOURCE_CLAIMS: "resourceclaims.resource.k8s.io",
    RESOURCE_CLAIM_TEMPLATES: "resourceclaimtemplates.resource.k8s.io",
    RESOURCE_SLICES: "resourceslices.resource.k8s.io",
    PRIORITY_CLASSES: "priorityclasses.scheduling.k8s.io",
    CSI_DRIVERS: "csidrivers.storage.k8s.io",
    CSI_NODES: "csinodes.storage.k8s.io",
    CSI_STORAGE_CAPACITIES: "csistoragecapacities.storage.k8s.io",
    STORAGE_CLASSES: "storageclasses.storage.k8s.io",
    VOLUME_ATTACHMENTS: "volumeattachments.storage.k8s.io",
    VOLUME_ATTRIBUTES_CLASSES: "volumeattributesclasses.storage.k8s.io",
    COMPONENT_STATUSES: "componentstatuses",
    BINDINGS: "bindings",
    STORAGE_VERSION_MIGRATIONS: "storageversionmigrations.storagemigration.k8s.io",
}
