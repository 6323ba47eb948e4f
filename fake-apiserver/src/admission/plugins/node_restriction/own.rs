//! The writes of a node to what each node has of its own: a lease and a CSI node of its name, and slices of its devices.

use super::write::Write;
use crate::admission::Operation;
use crate::auth::node::NODE_LEASES;
use crate::error::ApiResult;
use crate::object::meta;
use crate::registry::text;
use crate::schema::quote;
use tree::Value;

/// `admitLease`.
pub(super) fn admit_lease(write: &Write<'_>) -> ApiResult<()> {
    if write.attributes.namespace != NODE_LEASES {
        return write.refuse(format!("can only access leases in the {} system namespace", quote(NODE_LEASES)));
    }
    match has_name_of_node(write) {
        true => Ok(()),
        false => write.refuse("can only access node lease with the same name as the requesting node"),
    }
}

/// `admitCSINode`. The subresource `status` belongs to a feature that is off.
pub(super) fn admit_csi_node(write: &Write<'_>) -> ApiResult<()> {
    match has_name_of_node(write) {
        true => Ok(()),
        false => write.refuse("can only access CSINode with the same name as the requesting node"),
    }
}

/// Whether the object is called as the node: a new one by its own name, others by that in the URL.
fn has_name_of_node(write: &Write<'_>) -> bool {
    let name = match write.operation() {
        Operation::Create => meta::name(write.object),
        Operation::Update | Operation::Delete | Operation::Connect => write.attributes.name,
    };
    name == write.node
}

/// `admitResourceSlice`. Of other writes the authorizer knows the slice.
pub(super) fn admit_resource_slice(write: &Write<'_>) -> ApiResult<()> {
    let is_own = |slice: &Value| text(slice, "/spec/nodeName") == write.node;
    match write.operation() {
        Operation::Create if !is_own(write.object) => {
            write.refuse("can only create ResourceSlice with the same NodeName as the requesting node")
        }
        Operation::Delete if !is_own(write.old()) => {
            write.refuse("can only delete ResourceSlice with the same NodeName as the requesting node")
        }
        _ => Ok(()),
    }
}
