//! The Node authorizer: the rights of users in the group `system:nodes` with a name like `system:node:<name>`.
//!
//! A node may read the secrets, config maps and so on that its pods and their volumes refer to (`graph.rs`), may act on certain objects of
//! its own, and has the rules of the role `system:node`. Ports `plugin/pkg/auth/authorizer/node/node_authorizer.go` (v1.37.1) with the
//! feature gates' defaults. Some requests that it allows are refused by NodeRestriction (`admission/plugins/node_restriction/`).

mod graph;
mod references;

use super::User;
use super::authorizer::{Attributes, Authorizer, Decision, Rules, Target};
use super::requested::{Requirement, Selectors};
use crate::deadline::Deadline;
use crate::error::ApiResult;
use crate::index::Index;
use crate::registry::{Rule, ids};
use crate::schema::quote;
use crate::store::{ResourceId, Store};
use graph::Graph;

/// The namespace of nodes' leases: `NamespaceNodeLease`.
pub(crate) const NODE_LEASES: &str = "kube-node-lease";

/// The authorizer of nodes by the objects in a store, in their current state.
pub struct NodeAuthorizer {
    rules: Vec<Rule>,
}

/// Allowed, or the reason for a refusal, which may be empty.
type Verdict = Result<(), String>;

/// The parts of a request for a resource.
#[derive(Clone, Copy)]
struct Asked<'a> {
    store: &'a Store,
    node: &'a str,
    verb: &'a str,
    subresource: &'a str,
    namespace: &'a str,
    name: &'a str,
    selectors: Selectors<'a>,
}

impl NodeAuthorizer {
    /// An authorizer with rules that hold for all nodes, on resources without rules of their own here.
    pub fn new(rules: Vec<Rule>) -> Self {
        NodeAuthorizer { rules }
    }

    fn decide(&self, store: &Store, node: &str, attributes: &Attributes<'_>) -> Verdict {
        let Attributes { verb, target, selectors, .. } = *attributes;
        if let Target::Resource { group, resource, subresource, namespace, name, .. } = target {
            let asked = Asked { store, node, verb, subresource, namespace, name, selectors };
            match (group, resource) {
                ("", "secrets") => return self.read(asked, ids::SECRETS),
                ("", "configmaps") => return self.read(asked, ids::CONFIG_MAPS),
                ("", "persistentvolumeclaims") if subresource == "status" => return self.update_status(asked),
                ("", "persistentvolumeclaims") => return self.get(asked, ids::PERSISTENT_VOLUME_CLAIMS),
                ("", "persistentvolumes") => return self.get(asked, ids::PERSISTENT_VOLUMES),
                ("storage.k8s.io", "volumeattachments") => return self.get(asked, ids::VOLUME_ATTACHMENTS),
                ("resource.k8s.io", "resourceclaims") => return self.get(asked, ids::RESOURCE_CLAIMS),
                ("", "serviceaccounts") => return self.service_account(asked),
                ("coordination.k8s.io", "leases") => return lease(asked),
                ("storage.k8s.io", "csinodes") => return csi_node(asked),
                ("resource.k8s.io", "resourceslices") => return self.resource_slice(asked),
                ("certificates.k8s.io", "podcertificaterequests") => return self.certificate_request(asked),
                ("", "nodes") => return own_node(asked),
                ("", "pods") => return self.pod(asked),
                _ => {}
            }
        }
        if self.rules.iter().any(|rule| rule.allows(attributes)) { Ok(()) } else { no("") }
    }

    /// `authorizeReadNamespacedObject`.
    fn read(&self, asked: Asked<'_>, resource: ResourceId) -> Verdict {
        match asked {
            _ if !["get", "list", "watch"].contains(&asked.verb) => no("can only read resources of this type"),
            _ if !asked.subresource.is_empty() => no("cannot read subresource"),
            _ if asked.namespace.is_empty() => no("can only read namespaced object of this type"),
            _ => self.related(asked, resource),
        }
    }

    /// `authorizeGet`.
    fn get(&self, asked: Asked<'_>, resource: ResourceId) -> Verdict {
        match asked {
            _ if asked.verb != "get" => no("can only get individual resources of this type"),
            _ if !asked.subresource.is_empty() => no("cannot get subresource"),
            _ => self.related(asked, resource),
        }
    }

    /// `authorizeStatusUpdate`.
    fn update_status(&self, asked: Asked<'_>) -> Verdict {
        match asked.verb {
            "update" | "patch" => self.related(asked, ids::PERSISTENT_VOLUME_CLAIMS),
            _ => no("can only get/update/patch this type"),
        }
    }

    /// `authorize`.
    fn related(&self, asked: Asked<'_>, resource: ResourceId) -> Verdict {
        let Asked { node, namespace, name, .. } = asked;
        if name.is_empty() {
            return no("No Object name found");
        }
        match Graph::current(asked.store).relates(node, &(resource, namespace.into(), name.into())) {
            true => Ok(()),
            false => Err(format!("no relationship found between node '{node}' and this object")),
        }
    }

    /// `authorizeServiceAccount`.
    fn service_account(&self, asked: Asked<'_>) -> Verdict {
        match asked {
            Asked { verb: "get", subresource: "", .. } => self.read(asked, ids::SERVICE_ACCOUNTS),
            Asked { verb: "create", subresource, name, .. } if !name.is_empty() => match subresource {
                "token" => self.related(asked, ids::SERVICE_ACCOUNTS),
                _ => no("can only create token subresource of serviceaccount"),
            },
            _ => no("can only create tokens for individual service accounts"),
        }
    }

    /// `authorizeResourceSlice`.
    fn resource_slice(&self, asked: Asked<'_>) -> Verdict {
        match asked.verb {
            _ if !asked.subresource.is_empty() => no("cannot authorize ResourceSlice subresources"),
            "create" => Ok(()),
            "get" | "update" | "patch" | "delete" => self.related(asked, ids::RESOURCE_SLICES),
            "watch" | "list" | "deletecollection" if asked.selects_node() => Ok(()),
            "watch" | "list" | "deletecollection" => {
                no("can only list/watch/deletecollection resourceslices with nodeName field selector")
            }
            _ => no(
                "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, \
                     delete, deletecollection",
            ),
        }
    }

    /// `authorizePodCertificateRequest`.
    fn certificate_request(&self, asked: Asked<'_>) -> Verdict {
        match asked.verb {
            _ if !asked.subresource.is_empty() => {
                no("nodes may not access the status subresource of PodCertificateRequests")
            }
            "create" => Ok(()),
            "get" => self.related(asked, ids::POD_CERTIFICATE_REQUESTS),
            "list" | "watch" if asked.selects_node() => Ok(()),
            "list" | "watch" => no("can only list/watch podcertificaterequests with nodeName field selector"),
            verb => Err(format!("nodes may not {verb} podcertificaterequests")),
        }
    }

    /// `authorizePod`.
    fn pod(&self, asked: Asked<'_>) -> Verdict {
        match (asked.subresource, asked.verb) {
            ("", "get") => self.get(asked, ids::PODS),
            ("", "list" | "watch") if asked.selects_node() => Ok(()),
            ("", "list" | "watch") if !asked.name.is_empty() => self.related(asked, ids::PODS),
            ("", "list" | "watch") => no("can only list/watch pods with spec.nodeName field selector"),
            ("", "create" | "delete") | ("status", "update" | "patch") | ("eviction", "create") => Ok(()),
            _ => no(""),
        }
    }
}

impl Asked<'_> {
    /// Whether the request selects the objects of the node.
    fn selects_node(&self) -> bool {
        let is_own =
            |one: &Requirement| one.key == "spec.nodeName" && one.operator == "In" && one.values == [self.node];
        self.selectors.fields().iter().any(is_own)
    }
}

fn no(reason: &str) -> Verdict {
    Err(reason.into())
}

/// `authorizeLease`. NodeRestriction checks the name of a new lease.
fn lease(asked: Asked<'_>) -> Verdict {
    match asked {
        _ if !OWN_VERBS.contains(&asked.verb) => no("can only get, create, update, patch, or delete a node lease"),
        _ if asked.namespace != NODE_LEASES => {
            Err(format!("can only access leases in the {} system namespace", quote(NODE_LEASES)))
        }
        _ if asked.verb != "create" && asked.name != asked.node => {
            no("can only access node lease with the same name as the requesting node")
        }
        _ => Ok(()),
    }
}

/// The verbs that a node may use on objects of its own name.
const OWN_VERBS: [&str; 5] = ["get", "create", "update", "patch", "delete"];

/// `authorizeCSINode`.
fn csi_node(asked: Asked<'_>) -> Verdict {
    match asked.subresource {
        "" if !OWN_VERBS.contains(&asked.verb) => no("can only get, create, update, patch, or delete a CSINode"),
        "" if asked.verb != "create" && asked.name != asked.node => {
            no("can only access CSINode with the same name as the requesting node")
        }
        "" => Ok(()),
        "status" => no("CSINode status access requires CSIVolumeHealth feature"),
        _ => no("cannot authorize CSINode subresources"),
    }
}

/// `authorizeNode`. NodeRestriction checks that a write is to the own node.
fn own_node(asked: Asked<'_>) -> Verdict {
    let Asked { node, name, .. } = asked;
    match (asked.subresource, asked.verb) {
        ("", "create" | "update" | "patch") | ("status", "update" | "patch") => Ok(()),
        ("", "get" | "list" | "watch") if name == node => Ok(()),
        ("", "get" | "list" | "watch") if name.is_empty() => {
            Err(format!("node '{node}' cannot read all nodes, only its own Node object"))
        }
        ("", "get" | "list" | "watch") => Err(format!("node '{node}' cannot read '{name}', only its own Node object")),
        _ => no(""),
    }
}

impl Authorizer for NodeAuthorizer {
    fn authorize(&self, store: &Store, attributes: &Attributes<'_>) -> ApiResult<Decision> {
        let verdict = match attributes.user.node_name() {
            None => no(""),
            Some("") => Err(format!("unknown node for user {}", quote(&attributes.user.name))),
            Some(node) => self.decide(store, node, attributes),
        };
        match verdict {
            Ok(()) => Ok(Decision::Allow(String::new())),
            Err(reason) => Ok(Decision::NoOpinion(reason)),
        }
    }

    fn rules(&self, _: &Store, user: &User, _namespace: &str, _deadline: &Deadline) -> ApiResult<Rules> {
        Ok(match user.node_name() {
            None => Rules::default(),
            Some(_) => Rules {
                incomplete: true,
                errors: vec!["node authorizer does not support user rule resolution".into()],
                ..Rules::default()
            },
        })
    }
}
