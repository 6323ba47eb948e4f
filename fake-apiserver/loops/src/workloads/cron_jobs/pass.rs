//! One pass over a cron job (`syncCronJob` and `cleanupFinishedJobs`).

use super::super::facts::read::{self, stamp};
use super::super::facts::{conditions, owners, status, template};
use super::super::jobs::{JOBS, is_finished};
use super::due::{self, Due};
use super::schedule::Schedule;
use super::{CRON_JOBS, KIND};
use crate::act::{Act, Deletion, Propagation};
use crate::plan::{Plan, View};
use crate::resource::Key;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use machinery::object::meta;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tree::{Value, json};

const SCHEDULED: &str = "batch.kubernetes.io/cronjob-scheduled-timestamp";

/// A pass.
pub(super) struct Pass<'v> {
    view: &'v View<'v>,
    before: &'v Arc<Value>,
    /// The cron job with its new status.
    object: Value,
    started: &'v mut HashMap<Key, Timestamp>,
    acts: Vec<Act>,
}

impl<'v> Pass<'v> {
    pub(super) fn new(
        before: &'v Arc<Value>,
        view: &'v View<'v>,
        started: &'v mut HashMap<Key, Timestamp>,
    ) -> Pass<'v> {
        let mut object = (**before).clone();
        object["status"] = status::of(before);
        Pass { view, before, object, started, acts: Vec::new() }
    }

    pub(super) fn plan(mut self) -> Plan {
        let jobs: Vec<&Arc<Value>> = self
            .view
            .objects
            .within(&JOBS, meta::namespace(self.before))
            .map(|(_, job)| job)
            .filter(|job| owners::is_controlled_by(job, self.before))
            .collect();
        self.note_started(&jobs);
        self.clean_up(&jobs);
        self.note_ended(&jobs);
        let again = if meta::deletion_timestamp(self.before).is_none() { self.start() } else { None };
        let object = status::changed(self.before, self.object["status"].clone());
        self.acts.extend(object.map(|object| Act::Update { resource: CRON_JOBS, subresource: "status", object }));
        Plan { again, ..Plan::of(self.acts) }
    }

    fn event(&mut self, warning: bool, reason: &'static str, message: String) {
        self.acts.push(template::event(self.before, warning, reason, message));
    }

    fn active(&self) -> Vec<Value> {
        read::list(&self.object, "/status/active").to_vec()
    }

    fn is_active(&self, job: &Value) -> bool {
        self.active().iter().any(|active| read::text(active, "/uid") == meta::uid(job))
    }

    fn set_active(&mut self, active: Vec<Value>) {
        match active.is_empty() {
            true => status::unset(&mut self.object["status"], "active"),
            false => self.object["status"]["active"] = active.into(),
        }
    }

    fn forget(&mut self, uid: &str) {
        let active = self.active().into_iter().filter(|active| read::text(active, "/uid") != uid).collect();
        self.set_active(active);
    }

    /// Jobs that were asked for are active once they are there.
    fn note_started(&mut self, jobs: &[&Arc<Value>]) {
        for job in jobs {
            let Some(time) = self.started.remove(&owners::key(job)) else { continue };
            let mut active = self.active();
            active.push(json!({
                "apiVersion": "batch/v1", "kind": "Job", "namespace": meta::namespace(job), "name": meta::name(job),
                "uid": meta::uid(job), "resourceVersion": meta::resource_version(job),
            }));
            self.set_active(active);
            self.object["status"]["lastScheduleTime"] = stamp(time).into();
        }
    }

    fn clean_up(&mut self, jobs: &[&'v Arc<Value>]) {
        for (condition, limit) in
            [("Complete", "/spec/successfulJobsHistoryLimit"), ("Failed", "/spec/failedJobsHistoryLimit")]
        {
            let Some(limit) = read::number(self.before, limit) else { continue };
            let mut ended: Vec<&Arc<Value>> =
                jobs.iter().copied().filter(|job| conditions::holds(job, condition)).collect();
            // Those that never started are the youngest.
            ended.sort_by_key(|job| {
                let started = read::text(job, "/status/startTime");
                (started.is_empty(), started.to_owned(), meta::name(job).to_owned())
            });
            let surplus = ended.len().saturating_sub(usize::try_from(limit).unwrap_or_default());
            for job in ended.into_iter().take(surplus).filter(|job| meta::deletion_timestamp(job).is_none()) {
                self.delete(&owners::key(job), meta::uid(job));
            }
        }
    }

    fn delete(&mut self, job: &Key, uid: &str) {
        let options = Deletion { propagation: Some(Propagation::Background), ..Deletion::default() };
        self.acts.push(Act::Delete { resource: JOBS, key: job.clone(), options });
        self.event(false, "SuccessfulDelete", format!("Deleted job {}", job.name));
        self.forget(uid);
    }

    fn note_ended(&mut self, jobs: &[&Arc<Value>]) {
        for job in jobs {
            let (is_active, name) = (self.is_active(job), meta::name(job));
            if !is_finished(job) {
                if !is_active {
                    let message = format!("Saw a job that the controller did not create or forgot: {name}");
                    self.event(true, "UnexpectedJob", message);
                }
                continue;
            }
            let condition = if conditions::holds(job, "Complete") { "Complete" } else { "Failed" };
            if is_active {
                self.forget(meta::uid(job));
                self.event(false, "SawCompletedJob", format!("Saw completed job: {name}, condition: {condition}"));
            }
            let (last, done) =
                (read::time(&self.object, "/status/lastSuccessfulTime"), read::time(job, "/status/completionTime"));
            if condition == "Complete"
                && let Some(done) = done.filter(|done| last.is_none_or(|last| *done > last))
            {
                self.object["status"]["lastSuccessfulTime"] = stamp(done).into();
            }
        }
        for active in self.active() {
            let uid = read::text(&active, "/uid");
            if !jobs.iter().any(|job| meta::uid(job) == uid) {
                self.event(false, "MissingJob", format!("Active job went missing: {}", read::text(&active, "/name")));
                self.forget(uid);
            }
        }
    }

    /// The zone of the schedule, or `None` if it is unknown, which is told.
    fn zone(&mut self) -> Option<TimeZone> {
        let name = read::text(self.before, "/spec/timeZone").to_owned();
        if name.is_empty() {
            return Some(TimeZone::UTC);
        }
        let zone = TimeZone::get(&name).ok();
        if zone.is_none() {
            let message = format!("invalid timeZone: {name:?}: unknown time zone {name}");
            self.event(true, "UnknownTimeZone", message);
        }
        zone
    }

    /// Starts a job if one is due, and returns after how long the next one is.
    fn start(&mut self) -> Option<Duration> {
        let zone = self.zone()?;
        if read::flag(self.before, "/spec/suspend") {
            return None;
        }
        let text = read::text(self.before, "/spec/schedule").to_owned();
        let Some(schedule) = Schedule::parse(&text, &zone) else {
            self.event(true, "UnparseableSchedule", format!("unparseable schedule: {text:?} : not a schedule"));
            return None;
        };
        let now = self.view.now;
        let due = Due::of(&self.object, &schedule, now, true);
        if due.missed_many() {
            let message =
                "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
            self.event(true, "TooManyMissedTimes", message.to_owned());
        }
        if let Some(time) = due.time {
            self.start_at(time, &zone);
        }
        due::again(&self.object, &schedule, now)
    }

    fn start_at(&mut self, time: Timestamp, zone: &TimeZone) {
        let deadline = read::number(self.before, "/spec/startingDeadlineSeconds");
        if deadline.is_some_and(|seconds| read::after(time, seconds) < self.view.now) {
            let time = time.strftime("%a, %d %b %Y %H:%M:%S +0000");
            self.event(true, "MissSchedule", format!("Missed scheduled time to start a job: {time}"));
            return;
        }
        let name = format!("{}-{}", meta::name(self.before), time.as_second().div_euclid(60));
        let key = Key { namespace: meta::namespace(self.before).to_owned(), name };
        let is_last = read::time(&self.object, "/status/lastScheduleTime") == Some(time);
        let active = self.active();
        let is_there = active.iter().any(|active| read::text(active, "/name") == key.name);
        if is_last || is_there || self.started.contains_key(&key) {
            return;
        }
        match read::text(self.before, "/spec/concurrencyPolicy") {
            "Forbid" if !active.is_empty() => {
                let message = "Not starting job because prior execution is running and concurrency policy is Forbid";
                self.event(false, "JobAlreadyActive", message.to_owned());
                return;
            }
            "Replace" => {
                for active in active {
                    let (namespace, name) = (key.namespace.clone(), read::text(&active, "/name").to_owned());
                    self.delete(&Key { namespace, name }, read::text(&active, "/uid"));
                }
            }
            _ => {}
        }
        let object = self.job(&key, time, zone);
        self.started.insert(key.clone(), time);
        let message = format!("Created job {}", key.name);
        self.acts.push(Act::Create { resource: JOBS, key, subresource: "", object });
        self.event(false, "SuccessfulCreate", message);
    }

    fn job(&self, key: &Key, time: Timestamp, zone: &TimeZone) -> Value {
        let template = self.before.pointer("/spec/jobTemplate").cloned().unwrap_or_default();
        let mut metadata = json!({
            "name": key.name.as_str(),
            "namespace": key.namespace.as_str(),
            "ownerReferences": [KIND.reference(self.before)],
        });
        for name in ["labels", "annotations"] {
            if let Some(value) = template.pointer(&format!("/metadata/{name}")).filter(|value| value.is_object()) {
                metadata[name] = value.clone();
            }
        }
        metadata["annotations"][SCHEDULED] = rfc3339(time, zone).into();
        let spec = template.get("spec").cloned().unwrap_or_default();
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec})
    }
}

/// A time in a zone, as Go writes it.
fn rfc3339(time: Timestamp, zone: &TimeZone) -> String {
    let zoned = time.to_zoned(zone.clone());
    match zoned.offset().is_zero() {
        true => stamp(time),
        false => zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
    }
}
