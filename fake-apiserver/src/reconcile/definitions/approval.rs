//! The condition that tells whether a definition in a group of Kubernetes is approved.
//!
//! Follows `calculateCondition` of `pkg/controller/apiapproval` (k8s.io/apiextensions-apiserver v0.37.1).

use super::stored::Stored;
use crate::clock::format_seconds;
use crate::commit::definition::Condition;
use crate::error::ApiResult;
use crate::reconcile::reconciler::Context;
use crate::registry::{Approval, approval_of};

/// Writes the condition, if the group is one of those and it is not there yet.
pub(super) async fn settle(cluster: &Context<'_>, stored: &mut Stored) -> ApiResult<()> {
    let Some((approval, message)) = approval_of(&stored.definition) else { return Ok(()) };
    let reason = match approval {
        Approval::Approved => "ApprovedAnnotation",
        Approval::Bypassed => "UnapprovedAnnotation",
        Approval::Missing => "MissingAnnotation",
        Approval::Invalid => "InvalidAnnotation",
    };
    let condition = Condition {
        type_: "KubernetesAPIApprovalPolicyConformant",
        status: approval == Approval::Approved,
        reason,
        message: &message,
    };
    if condition.is_in(&stored.definition) {
        return Ok(());
    }
    stored.change(cluster, |definition| condition.set(definition, &format_seconds(cluster.now))).await
}
