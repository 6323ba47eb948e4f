//! Cron jobs.
//!
//! Follows `pkg/registry/batch/cronjob/strategy.go`, `ValidateCronJobCreate` and `ValidateCronJobUpdate` of
//! `pkg/apis/batch/validation/validation.go`, `SetDefaults_CronJob` of `pkg/apis/batch/v1/defaults.go` and `printCronJob` of
//! `pkg/printers/internalversion/printers.go` (v1.37.1).

use super::jobs::{drop_scheduling, job_spec};
use super::time_zone::time_zone;
use super::{default_failure_policy, job_spec_warnings, schedule};
use crate::error::{Errors, Path};
use crate::object::meta;
use crate::registry::apps::name_warning;
use crate::registry::columns::{flag, label_selector, since};
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::pod_templates::each_container;
use crate::registry::rules::{Cell, Rules, Strategy};
use crate::registry::types::{default_pod_template_spec, drop_disabled_template_fields};
use crate::registry::{child, default_to, items, text};
use tree::Value;

pub(in crate::registry) const RULES: Rules = Rules {
    owns_generation: true,
    cells: CELLS,
    strategy: Strategy { default, prepare, validate, warnings, ..Strategy::NONE },
    ..Rules::ORDINARY
};

/// The longest name: a job has 11 characters more, within the 63 of a label.
const LONGEST_NAME: usize = 52;

fn at(cron_job: &Value) -> At<'static, '_> {
    At::object(cron_job, "batch/v1", "CronJob")
}

fn prepare(_: &Context<'_>, cron_job: &mut Value, old: Option<&Value>) {
    drop_disabled_template_fields(cron_job, "spec/jobTemplate/spec/template/spec");
    let spec = child(child(child(cron_job, "spec"), "jobTemplate"), "spec");
    drop_scheduling(spec, old.map(job));
}

fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let (cron_job, old) = (at(new), old.map(at));
    let spec = cron_job.field("spec");
    let before = |field: &'static str| old.map(|old| old.value()["spec"][field].clone());
    schedule(spec, before("schedule"), errors);
    spec.field("startingDeadlineSeconds").not_negative(errors);
    let zone = spec.field("timeZone");
    if before("timeZone").is_none_or(|before| before != *zone.value()) {
        time_zone(zone, errors);
    }
    spec.field("concurrencyPolicy").one_of(&["Allow", "Forbid", "Replace"], errors);
    let job = spec.field("jobTemplate.spec");
    job_spec(job, errors);
    if job.field("selector").is_set() {
        job.field("selector").invalid("`selector` will be auto-generated", errors);
    }
    if job.field("manualSelector").flag() {
        job.field("manualSelector").unsupported(&["nil", "false"], errors);
    }
    spec.field("successfulJobsHistoryLimit").not_negative(errors);
    spec.field("failedJobsHistoryLimit").not_negative(errors);
    let name = cron_job.field("metadata.name");
    if old.is_none() && name.text().len() > LONGEST_NAME {
        name.invalid(format!("must be no more than {LONGEST_NAME} characters"), errors);
    }
}

/// Rules for `schedule`. One that has held a time zone may go on to hold one (`validateScheduleFormat`).
fn schedule(spec: At<'_, '_>, before: Option<Value>, errors: &mut Errors) {
    let schedule = spec.field("schedule");
    if schedule.is_empty() {
        return errors.covered("", |errors| schedule.required("", errors));
    }
    if let Err(why) = schedule::check(schedule.text()) {
        schedule.invalid(why, errors);
    }
    let has_zone = |text: &str| text.contains("TZ");
    let may_have_zone = before.as_ref().and_then(Value::as_str).is_some_and(has_zone);
    match has_zone(schedule.text()) {
        true if !may_have_zone => {
            schedule.invalid("cannot use TZ or CRON_TZ in schedule, use timeZone field instead", errors);
        }
        true if spec.field("timeZone").is_set() => {
            schedule.invalid("cannot use both timeZone field and TZ or CRON_TZ in schedule", errors);
        }
        _ => {}
    }
}

/// `SetDefaults_CronJob`. A job's own defaults are set when one is created.
fn default(job: &mut Value) {
    let spec = child(job, "spec");
    default_to(spec, "concurrencyPolicy", "Allow");
    default_to(spec, "suspend", false);
    default_to(spec, "successfulJobsHistoryLimit", 3);
    default_to(spec, "failedJobsHistoryLimit", 1);
    let job = child(child(spec, "jobTemplate"), "spec");
    default_failure_policy(job);
    default_pod_template_spec(child(job, "template"));
}

fn warnings(_: &Context<'_>, cron_job: &Value, old: Option<&Value>) -> Vec<String> {
    let mut warnings = Vec::from_iter(old.is_none().then(|| name_warning(cron_job)).flatten());
    if old.is_none_or(|old| meta::generation(old) != meta::generation(cron_job)) {
        warnings.extend(job_spec_warnings(Path::new("spec.jobTemplate.spec"), job(cron_job)));
    }
    if old.is_some() && text(cron_job, "/spec/schedule").contains("TZ") {
        warnings.push(
            "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see \
             https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
                .into(),
        );
    }
    warnings
}

fn job(job: &Value) -> &Value {
    &job["spec"]["jobTemplate"]["spec"]
}

const CELLS: &[(&str, Cell)] = &[
    ("Schedule", |job, _| text(job, "/spec/schedule").into()),
    ("Timezone", |job, _| job["spec"].get("timeZone").and_then(Value::as_str).unwrap_or("<none>").into()),
    ("Suspend", |job, _| flag(job["spec"].get("suspend")).into()),
    ("Active", |job, _| items(job, "/status/active").len().into()),
    ("Last Schedule", |job, now| match text(job, "/status/lastScheduleTime") {
        "" => "<none>".into(),
        time => since(time, now).into(),
    }),
    ("Containers", |cron, _| each_container(&job(cron)["template"], "name").into()),
    ("Images", |cron, _| each_container(&job(cron)["template"], "image").into()),
    ("Selector", |cron, _| label_selector(job(cron).get("selector")).into()),
];
