//! How long a job waits before it creates pods again.
//!
//! Ports `k8s.io/kubernetes/pkg/controller/job/backoff_utils.go` (v1.37.1).

use super::super::facts::{conditions, read};
use jiff::{SignedDuration, Timestamp};
use machinery::object::meta;
use std::time::Duration;
use tree::Value;

const FIRST: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_secs(600);

/// Failures since the last success.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Failures {
    count: i64,
    last: Option<Timestamp>,
}

impl Failures {
    /// The failures with those of pods that have just ended.
    pub(super) fn with(&self, succeeded: &[&Value], failed: &[&Value]) -> Failures {
        let mut failed: Vec<Timestamp> = failed.iter().map(|pod| finished(pod)).collect();
        failed.sort();
        let (mut count, last_success) = (self.count, succeeded.iter().map(|pod| finished(pod)).max());
        let mut last = self.last;
        if let Some(success) = last_success {
            (count, last) = (0, None);
            failed.retain(|time| *time > success);
        }
        count += i64::try_from(failed.len()).unwrap_or(i64::MAX);
        Failures { count, last: failed.last().copied().or(last) }
    }

    /// How long there is to wait.
    pub(super) fn wait(&self, now: Timestamp) -> Option<Duration> {
        wait(self.count, self.last?, now)
    }
}

/// How long there is to wait after so many failures.
pub(super) fn wait(failures: i64, last: Timestamp, now: Timestamp) -> Option<Duration> {
    let doublings = u32::try_from(failures.checked_sub(1).filter(|doublings| *doublings >= 0)?).unwrap_or(u32::MAX);
    let delay = FIRST.saturating_mul(1_u32.checked_shl(doublings.min(16)).unwrap_or(u32::MAX)).min(LONGEST);
    read::until(last.saturating_add(SignedDuration::try_from(delay).ok()?).unwrap_or(Timestamp::MAX), now)
}

/// When a pod has ended.
pub(super) fn finished(pod: &Value) -> Timestamp {
    let sidecars: Vec<&str> = read::list(pod, "/spec/initContainers")
        .iter()
        .filter(|container| read::text(container, "/restartPolicy") == "Always")
        .map(|container| read::text(container, "/name"))
        .collect();
    let beside = read::list(pod, "/status/initContainerStatuses").iter();
    let beside = beside.filter(|status| sidecars.contains(&read::text(status, "/name")));
    let ends = read::list(pod, "/status/containerStatuses").iter().chain(beside);
    let ends: Option<Vec<Timestamp>> = ends.map(|status| read::time(status, "/state/terminated/finishedAt")).collect();
    let unready = || {
        let ready = conditions::get(pod, "Ready").filter(|ready| read::text(ready, "/status") == "False")?;
        read::time(ready, "/lastTransitionTime")
    };
    let deleted = || {
        let grace = meta::deletion_grace_period_seconds(pod).unwrap_or_default();
        Some(read::after(read::time(pod, "/metadata/deletionTimestamp")?, -grace))
    };
    let last = ends.and_then(|ends| ends.into_iter().max());
    last.or_else(unready)
        .or_else(deleted)
        .or_else(|| meta::creation_timestamp(pod).parse().ok())
        .unwrap_or(Timestamp::MIN)
}
