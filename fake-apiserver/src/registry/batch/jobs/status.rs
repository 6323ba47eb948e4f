//! Validation of the status of a job: how its conditions, times and counts may change, and fit together.
//!
//! Follows `ValidateJobUpdateStatus` of `pkg/apis/batch/validation/validation.go`, and the options that
//! `getStatusValidationOptions` of `pkg/registry/batch/job/strategy.go` gives to it (v1.37.1).

use super::common::has_condition;
use super::indexes;
use crate::error::{Errors, FieldError};
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::{at as value_at, items, number, text};
use jiff::Timestamp;
use std::collections::HashSet;
use tree::Value;

fn cursor(job: &Value) -> At<'static, '_> {
    At::object(job, "batch/v1", "Job")
}

/// A job as it was or will be.
#[derive(Clone, Copy)]
struct Job<'j>(&'j Value);

impl<'j> Job<'j> {
    fn has(self, condition: &str) -> bool {
        has_condition(self.0, condition)
    }

    fn is_finished(self) -> bool {
        self.has("Complete") || self.has("Failed")
    }

    fn count(self, field: &str) -> i64 {
        self.0["status"][field].as_i64().unwrap_or_default()
    }

    fn time(self, field: &str) -> Option<Timestamp> {
        self.0["status"][field].as_str()?.parse().ok()
    }

    fn indexes(self, field: &str) -> &'j str {
        self.0["status"][field].as_str().unwrap_or_default()
    }

    fn completions(self) -> Option<i64> {
        number(self.0, "/spec/completions")
    }

    fn uncounted(self) -> usize {
        let lists = ["succeeded", "failed"];
        lists.iter().map(|list| items(self.0, &format!("/status/uncountedTerminatedPods/{list}")).len()).sum()
    }
}

pub(super) fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let Some(old) = old else { return };
    let at = cursor(new);
    let status = at.field("status");
    for field in ["active", "succeeded", "failed", "ready", "terminating"] {
        status.field(field).not_negative(errors);
    }
    uncounted(status, errors);
    let changes = Changes { new: Job(new), old: Job(old), status };
    changes.completion(errors);
    changes.conditions(errors);
    changes.finished(errors);
    changes.indexes(errors);
    changes.counts(errors);
    changes.success(errors);
    changes.kept(errors);
}

/// The pods that are not yet counted, each once.
fn uncounted(status: At<'_, '_>, errors: &mut Errors) {
    let mut seen = HashSet::new();
    for list in ["uncountedTerminatedPods.succeeded", "uncountedTerminatedPods.failed"] {
        for uid in status.field(list).items() {
            match uid.text() {
                "" => uid.invalid("must not be empty", errors),
                text if !seen.insert(text) => uid.duplicate(errors),
                _ => {}
            }
        }
    }
}

/// A change of a status. An error of the old status is tolerated as long as the value does not change.
struct Changes<'c, 'v> {
    new: Job<'v>,
    old: Job<'v>,
    status: At<'c, 'v>,
}

impl<'v> Changes<'_, 'v> {
    fn differ<T: PartialEq>(&self, of: impl Fn(Job<'v>) -> T) -> bool {
        of(self.new) != of(self.old)
    }

    /// Whether a field of the status changes.
    fn differs(&self, field: &str) -> bool {
        self.new.0["status"].get(field) != self.old.0["status"].get(field)
    }

    fn condition(&self, detail: &str, errors: &mut Errors) {
        let path = self.status.path();
        errors.push(FieldError::invalid(path.child("conditions"), &Value::Null, detail).without_value());
    }

    fn completion(&self, errors: &mut Errors) {
        let (new, completes) = (self.new, self.differ(|job| job.has("Complete")));
        if (completes || self.differ(|job| job.has("Failed"))) && new.has("Complete") && new.has("Failed") {
            self.condition("cannot set Complete=True and Failed=true conditions", errors);
        }
        let targets = self.differ(|job| job.has("FailureTarget"));
        if (completes || targets) && new.has("Complete") && new.has("FailureTarget") {
            self.condition("cannot set Complete=True and FailureTarget=true conditions", errors);
        }
        let time = self.status.field("completionTime");
        let ends = self.differ(|job| job.time("completionTime"));
        if (completes || ends) && time.is_set() && !new.has("Complete") {
            time.invalid("cannot set completionTime when there is no Complete=True condition", errors);
        }
        if (completes || ends) && !time.is_set() && new.has("Complete") {
            time.required("completionTime is required for Complete jobs", errors);
        }
        let starts = self.differ(|job| job.time("startTime"));
        if (starts || ends)
            && let (Some(start), Some(end)) = (new.time("startTime"), new.time("completionTime"))
            && end < start
        {
            time.invalid("must be equal to or after `startTime`", errors);
        }
    }

    fn conditions(&self, errors: &mut Errors) {
        let new = self.new;
        let fails = self.differ(|job| job.has("Failed")) || self.differs("failedIndexes");
        if fails && new.has("Failed") && !new.has("FailureTarget") {
            self.condition("cannot set Failed=True condition without the FailureTarget=true condition", errors);
        }
        let completes = self.differ(|job| job.has("Complete")) || self.differ(|job| job.has("SuccessCriteriaMet"));
        if completes && new.has("Complete") && !new.has("SuccessCriteriaMet") {
            self.condition("cannot set Complete=True condition without the SuccessCriteriaMet=true condition", errors);
        }
    }

    fn finished(&self, errors: &mut Errors) {
        if !self.new.is_finished() {
            return;
        }
        let finishes = self.differ(Job::is_finished);
        let active = self.status.field("active");
        if (finishes || self.differ(|job| job.count("active"))) && self.new.count("active") > 0 {
            active.invalid("active>0 is invalid for finished job", errors);
        }
        let start = self.status.field("startTime");
        let spec = &self.new.0["spec"];
        let never_runs = spec["suspend"] == true && self.new.completions() == Some(0);
        if (finishes || self.differ(|job| job.time("startTime"))) && !never_runs && !start.is_set() {
            start.required("startTime is required for finished job", errors);
        }
        let uncounted = self.status.field("uncountedTerminatedPods");
        let changes = self.differs("uncountedTerminatedPods");
        if (finishes || changes) && self.new.uncounted() > 0 {
            uncounted.invalid("must be empty for finished job", errors);
        }
    }

    fn indexes(&self, errors: &mut Errors) {
        let (completed, failed) = (self.status.field("completedIndexes"), self.status.field("failedIndexes"));
        let (completes, fails) = (self.differ(|job| job.indexes("completedIndexes")), self.differs("failedIndexes"));
        let has_limit = value_at(self.new.0, "/spec/backoffLimitPerIndex").is_some();
        let completions = self.new.completions();
        if completes
            && let Some(completions) = completions
            && let Err(why) = indexes::count(completed.text(), completions)
        {
            completed.invalid(format!("error parsing completedIndexes: {why}"), errors);
        }
        if fails
            && has_limit
            && let Some(completions) = completions
            && let Err(why) = indexes::count(failed.text(), completions)
        {
            failed.invalid(format!("error parsing failedIndexes: {why}"), errors);
        }
        let is_indexed = text(self.new.0, "/spec/completionMode") == "Indexed";
        if completes && !completed.is_empty() && !is_indexed {
            completed.invalid("cannot set non-empty completedIndexes when non-indexed completion mode", errors);
        }
        if fails && !has_limit && failed.is_set() {
            failed.invalid("cannot set non-null failedIndexes when backoffLimitPerIndex is null", errors);
        }
        if (completes || fails)
            && let Some(completions) = completions
            && let Some(index) = indexes::common(completed.text(), failed.text(), completions)
        {
            failed.invalid(format!("failedIndexes and completedIndexes overlap at index: {index}"), errors);
        }
    }

    fn counts(&self, errors: &mut Errors) {
        let (terminating, ready) = (self.status.field("terminating"), self.status.field("ready"));
        let finishes = self.differ(Job::is_finished);
        if (finishes || self.differs("terminating")) && self.new.is_finished() && self.new.count("terminating") > 0 {
            terminating.invalid("terminating>0 is invalid for finished job", errors);
        }
        let changes = self.differs("ready") || self.differ(|job| job.count("active"));
        if changes && ready.number().is_some_and(|ready| ready > self.new.count("active")) {
            ready.invalid("cannot set more ready pods than active", errors);
        }
    }

    fn success(&self, errors: &mut Errors) {
        let met = self.new.has("SuccessCriteriaMet");
        if met && self.new.has("Failed") {
            self.condition("cannot set SuccessCriteriaMet=True and Failed=true conditions", errors);
        }
        if met && self.new.has("FailureTarget") {
            self.condition("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions", errors);
        }
        if value_at(self.new.0, "/spec/successPolicy").is_some() && !met && self.new.has("Complete") {
            let detail = "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True";
            self.condition(detail, errors);
        }
    }

    /// Terminal conditions, times and counts of a job are not taken back (`ValidateJobStatusUpdate`).
    fn kept(&self, errors: &mut Errors) {
        let (new, old) = (self.new, self.old);
        for condition in ["Failed", "Complete", "FailureTarget"] {
            if old.has(condition) && !new.has(condition) {
                self.condition(&format!("cannot disable the terminal {condition}=True condition"), errors);
            }
        }
        let spec = &new.0["spec"];
        // Indexes that are taken away make the number smaller.
        let may_shrink = spec["completionMode"] == "Indexed" && spec.get("completions") == spec.get("parallelism");
        for (field, may_shrink) in [("failed", false), ("succeeded", may_shrink)] {
            if !may_shrink && new.count(field) < old.count(field) {
                self.status.field(field).invalid(format!("cannot decrease the {field} counter"), errors);
            }
        }
        let (completion, start) = (self.status.field("completionTime"), self.status.field("startTime"));
        let (now, before) = (new.time("completionTime"), old.time("completionTime"));
        if now.is_some() && before.is_some() && now != before {
            completion.invalid("field is immutable", errors);
        }
        let starts = self.differ(|job| job.time("startTime"));
        let resumed = |own: &Value| own["type"] == "Suspended" && own["status"] == "False";
        let resumes = old.has("Suspended") && items(new.0, "/status/conditions").iter().any(resumed);
        if starts && !resumes && old.time("startTime").is_some() && spec["suspend"] != true {
            start.invalid("field is immutable for unsuspended job once set", errors);
        }
        if old.has("SuccessCriteriaMet") && !new.has("SuccessCriteriaMet") {
            self.condition("cannot disable the SuccessCriteriaMet=True condition", errors);
        }
        if old.has("Complete") && !old.has("SuccessCriteriaMet") && new.has("SuccessCriteriaMet") {
            let detail = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions";
            self.condition(detail, errors);
        }
    }
}
