//! The writes of a node to nodes: only to itself, and neither taints nor what could draw pods to it.

use super::labels;
use super::write::Write;
use crate::admission::Operation;
use crate::error::ApiResult;
use crate::schema::quote;
use tree::Value;

/// `admitNode`.
pub(super) fn admit(write: &Write<'_>) -> ApiResult<()> {
    let (node, name) = (quote(write.node), write.attributes.name);
    if name != write.node {
        return write.refuse(format!("node {node} is not allowed to modify node {}", quote(name)));
    }
    let leaves = |field: &str| write.leaves("Node", field);
    let configured = write.object.pointer("/spec/configSource").is_some_and(|source| !source.is_null());
    match write.operation() {
        Operation::Create if configured => {
            write.refuse(format!("node {node} is not allowed to create pods with a non-nil configSource"))
        }
        Operation::Create => match labels::forbidden(write.object, &Value::Null) {
            labels if labels.is_empty() => Ok(()),
            labels => write.refuse(format!("node {node} is not allowed to set the following labels: {labels}")),
        },
        Operation::Update if configured && !leaves("spec.configSource") => {
            write.refuse(format!("node {node} is not allowed to update configSource to a new non-nil configSource"))
        }
        Operation::Update if !leaves("spec.taints") => {
            write.refuse(format!("node {node} is not allowed to modify taints"))
        }
        Operation::Update if !leaves("metadata.ownerReferences") => {
            write.refuse(format!("node {node} is not allowed to modify ownerReferences"))
        }
        Operation::Update => match labels::forbidden(write.object, write.old()) {
            labels if labels.is_empty() => Ok(()),
            labels => write.refuse(format!("is not allowed to modify labels: {labels}")),
        },
        Operation::Delete | Operation::Connect => Ok(()),
    }
}
