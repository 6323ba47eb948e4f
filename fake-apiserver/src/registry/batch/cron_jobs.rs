//! Cron jobs.
//!
//! Follows `pkg/registry/batch/cronjob/strategy.go`, `SetDefaults_CronJob` of `pkg/apis/batch/v1/defaults.go` and
//! `printCronJob` of `pkg/printers/internalversion/printers.go` (v1.37.1).

use super::{default_failure_policy, job_spec_warnings};
use crate::error::Path;
use crate::object::meta;
use crate::registry::apps::name_warning;
use crate::registry::columns::{flag, label_selector, since};
use crate::registry::context::Context;
use crate::registry::pod_templates::each_container;
use crate::registry::rules::{Cell, Rules, Strategy};
use crate::registry::types::default_pod_template_spec;
use crate::registry::{child, default_to, items, text};
use tree::Value;

pub(in crate::registry) const RULES: Rules = Rules {
    owns_generation: true,
    cells: CELLS,
    strategy: Strategy { default, warnings, ..Strategy::NONE },
    ..Rules::ORDINARY
};

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
