//! The writes of a node to claims: it reports in their status how their volumes are expanded, and nothing else.

use super::write::Write;
use crate::admission::Operation;
use crate::error::ApiResult;
use crate::registry::Compared;
use crate::schema::quote;
use tree::Value;

/// The fields that a node may change in the status, and leave out of the metadata.
const CHANGEABLE: [(&str, &[&str]); 2] = [
    ("metadata", &["resourceVersion", "managedFields"]),
    ("status", &["capacity", "conditions", "allocatedResourceStatuses", "allocatedResources"]),
];

/// `admitPVCStatus`.
pub(super) fn admit_status(write: &Write<'_>) -> ApiResult<()> {
    if write.operation() != Operation::Update {
        return write.refuse_operation();
    }
    let claim = Compared("v1", "PersistentVolumeClaim");
    match claim.difference(&fixed(write.old()), &fixed(write.object)) {
        None => Ok(()),
        Some(difference) => write.refuse(format!(
            "node {} is not allowed to update fields other than status.quantity and status.conditions: {difference}",
            quote(write.node)
        )),
    }
}

/// The claim without what a node may change.
fn fixed(claim: &Value) -> Value {
    let mut claim = claim.clone();
    for (part, fields) in CHANGEABLE {
        if let Some(part) = claim.get_mut(part).and_then(Value::as_object_mut) {
            fields.iter().for_each(|field| drop(part.remove(*field)));
        }
    }
    claim
}

/// Refuses any other write.
pub(super) fn refuse(write: &Write<'_>) -> ApiResult<()> {
    write.refuse("may only update PVC status")
}
