//! One pass over a job.

use super::super::facts::names::Names;
use super::super::facts::owners;
use super::super::facts::pods::{self, PODS};
use super::super::facts::read::{self, stamp};
use super::super::facts::{conditions, status, template};
use super::backoff::{self, Failures};
use super::indexes::{self, Indexes};
use super::policy::{self, Meaning};
use super::{FINALIZER, KIND, is_tracked};
use crate::act::Act;
use crate::plan::{Plan, View};
use machinery::object::meta;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tree::{Value, json};

/// The knowledge of a pass, and its decisions so far.
pub(super) struct Work<'v> {
    pub(super) view: &'v View<'v>,
    pub(super) job: &'v Arc<Value>,
    pub(super) status: Value,
    pub(super) pods: Vec<&'v Value>,
    pub(super) active: Vec<&'v Value>,
    /// Pods that are being deleted and have not ended.
    pub(super) terminating: i64,
    pub(super) ready: i64,
    pub(super) succeeded: i64,
    pub(super) failed: i64,
    /// The indexes that have succeeded, as the status has them, and with those of pods that just have.
    pub(super) known_indexes: Indexes,
    pub(super) succeeded_indexes: Indexes,
    /// The indexes that have failed, if indexes can fail.
    pub(super) failed_indexes: Option<Indexes>,
    /// The last failed pod of each index that is neither done nor active.
    pub(super) replaceable: BTreeMap<i64, &'v Value>,
    /// The condition that ends the job.
    pub(super) end: Option<Value>,
    pub(super) failures: Failures,
    pub(super) acts: Vec<Act>,
    pub(super) again: Option<Duration>,
}

/// A condition of a job.
pub(super) fn condition(kind: &str, value: &str, reason: &str, message: &str, view: &View<'_>) -> Value {
    let time = stamp(view.now);
    json!({
        "type": kind, "status": value, "reason": reason, "message": message,
        "lastProbeTime": time.as_str(), "lastTransitionTime": time,
    })
}

impl<'v> Work<'v> {
    pub(super) fn of(job: &'v Arc<Value>, failures: &Failures, view: &'v View<'v>) -> Option<Work<'v>> {
        let selector = owners::selector(job)?;
        let selects = |pod: &Value| owners::selects(&selector, pod);
        let candidates = owners::candidates(view.objects, &PODS, job);
        let claim = owners::claim(&KIND, job, selects, &PODS, candidates, Some(FINALIZER));
        let all: Vec<&Value> = claim.mine.iter().map(|pod| &***pod).collect();
        let active: Vec<&Value> = all.iter().copied().filter(|pod| pods::is_active(pod)).collect();
        let count = |pods: &[&Value], counts: fn(&Value) -> bool| {
            i64::try_from(pods.iter().filter(|pod| counts(pod)).count()).unwrap_or(i64::MAX)
        };
        Some(Work {
            view,
            job,
            status: status::of(job),
            terminating: count(&all, pods::is_terminating),
            ready: count(&active, pods::is_ready),
            pods: all,
            active,
            succeeded: 0,
            failed: 0,
            known_indexes: Indexes::default(),
            succeeded_indexes: Indexes::default(),
            failed_indexes: None,
            replaceable: BTreeMap::new(),
            end: None,
            failures: failures.clone(),
            acts: claim.acts,
            again: None,
        })
    }

    pub(super) fn plan(mut self, names: &mut Names, failures: &mut Failures) -> Plan {
        self.count();
        self.start();
        self.find_end();
        if self.is_indexed() {
            self.count_indexes();
        }
        let mut active = i64::try_from(self.active.len()).unwrap_or(i64::MAX);
        let suspended = match self.end.is_some() {
            true => {
                self.end_active_pods();
                active = 0;
                None
            }
            false => self.go_on(&mut active, names),
        };
        status::count(&mut self.status, "active", active);
        self.status["ready"] = self.ready.into();
        self.status["terminating"] = self.terminating.into();
        self.track(suspended, failures)
    }

    pub(super) fn is_indexed(&self) -> bool {
        read::text(self.job, "/spec/completionMode") == "Indexed"
    }

    pub(super) fn is_suspended(&self) -> bool {
        read::flag(self.job, "/spec/suspend")
    }

    pub(super) fn completions(&self) -> Option<i64> {
        read::number(self.job, "/spec/completions")
    }

    pub(super) fn limit_of_index(&self) -> Option<i64> {
        read::number(self.job, "/spec/backoffLimitPerIndex")
    }

    /// The uids of pods that have been counted, but have their finalizer still.
    pub(super) fn uncounted(&self, list: &str) -> BTreeSet<String> {
        let uids = read::list(&self.status, &format!("/uncountedTerminatedPods/{list}"));
        uids.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    fn count(&mut self) {
        let new = |uncounted: &BTreeSet<String>, ended: &dyn Fn(&Value) -> bool| -> Vec<&'v Value> {
            let completions = self.completions().unwrap_or_default();
            let is_valid = |pod: &Value| !self.is_indexed() || indexes::valid(pod, completions).is_some();
            let pods = self.pods.iter().copied().filter(|pod| is_tracked(pod) && !uncounted.contains(meta::uid(pod)));
            pods.filter(|pod| is_valid(pod) && ended(pod)).collect()
        };
        let (good, bad) = (self.uncounted("succeeded"), self.uncounted("failed"));
        let succeeded = new(&good, &|pod| pods::phase(pod) == "Succeeded");
        let failed = new(&bad, &|pod| policy::has_failed(pod, self.job));
        let counting = failed.iter().filter(|pod| policy::meaning(self.job, pod) != Meaning::Ignored).count();
        let sum = |status: &str, new: usize, uncounted: usize| {
            read::int(&self.status, status) + i64::try_from(new + uncounted).unwrap_or_default()
        };
        let totals = (sum("/succeeded", succeeded.len(), good.len()), sum("/failed", counting, bad.len()));
        self.failures = self.failures.with(&succeeded, &failed);
        (self.succeeded, self.failed) = totals;
    }

    fn start(&mut self) {
        if read::text(&self.status, "/startTime").is_empty() && !self.is_suspended() {
            self.status["startTime"] = stamp(self.view.now).into();
        }
    }

    fn failure(&self, reason: &str, message: &str) -> Option<Value> {
        Some(condition("FailureTarget", "True", reason, message, self.view))
    }

    fn find_end(&mut self) {
        let holds = |kind: &str| {
            conditions::in_status(&self.status, kind).filter(|found| read::text(found, "/status") == "True").cloned()
        };
        let failure_message = || {
            let failed = self.pods.iter().filter(|pod| policy::has_failed(pod, self.job));
            failed.map(|pod| policy::meaning(self.job, pod)).find_map(|meaning| match meaning {
                Meaning::FailsJob(message) => Some(message),
                _ => None,
            })
        };
        self.end = if let Some(met) = holds("SuccessCriteriaMet") {
            Some(met)
        } else if let Some(target) = holds("FailureTarget") {
            let (reason, message) = (read::text(&target, "/reason"), read::text(&target, "/message"));
            Some(condition("Failed", "True", reason, message, self.view))
        } else if let Some(message) = failure_message() {
            self.failure("PodFailurePolicy", &message)
        } else if self.failed > read::int(self.job, "/spec/backoffLimit") || self.restarts_too_often() {
            self.failure("BackoffLimitExceeded", "Job has reached the specified backoff limit")
        } else {
            self.find_deadline()
        };
    }

    fn find_deadline(&mut self) -> Option<Value> {
        let seconds = read::number(self.job, "/spec/activeDeadlineSeconds").filter(|_| !self.is_suspended())?;
        let started = read::time(&self.status, "/startTime")?;
        match read::until(read::after(started, seconds), self.view.now) {
            Some(left) => {
                self.again = Some(left);
                None
            }
            None => self.failure("DeadlineExceeded", "Job was active longer than specified deadline"),
        }
    }

    /// Whether containers of pods that restart them have been restarted too often.
    fn restarts_too_often(&self) -> bool {
        if read::text(self.job, "/spec/template/spec/restartPolicy") != "OnFailure" {
            return false;
        }
        let pods = self.pods.iter().filter(|pod| matches!(pods::phase(pod), "Running" | "Pending"));
        let statuses = pods.flat_map(|pod| {
            read::list(pod, "/status/initContainerStatuses").iter().chain(read::list(pod, "/status/containerStatuses"))
        });
        let restarts: i64 = statuses.map(|status| read::int(status, "/restartCount")).sum();
        match read::int(self.job, "/spec/backoffLimit") {
            0 => restarts > 0,
            limit => restarts >= limit,
        }
    }

    fn count_indexes(&mut self) {
        let completions = self.completions().unwrap_or_default();
        let tracked = || self.pods.iter().copied().filter(|pod| is_tracked(pod));
        let succeeded = tracked().filter(|pod| pods::phase(pod) == "Succeeded");
        let succeeded: Vec<i64> = succeeded.filter_map(|pod| indexes::valid(pod, completions)).collect();
        self.known_indexes = Indexes::parse(read::text(&self.status, "/completedIndexes"), completions);
        self.succeeded_indexes = self.known_indexes.with(succeeded);
        self.succeeded = self.succeeded_indexes.len();
        if let Some(limit) = self.limit_of_index() {
            let known = Indexes::parse(read::text(&self.status, "/failedIndexes"), completions);
            let failed = tracked().filter(|pod| self.fails_index(pod, limit));
            let failed: Vec<i64> = failed.filter_map(|pod| indexes::valid(pod, completions)).collect();
            let failed = known.with(failed);
            if self.end.is_none() {
                self.end = self.end_of_indexes(&failed, completions);
            }
            self.failed_indexes = Some(failed);
            self.replaceable = self.find_replaceable(completions);
        }
        if self.end.is_none()
            && let Some(message) = policy::success(self.job, &self.succeeded_indexes, completions)
        {
            self.end = Some(condition("SuccessCriteriaMet", "True", "SuccessPolicy", &message, self.view));
        }
    }

    fn fails_index(&self, pod: &Value, limit: i64) -> bool {
        policy::has_failed(pod, self.job)
            && match policy::meaning(self.job, pod) {
                Meaning::FailsIndex => true,
                Meaning::Ignored => false,
                _ => indexes::failures(pod) >= limit,
            }
    }

    fn end_of_indexes(&self, failed: &Indexes, completions: i64) -> Option<Value> {
        let most = read::number(self.job, "/spec/maxFailedIndexes");
        if most.is_some_and(|most| failed.len() > most) {
            let message = "Job has exceeded the specified maximal number of failed indexes";
            return self.failure("MaxFailedIndexesExceeded", message);
        }
        let all_done = failed.len() + self.succeeded_indexes.len() >= completions;
        (!failed.0.is_empty() && all_done).then(|| self.failure("FailedIndexes", "Job has failed indexes")).flatten()
    }

    fn find_replaceable(&self, completions: i64) -> BTreeMap<i64, &'v Value> {
        let active: BTreeSet<i64> = self.active.iter().filter_map(|pod| indexes::of(pod)).collect();
        let is_done = |index: &i64| {
            let failed = self.failed_indexes.as_ref().is_some_and(|failed| failed.0.contains(index));
            self.succeeded_indexes.0.contains(index) || failed || active.contains(index)
        };
        let mut last: BTreeMap<i64, &'v Value> = BTreeMap::new();
        let failed = self.pods.iter().copied().filter(|pod| is_tracked(pod) && policy::has_failed(pod, self.job));
        for pod in failed {
            let Some(index) = indexes::valid(pod, completions).filter(|index| !is_done(index)) else { continue };
            let is_later = |other: &&Value| {
                indexes::all_failures(other) <= indexes::all_failures(pod)
                    && backoff::finished(pod) >= backoff::finished(other)
            };
            if last.get(&index).is_none_or(is_later) {
                last.insert(index, pod);
            }
        }
        last
    }

    pub(super) fn event(&self, warning: bool, reason: &'static str, message: &str) -> Act {
        template::event(self.job, warning, reason, message.to_owned())
    }
}
