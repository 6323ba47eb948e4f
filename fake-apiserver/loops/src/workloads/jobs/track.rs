//! The counts of pods that have ended, the finalizer on those that are not in them yet, and the end of a job.
//!
//! Ports `trackJobStatusAndRemoveFinalizers` and `enactJobFinished` of `k8s.io/kubernetes/pkg/controller/job/job_controller.go` (v1.37.1).

use super::super::facts::read;
use super::super::facts::{conditions, owners, pods, status};
use super::backoff::Failures;
use super::manage::ensure;
use super::policy::{self, Meaning};
use super::work::{Work, condition};
use super::{JOBS, indexes, is_tracked, orphans};
use crate::act::Act;
use crate::plan::Plan;
use machinery::object::meta;
use std::collections::BTreeSet;
use tree::{Value, json};

/// The most pods that are counted at once.
const MOST: usize = 500;

impl<'v> Work<'v> {
    /// The plan of a pass: what has been decided, and the status.
    pub(super) fn track(mut self, suspended: Option<Act>, failures: &mut Failures) -> Plan {
        self.clean_uncounted();
        let counted = self.count_ended();
        let end = self.note_end();
        if let Some(object) = self.changed() {
            // What has been counted is written before the finalizers go.
            let finished = counted.is_empty() && self.finish(end.as_ref());
            let object = if finished { self.changed().unwrap_or(object) } else { object };
            *failures = self.failures.clone();
            self.acts.extend(suspended);
            self.acts.push(Act::Update { resource: JOBS, subresource: "status", object });
            if finished {
                self.tell_end(end.as_ref());
            }
        } else if counted.is_empty() && self.finish(end.as_ref()) {
            let object = self.changed();
            self.acts.extend(object.map(|object| Act::Update { resource: JOBS, subresource: "status", object }));
            self.tell_end(end.as_ref());
        }
        self.acts.extend(counted.iter().map(|pod| orphans::untrack(&owners::key(pod))));
        Plan { again: self.again, ..Plan::of(self.acts) }
    }

    fn changed(&self) -> Option<Value> {
        status::changed(self.job, self.status.clone())
    }

    /// Pods that have lost their finalizer, or are gone, are counted for good.
    fn clean_uncounted(&mut self) {
        let tracked: BTreeSet<&str> =
            self.pods.iter().filter(|pod| is_tracked(pod)).map(|pod| meta::uid(pod)).collect();
        let mut left = json!({});
        for list in ["succeeded", "failed"] {
            let all = read::list(&self.status, &format!("/uncountedTerminatedPods/{list}"));
            let (kept, counted): (Vec<&Value>, Vec<&Value>) =
                all.iter().partition(|uid| uid.as_str().is_some_and(|uid| tracked.contains(uid)));
            let (kept, counted): (Vec<Value>, usize) = (kept.into_iter().cloned().collect(), counted.len());
            let count = read::int(&self.status, &format!("/{list}")) + i64::try_from(counted).unwrap_or_default();
            if !kept.is_empty() {
                left[list] = kept.into();
            }
            if counted > 0 {
                status::count(&mut self.status, list, count);
            }
        }
        self.status["uncountedTerminatedPods"] = left;
    }

    /// Counts the pods that have ended, and returns those that can lose their finalizer.
    fn count_ended(&mut self) -> Vec<&'v Value> {
        let completions = self.completions().unwrap_or_default();
        let (good, bad) = (self.uncounted("succeeded"), self.uncounted("failed"));
        let fails_all = self.end.as_ref().is_some_and(|end| read::text(end, "/type") != "SuccessCriteriaMet");
        let (mut new_indexes, mut counted) = (Vec::new(), Vec::new());
        let mut pods = self.pods.clone();
        if self.is_indexed() {
            pods.sort_by_key(|pod| indexes::of(pod));
        }
        for pod in pods.into_iter().filter(|pod| is_tracked(pod)) {
            let has_failed = policy::has_failed(pod, self.job);
            if !self.may_untrack(pod, has_failed) {
                continue;
            }
            counted.push(pod);
            let (uid, index) = (meta::uid(pod), indexes::valid(pod, completions));
            if pods::phase(pod) == "Succeeded" && !bad.contains(uid) {
                match index {
                    Some(index) if self.is_indexed() => new_indexes.push(index),
                    None if self.is_indexed() => {}
                    _ if good.contains(uid) => {}
                    _ => self.count_uid("succeeded", uid),
                }
            } else if (has_failed || fails_all) && !bad.contains(uid) && (!self.is_indexed() || index.is_some()) {
                let ignored = policy::meaning(self.job, pod) == Meaning::Ignored;
                if !ignored {
                    self.count_uid("failed", uid);
                }
            }
            if counted.len() >= MOST {
                break;
            }
        }
        if self.is_indexed() {
            self.write_indexes(new_indexes);
        }
        counted
    }

    fn count_uid(&mut self, list: &str, uid: &str) {
        let place = &mut self.status["uncountedTerminatedPods"][list];
        match place.as_array_mut() {
            Some(uids) => uids.push(uid.into()),
            None => *place = Value::Array(vec![uid.into()]),
        }
    }

    fn write_indexes(&mut self, new: Vec<i64>) {
        let succeeded = self.succeeded_indexes.with(new);
        status::count(&mut self.status, "succeeded", succeeded.len());
        status::text(&mut self.status, "completedIndexes", &succeeded.to_string());
        match &self.failed_indexes {
            Some(failed) => self.status["failedIndexes"] = failed.to_string().into(),
            None => status::unset(&mut self.status, "failedIndexes"),
        }
    }

    fn may_untrack(&self, pod: &Value, has_failed: bool) -> bool {
        if meta::deletion_timestamp(self.job).is_some() || self.end.is_some() || pods::phase(pod) == "Succeeded" {
            return true;
        }
        let waits = || {
            let last = indexes::of(pod).and_then(|index| self.replaceable.get(&index));
            self.limit_of_index().is_some() && last.is_some_and(|last| meta::uid(last) == meta::uid(pod))
        };
        has_failed && !waits()
    }

    /// Writes how the job is going to end, and returns the condition with which it does.
    fn note_end(&mut self) -> Option<Value> {
        let end = self.end.clone()?;
        let (reason, message) = (read::text(&end, "/reason"), read::text(&end, "/message"));
        let with = |kind: &str| Some(condition(kind, "True", reason, message, self.view));
        match read::text(&end, "/type") {
            "FailureTarget" => {
                conditions::push(&mut self.status, end.clone());
                with("Failed")
            }
            "SuccessCriteriaMet" => {
                if conditions::in_status(&self.status, "SuccessCriteriaMet").is_none() {
                    conditions::push(&mut self.status, end.clone());
                }
                with("Complete")
            }
            _ => Some(end),
        }
    }

    /// Ends the job, if all its pods have ended and are counted.
    fn finish(&mut self, end: Option<&Value>) -> bool {
        let Some(end) = end else { return false };
        let waits = ["succeeded", "failed"].iter().any(|list| !self.uncounted(list).is_empty());
        if waits || self.terminating > 0 {
            return false;
        }
        ensure(&mut self.status, end.clone());
        if read::text(end, "/type") == "Complete" {
            self.status["completionTime"] = end["lastTransitionTime"].clone();
        }
        true
    }

    fn tell_end(&mut self, end: Option<&Value>) {
        let Some(end) = end else { return };
        if read::text(end, "/type") == "Complete" {
            if self.completions().is_some_and(|completions| read::int(&self.status, "/succeeded") > completions) {
                let message = "Too many succeeded pods running after completion count reached";
                self.acts.push(self.event(true, "TooManySucceededPods", message));
            }
            self.acts.push(self.event(false, "Completed", "Job completed"));
            return;
        }
        // Reasons of failures are a closed list.
        let reason = ["PodFailurePolicy", "DeadlineExceeded", "MaxFailedIndexesExceeded", "FailedIndexes"];
        let reason = reason.into_iter().find(|reason| *reason == read::text(end, "/reason"));
        let event = self.event(true, reason.unwrap_or("BackoffLimitExceeded"), read::text(end, "/message"));
        self.acts.push(event);
    }
}
