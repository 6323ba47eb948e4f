//! The plugin `NodeRestriction`: a node may change only itself, what bears its name, and what belongs to the pods that run on it.
//!
//! It completes the Node authorizer, which sees only the URL of a write. Ports
//! `plugin/pkg/admission/noderestriction/admission.go` (v1.37.1) with the feature gates' defaults.

mod certificates;
mod claims;
mod drivers;
mod labels;
mod migration;
mod nodes;
mod own;
mod pod_certificates;
mod pods;
mod tokens;
mod write;

use crate::admission::{Attributes, Immediate, Operation};
use crate::error::ApiResult;
use crate::registry::{ids, is_added};
use crate::schema::quote;
use crate::store::ResourceId;
use tree::Value;
use write::Write;

/// The plugin `NodeRestriction`.
pub(super) struct NodeRestriction;

/// A rule for the writes of a node to a resource.
type Rule = fn(&Write<'_>) -> ApiResult<()>;

/// Any subresource that no row before is about, and the object itself.
const ANY: &str = "*";

/// The resources to which the writes of nodes are restricted, by subresource ("" for the object itself). The first row counts.
const RESTRICTED: [(ResourceId, &str, Rule); 14] = [
    (ids::PODS, "", pods::admit),
    (ids::PODS, "status", pods::admit_status),
    (ids::PODS, "eviction", pods::admit_eviction),
    (ids::PODS, ANY, pods::refuse),
    (ids::NODES, ANY, nodes::admit),
    (ids::PERSISTENT_VOLUME_CLAIMS, "status", claims::admit_status),
    (ids::PERSISTENT_VOLUME_CLAIMS, ANY, claims::refuse),
    (ids::SERVICE_ACCOUNTS, "token", tokens::admit),
    (ids::SERVICE_ACCOUNTS, ANY, |_| Ok(())),
    (ids::POD_CERTIFICATE_REQUESTS, ANY, pod_certificates::admit),
    (ids::LEASES, ANY, own::admit_lease),
    (ids::CSI_NODES, ANY, own::admit_csi_node),
    (ids::RESOURCE_SLICES, ANY, own::admit_resource_slice),
    (ids::CERTIFICATE_SIGNING_REQUESTS, ANY, certificates::admit),
];

/// The other built-in resources, which a node may write as far as it is authorized to.
const UNRESTRICTED: &[ResourceId] = &[
    ids::CONFIG_MAPS,
    ids::EVENTS,
    ids::NAMESPACES,
    ids::POD_TEMPLATES,
    ids::SECRETS,
    ids::CUSTOM_RESOURCE_DEFINITIONS,
    ids::DEPLOYMENTS,
    ids::REPLICA_SETS,
    ids::SELF_SUBJECT_REVIEWS,
    ids::TOKEN_REVIEWS,
    ids::LOCAL_SUBJECT_ACCESS_REVIEWS,
    ids::SELF_SUBJECT_ACCESS_REVIEWS,
    ids::SELF_SUBJECT_RULES_REVIEWS,
    ids::SUBJECT_ACCESS_REVIEWS,
    ids::CLUSTER_ROLE_BINDINGS,
    ids::CLUSTER_ROLES,
    ids::ROLE_BINDINGS,
    ids::ROLES,
    ids::ENDPOINTS,
    ids::LIMIT_RANGES,
    ids::PERSISTENT_VOLUMES,
    ids::REPLICATION_CONTROLLERS,
    ids::RESOURCE_QUOTAS,
    ids::SERVICES,
    ids::MUTATING_ADMISSION_POLICIES,
    ids::MUTATING_ADMISSION_POLICY_BINDINGS,
    ids::MUTATING_WEBHOOK_CONFIGURATIONS,
    ids::VALIDATING_ADMISSION_POLICIES,
    ids::VALIDATING_ADMISSION_POLICY_BINDINGS,
    ids::VALIDATING_WEBHOOK_CONFIGURATIONS,
    ids::API_SERVICES,
    ids::CONTROLLER_REVISIONS,
    ids::DAEMON_SETS,
    ids::STATEFUL_SETS,
    ids::HORIZONTAL_POD_AUTOSCALERS,
    ids::CRON_JOBS,
    ids::JOBS,
    ids::CLUSTER_TRUST_BUNDLES,
    ids::ENDPOINT_SLICES,
    ids::FLOW_SCHEMAS,
    ids::PRIORITY_LEVEL_CONFIGURATIONS,
    ids::INGRESS_CLASSES,
    ids::INGRESSES,
    ids::IP_ADDRESSES,
    ids::NETWORK_POLICIES,
    ids::SERVICE_CIDRS,
    ids::RUNTIME_CLASSES,
    ids::POD_DISRUPTION_BUDGETS,
    ids::DEVICE_CLASSES,
    ids::DEVICE_TAINT_RULES,
    ids::RESOURCE_CLAIMS,
    ids::RESOURCE_CLAIM_TEMPLATES,
    ids::PRIORITY_CLASSES,
    ids::CSI_DRIVERS,
    ids::CSI_STORAGE_CAPACITIES,
    ids::STORAGE_CLASSES,
    ids::VOLUME_ATTACHMENTS,
    ids::VOLUME_ATTRIBUTES_CLASSES,
    ids::COMPONENT_STATUSES,
    ids::BINDINGS,
    ids::STORAGE_VERSION_MIGRATIONS,
];

impl Immediate for NodeRestriction {
    fn admit(&self, attributes: &Attributes<'_>, object: &mut Value) -> ApiResult<()> {
        let Some(node) = attributes.user.node_name() else { return Ok(()) };
        if attributes.operation == Operation::Connect {
            return Ok(());
        }
        if node.is_empty() {
            let user = quote(&attributes.user.name);
            return Err(attributes.forbidden(object, format!("could not determine node from user {user}")));
        }
        let is_meant = |own: &str| own == ANY || own == attributes.subresource;
        let mut rows = RESTRICTED.iter();
        match rows.find(|(resource, own, _)| *resource == attributes.resource.id && is_meant(own)) {
            Some((.., rule)) => rule(&Write { node, attributes, object }),
            None => {
                let id = attributes.resource.id;
                debug_assert!(is_added(id) || UNRESTRICTED.contains(&id), "a built-in resource is in one list");
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;
    use std::collections::BTreeSet;

    #[test]
    fn every_built_in_resource_is_in_one_list() {
        let registry = Registry::built_in();
        let served: BTreeSet<u32> = registry.resources().map(|resource| resource.id.0).collect();
        let restricted: BTreeSet<u32> = RESTRICTED.iter().map(|(resource, ..)| resource.0).collect();
        let free: BTreeSet<u32> = UNRESTRICTED.iter().map(|resource| resource.0).collect();
        let named = |ids: BTreeSet<&u32>| -> Vec<String> {
            ids.into_iter().map(|id| registry.known(ResourceId(*id)).plural.to_string()).collect()
        };
        assert_eq!(named(restricted.intersection(&free).collect()), [""; 0], "in both lists");
        let listed: BTreeSet<u32> = restricted.union(&free).copied().collect();
        assert_eq!(named(served.difference(&listed).collect()), [""; 0], "in neither list");
        assert_eq!(listed.difference(&served).count(), 0, "a list names a resource that is not served");
    }

    #[test]
    fn every_subresource_of_a_restricted_resource_has_a_rule() {
        let all: BTreeSet<u32> = RESTRICTED.iter().map(|(resource, ..)| resource.0).collect();
        let whole: BTreeSet<u32> =
            RESTRICTED.iter().filter(|(_, own, _)| *own == ANY).map(|(resource, ..)| resource.0).collect();
        assert_eq!(all, whole);
    }
}
