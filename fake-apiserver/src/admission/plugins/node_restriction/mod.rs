//! The plugin `NodeRestriction`: a node may change only itself, its lease, and the pods that run on it.
//!
//! It completes the Node authorizer, which sees only the URL of a write. Ports
//! `plugin/pkg/admission/noderestriction/admission.go` (v1.37.1) for the kinds that are served; evictions, claims, CSI nodes,
//! resource slices, certificate and pod certificate requests are not.

mod labels;
mod pods;
mod tokens;
mod write;

use crate::admission::{Attributes, Immediate, Operation};
use crate::auth::node::NODE_LEASES;
use crate::error::ApiResult;
use crate::object::meta;
use crate::schema::quote;
use tree::Value;
use write::Write;

/// The plugin `NodeRestriction`.
pub(super) struct NodeRestriction;

impl Immediate for NodeRestriction {
    fn admit(&self, attributes: &Attributes<'_>, object: &mut Value) -> ApiResult<()> {
        let Some(node) = attributes.user.node_name() else { return Ok(()) };
        if node.is_empty() {
            let user = quote(&attributes.user.name);
            return Err(attributes.forbidden(object, format!("could not determine node from user {user}")));
        }
        let write = Write { node, attributes, object };
        match (&*attributes.resource.group, &*attributes.resource.plural, attributes.subresource) {
            ("", "pods", "") => pods::admit(&write),
            ("", "pods", "status") => pods::admit_status(&write),
            ("", "pods", other) => write.refuse(format!(
                "unexpected pod subresource {}, only 'status' and 'eviction' are allowed",
                quote(other)
            )),
            ("", "nodes", _) => write.to_node(),
            ("", "serviceaccounts", "token") => tokens::admit(&write),
            ("coordination.k8s.io", "leases", _) => write.to_lease(),
            _ => Ok(()),
        }
    }
}

impl Write<'_> {
    /// `admitNode`.
    fn to_node(&self) -> ApiResult<()> {
        let (node, name) = (quote(self.node), self.attributes.name);
        if name != self.node {
            return self.refuse(format!("node {node} is not allowed to modify node {}", quote(name)));
        }
        let configured = self.object.pointer("/spec/configSource").is_some_and(|source| !source.is_null());
        match self.operation() {
            Operation::Create if configured => {
                self.refuse(format!("node {node} is not allowed to create pods with a non-nil configSource"))
            }
            Operation::Create => match labels::forbidden(self.object, &Value::Null) {
                labels if labels.is_empty() => Ok(()),
                labels => self.refuse(format!("node {node} is not allowed to set the following labels: {labels}")),
            },
            Operation::Update if configured && !self.leaves("/spec/configSource") => {
                self.refuse(format!("node {node} is not allowed to update configSource to a new non-nil configSource"))
            }
            Operation::Update if !self.leaves("/spec/taints") => {
                self.refuse(format!("node {node} is not allowed to modify taints"))
            }
            Operation::Update if !self.leaves("/metadata/ownerReferences") => {
                self.refuse(format!("node {node} is not allowed to modify ownerReferences"))
            }
            Operation::Update => match labels::forbidden(self.object, self.old()) {
                labels if labels.is_empty() => Ok(()),
                labels => self.refuse(format!("is not allowed to modify labels: {labels}")),
            },
            Operation::Delete | Operation::Connect => Ok(()),
        }
    }

    /// `admitLease`.
    fn to_lease(&self) -> ApiResult<()> {
        if self.attributes.namespace != NODE_LEASES {
            return self.refuse(format!("can only access leases in the {} system namespace", quote(NODE_LEASES)));
        }
        let name = match self.operation() {
            Operation::Create => meta::name(self.object),
            Operation::Update | Operation::Delete | Operation::Connect => self.attributes.name,
        };
        match name == self.node {
            true => Ok(()),
            false => self.refuse("can only access node lease with the same name as the requesting node"),
        }
    }
}
