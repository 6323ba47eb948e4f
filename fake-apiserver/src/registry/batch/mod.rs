//! Jobs and cron jobs: `batch/v1`.

pub(super) mod cron_jobs;
pub(super) mod jobs;
mod schedule;
mod time_zone;

use super::types::{pod_warnings, visit};
use super::{default_to, text};
use crate::error::Path;
use tree::Value;

/// `WarningsForJobSpec`.
fn job_spec_warnings(at: Path<'_>, spec: &Value) -> Vec<String> {
    let count = |field: &str| spec[field].as_i64().unwrap_or_default();
    let is_large = text(spec, "/completionMode") == "Indexed" && count("completions") > 100_000;
    let size = (is_large && count("parallelism") > 10_000).then(|| {
        format!(
            "{at}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, \
             Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
        )
    });
    size.into_iter().chain(pod_warnings(at.child("template"), &spec["template"])).collect()
}

/// `SetDefaults_PodFailurePolicyOnPodConditionsPattern`, in the spec of a job.
fn default_failure_policy(job: &mut Value) {
    visit(job, "podFailurePolicy/rules/*/onPodConditions/*", &mut |pattern| default_to(pattern, "status", "True"));
}
