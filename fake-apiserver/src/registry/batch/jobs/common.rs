//! The labels of a job's pods, and the job's conditions, for its defaults, rules and columns.

use crate::registry::{items, text};
use tree::Value;

/// The labels of pods that tell their job, and the one by which the selector finds them (`generateSelector`).
pub(super) const NAME_LABELS: [&str; 2] = ["job-name", "batch.kubernetes.io/job-name"];
pub(super) const UID_LABELS: [&str; 2] = ["controller-uid", "batch.kubernetes.io/controller-uid"];

/// Whether a condition of the job is true (`hasJobCondition`).
pub(super) fn has_condition(job: &Value, type_: &str) -> bool {
    let conditions = items(job, "/status/conditions").iter();
    conditions.into_iter().find(|own| text(own, "/type") == type_).is_some_and(|own| text(own, "/status") == "True")
}
