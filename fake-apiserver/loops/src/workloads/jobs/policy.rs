//! The meaning of failures and successes for a job.
//!
//! Ports `k8s.io/kubernetes/pkg/controller/job/pod_failure_policy.go` and `success_policy.go` (v1.37.1).

use super::super::facts::{pods, read};
use super::indexes::Indexes;
use machinery::object::meta;
use tree::Value;

/// The meaning of a failed pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    /// It counts.
    Counts,
    /// It does not count.
    Ignored,
    /// Its index fails.
    FailsIndex,
    /// The job fails, with that message.
    FailsJob(String),
}

/// Whether a pod has failed; one that is being deleted has, unless only failed ones are replaced.
pub(super) fn has_failed(pod: &Value, job: &Value) -> bool {
    match pods::phase(pod) {
        "Failed" => true,
        "Succeeded" => false,
        _ => pods::is_going(pod) && !only_failed_are_replaced(job),
    }
}

pub(super) fn only_failed_are_replaced(job: &Value) -> bool {
    read::text(job, "/spec/podReplacementPolicy") == "Failed"
}

/// The meaning of a failed pod, by the first rule that is about it.
pub(super) fn meaning(job: &Value, pod: &Value) -> Meaning {
    for (index, rule) in read::list(job, "/spec/podFailurePolicy/rules").iter().enumerate() {
        let action = read::text(rule, "/action");
        let place = format!("{}/{}", meta::namespace(pod), meta::name(pod));
        let message = if let Some(requirement) = rule.get("onExitCodes").filter(|on| on.is_object()) {
            exited(pod, requirement).map(|container| {
                let code = read::int(container, "/state/terminated/exitCode");
                let name = read::text(container, "/name");
                format!("Container {name} for pod {place} failed with exit code {code} matching {action} rule at index {index}")
            })
        } else {
            condition(pod, read::list(rule, "/onPodConditions"))
                .map(|kind| format!("Pod {place} has condition {kind} matching {action} rule at index {index}"))
        };
        match (message, action) {
            (None, _) => {}
            (Some(_), "Ignore") => return Meaning::Ignored,
            (Some(_), "FailIndex") => return Meaning::FailsIndex,
            (Some(message), "FailJob") => return Meaning::FailsJob(message),
            (Some(_), _) => return Meaning::Counts,
        }
    }
    Meaning::Counts
}

fn exited<'p>(pod: &'p Value, requirement: &Value) -> Option<&'p Value> {
    let name = read::text(requirement, "/containerName");
    let values: Vec<i64> = read::list(requirement, "/values").iter().filter_map(Value::as_i64).collect();
    let wants_in = read::text(requirement, "/operator") == "In";
    let statuses = ["/status/containerStatuses", "/status/initContainerStatuses"].into_iter();
    let mut statuses = statuses.flat_map(|list| read::list(pod, list));
    statuses.find(|status| {
        let code = read::int(status, "/state/terminated/exitCode");
        (name.is_empty() || read::text(status, "/name") == name) && code != 0 && values.contains(&code) == wants_in
    })
}

fn condition<'p>(pod: &'p Value, patterns: &[Value]) -> Option<&'p str> {
    let same = |condition: &Value, pattern: &Value| {
        ["/type", "/status"].iter().all(|field| read::text(condition, field) == read::text(pattern, field))
    };
    let mut all = read::list(pod, "/status/conditions").iter();
    let found = all.find(|condition| patterns.iter().any(|pattern| same(condition, pattern)))?;
    Some(read::text(found, "/type"))
}

/// Says which rule is met by the indexes that have succeeded.
pub(super) fn success(job: &Value, succeeded: &Indexes, completions: i64) -> Option<String> {
    if succeeded.0.is_empty() {
        return None;
    }
    let rules = read::list(job, "/spec/successPolicy/rules");
    let is_met = |rule: &Value| {
        let count = read::number(rule, "/succeededCount");
        match rule.get("succeededIndexes").and_then(Value::as_str) {
            Some(text) => {
                let wanted = Indexes::parse(text, completions);
                let there = i64::try_from(wanted.0.intersection(&succeeded.0).count()).unwrap_or(i64::MAX);
                !wanted.0.is_empty() && (there == wanted.len() || count.is_some_and(|count| there >= count))
            }
            None => count.is_some_and(|count| succeeded.len() >= count),
        }
    };
    let index = rules.iter().position(is_met)?;
    Some(format!("Matched rules at index {index}"))
}
