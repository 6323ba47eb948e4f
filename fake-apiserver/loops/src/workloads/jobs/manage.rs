//! The creation and deletion of a job's pods (`manageJob`).

use super::super::facts::names::Names;
use super::super::facts::read::{self, stamp};
use super::super::facts::{conditions, owners, pods, rank, template};
use super::policy::{self, Meaning};
use super::work::{Work, condition};
use super::{FINALIZER, KIND, backoff, indexes, is_tracked, orphans};
use crate::act::Act;
use machinery::object::meta;
use std::collections::BTreeSet;
use tree::Value;

/// The most pods that are created or deleted at once.
const BURST: i64 = 500;

impl Work<'_> {
    /// Deletes the pods of a job that ends.
    pub(super) fn end_active_pods(&mut self) {
        for pod in std::mem::take(&mut self.active) {
            self.acts.extend(template::delete(pod, self.job));
            self.terminating += 1;
        }
        self.ready = 0;
    }

    /// Creates and deletes pods, as a job that goes on needs them. Returns the event about its suspension, if that changes.
    pub(super) fn go_on(&mut self, active: &mut i64, names: &mut Names) -> Option<Act> {
        let is_managed = meta::deletion_timestamp(self.job).is_none();
        if is_managed {
            *active = self.manage(*active, names);
        }
        let complete = match self.completions() {
            None => self.succeeded > 0 && *active == 0,
            Some(completions) => self.succeeded >= completions && *active == 0,
        };
        if complete {
            let message = "Reached expected number of succeeded pods";
            self.end = Some(condition("SuccessCriteriaMet", "True", "CompletionsReached", message, self.view));
            return None;
        }
        if is_managed { self.note_suspension() } else { None }
    }

    fn note_suspension(&mut self) -> Option<Act> {
        let now = self.view.now;
        let (value, reason, message) = match self.is_suspended() {
            true => ("True", "JobSuspended", "Job suspended"),
            false => ("False", "JobResumed", "Job resumed"),
        };
        if !ensure(&mut self.status, condition("Suspended", value, reason, message, self.view)) {
            return None;
        }
        match value {
            "True" => super::super::facts::status::unset(&mut self.status, "startTime"),
            _ => self.status["startTime"] = stamp(now).into(),
        }
        let event = if value == "True" { "Suspended" } else { "Resumed" };
        Some(self.event(false, event, message))
    }

    /// Returns the number of active pods afterwards.
    fn manage(&mut self, active: i64, names: &mut Names) -> i64 {
        if self.is_suspended() {
            return active - self.remove(active);
        }
        let parallelism = read::int(self.job, "/spec/parallelism");
        let wanted = match self.completions() {
            None if self.succeeded > 0 => active,
            None => parallelism,
            Some(completions) => (completions - self.succeeded).min(parallelism).max(0),
        };
        let removed = self.remove((active - wanted).max(0));
        if removed > 0 {
            return active - removed;
        }
        let going = if policy::only_failed_are_replaced(self.job) { self.terminating } else { 0 };
        let missing = (wanted - going - active).min(BURST);
        if missing <= 0 {
            return active;
        }
        if self.limit_of_index().is_none()
            && let Some(wait) = self.failures.wait(self.view.now)
        {
            self.again = read::sooner(self.again, Some(wait));
            return active;
        }
        active + self.create(missing, names)
    }

    fn create(&mut self, missing: i64, names: &mut Names) -> i64 {
        let places: Vec<Option<i64>> = match self.is_indexed() {
            true => self.next_indexes(missing).into_iter().map(Some).collect(),
            false => (0..missing).map(|_| None).collect(),
        };
        let created = places.len();
        for index in places {
            let pod = self.new_pod(index);
            self.acts.extend(template::create(pod, self.job, names, self.view));
        }
        i64::try_from(created).unwrap_or_default()
    }

    fn new_pod(&self, index: Option<i64>) -> Value {
        let mut pod = template::pod(&KIND, self.job);
        let mut finalizers: Vec<String> = meta::finalizers(&pod).map(str::to_owned).collect();
        if !is_tracked(&pod) {
            finalizers.push(FINALIZER.to_owned());
        }
        meta::set_finalizers(&mut pod, finalizers);
        if let Some(index) = index {
            indexes::give(&mut pod, meta::name(self.job), index);
            if self.limit_of_index().is_some() {
                let counts = |failed: &Value| policy::meaning(self.job, failed) != Meaning::Ignored;
                indexes::count_failures(&mut pod, self.replaceable.get(&index).copied(), counts);
            }
        }
        pod
    }

    /// The first indexes that are neither done nor active; those that have failed just now wait.
    fn next_indexes(&mut self, count: i64) -> Vec<i64> {
        let mut taken: BTreeSet<i64> = self.succeeded_indexes.0.clone();
        taken.extend(self.active.iter().filter_map(|pod| indexes::of(pod)));
        if policy::only_failed_are_replaced(self.job) {
            let going = self.pods.iter().filter(|pod| pods::is_terminating(pod));
            taken.extend(going.filter_map(|pod| indexes::of(pod)));
        }
        taken.extend(self.failed_indexes.iter().flat_map(|failed| failed.0.iter()));
        let free = (0..self.completions().unwrap_or_default()).filter(|index| !taken.contains(index));
        let mut free: Vec<i64> = free.take(usize::try_from(count).unwrap_or_default()).collect();
        if self.limit_of_index().is_some() {
            let waits = |index: &i64| {
                let pod = self.replaceable.get(index)?;
                backoff::wait(indexes::all_failures(pod) + 1, backoff::finished(pod), self.view.now)
            };
            let wait = free.iter().filter_map(waits).min();
            free.retain(|index| waits(index).is_none());
            if free.is_empty() {
                self.again = read::sooner(self.again, wait);
            }
        }
        free
    }

    /// Deletes active pods: those whose index another one has or nobody wants, and so many of the others. Returns how many.
    fn remove(&mut self, least: i64) -> i64 {
        let least = usize::try_from(least).unwrap_or_default();
        let mut gone: Vec<&Value> = Vec::new();
        let mut left = self.active.clone();
        left.sort_by(|one, other| rank::compare((one, 0), (other, 0), None));
        if self.is_indexed() {
            let completions = self.completions().unwrap_or_default();
            let mut seen = BTreeSet::new();
            // The best pod of an index is the last one.
            let (keep, surplus): (Vec<&Value>, Vec<&Value>) = left
                .into_iter()
                .rev()
                .partition(|pod| indexes::valid(pod, completions).is_some_and(|index| seen.insert(index)));
            gone = surplus;
            left = keep.into_iter().rev().collect();
        }
        let more = least.saturating_sub(gone.len());
        gone.extend(left.into_iter().take(more));
        gone.truncate(usize::try_from(BURST).unwrap_or_default());
        for pod in &gone {
            if is_tracked(pod) {
                self.acts.push(orphans::untrack(&owners::key(pod)));
            }
            self.acts.extend(template::delete(pod, self.job));
            self.terminating += 1;
            self.ready -= i64::from(pods::is_ready(pod));
        }
        i64::try_from(gone.len()).unwrap_or_default()
    }
}

/// Sets a condition, in its place if there is one, and returns whether it says anything new. One that is false is not added.
pub(super) fn ensure(status: &mut Value, condition: Value) -> bool {
    let kind = read::text(&condition, "/type").to_owned();
    let same = |old: &Value| {
        ["/status", "/reason", "/message"].iter().all(|at| read::text(old, at) == read::text(&condition, at))
    };
    match conditions::in_status(status, &kind) {
        Some(old) if same(old) => false,
        None if read::text(&condition, "/status") == "False" => false,
        None => {
            conditions::push(status, condition);
            true
        }
        Some(_) => {
            let all = read::list(status, "/conditions").iter().map(|old| match read::text(old, "/type") == kind {
                true => condition.clone(),
                false => old.clone(),
            });
            status["conditions"] = all.collect::<Vec<Value>>().into();
            true
        }
    }
}
