//! Jobs.
//!
//! Follows `pkg/registry/batch/job/strategy.go`, `SetDefaults_Job` of `pkg/apis/batch/v1/defaults.go` and `printJob` of
//! `pkg/printers/internalversion/printers.go` (v1.37.1).

mod common;
mod indexes;
mod policies;
mod spec;
mod status;

pub(super) use self::spec::spec as job_spec;

use self::common::{NAME_LABELS, UID_LABELS, has_condition};
use super::{default_failure_policy, job_spec_warnings};
use crate::error::Path;
use crate::object::meta;
use crate::registry::apps::{CONTAINERS, IMAGES, SELECTOR, name_warning};
use crate::registry::columns::{human_duration, since};
use crate::registry::context::Context;
use crate::registry::rules::{Cell, Rules, Strategy};
use crate::registry::types::{default_pod_template_spec, drop_disabled_template_fields};
use crate::registry::{child, default_to, flag, number, text};
use crate::schema::quote;
use jiff::Timestamp;
use tree::Value;

pub(in crate::registry) const RULES: Rules = Rules {
    fields: &[("status.successful", |job| succeeded(job).to_string().into())],
    unknown_label: |_, label| format!("field label {} not supported for Job", quote(label)),
    subresources: &[("status", Strategy { default, validate: status::validate, ..Strategy::NONE })],
    cells: CELLS,
    owns_generation: true,
    // When it is read it gets the labels of its template, which the server sets after the defaults.
    lacks_defaults: |job, _| meta::labels(job).is_empty(),
    orphans_dependents: true,
    delete_warning: Some(
        "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or \
         set propagationPolicy=Orphan to suppress this warning",
    ),
    strategy: Strategy { default, prepare, validate: spec::validate, warnings, ..Strategy::NONE },
    ..Rules::ORDINARY
};

/// `SetDefaults_Job`.
fn default(job: &mut Value) {
    let labels = job["spec"]["template"]["metadata"]["labels"].as_object().cloned();
    if let Some(labels) = labels.filter(|_| meta::labels(job).is_empty()) {
        meta::set(job, "labels", labels);
    }
    let spec = child(job, "spec");
    if spec.get("completions").is_none() && spec.get("parallelism").is_none() {
        default_to(spec, "completions", 1);
    }
    default_to(spec, "parallelism", 1);
    let indexed = spec.get("backoffLimitPerIndex").is_some();
    default_to(spec, "backoffLimit", if indexed { i32::MAX } else { 6 });
    default_to(spec, "completionMode", "NonIndexed");
    default_to(spec, "suspend", false);
    let policy = spec.get("podFailurePolicy").is_some();
    default_to(spec, "podReplacementPolicy", if policy { "Failed" } else { "TerminatingOrFailed" });
    default_to(spec, "manualSelector", false);
    default_failure_policy(spec);
    default_pod_template_spec(child(spec, "template"));
}

fn prepare(context: &Context<'_>, job: &mut Value, old: Option<&Value>) {
    drop_disabled_template_fields(job, "spec/template/spec");
    drop_scheduling(child(job, "spec"), old.map(|old| &old["spec"]));
    if old.is_some() || flag(job, "/spec/manualSelector") {
        return;
    }
    let (name, uid) = (meta::name(job).to_owned(), meta::uid(job).to_owned());
    // Where the job has its labels from its template, upstream has one map for both, though it is empty.
    let is_shared = !context.has_labels && job["spec"]["template"]["metadata"]["labels"].is_object();
    let spec = child(job, "spec");
    let labels = child(child(child(spec, "template"), "metadata"), "labels");
    let label = |labels: &mut Value, key: &str, value: &str| {
        if labels.get(key).is_none() {
            *child(labels, key) = value.into();
        }
    };
    NAME_LABELS.iter().for_each(|key| label(labels, key, &name));
    UID_LABELS.iter().for_each(|key| label(labels, key, &uid));
    label(child(child(spec, "selector"), "matchLabels"), UID_LABELS[1], &uid);
    if is_shared {
        let labels = job["spec"]["template"]["metadata"]["labels"].clone();
        meta::set(job, "labels", labels);
    }
}

/// Drops the field of the feature `WorkloadWithJob`, which is off, from the spec of a job (`DropDisabledFields`).
pub(super) fn drop_scheduling(spec: &mut Value, old: Option<&Value>) {
    if old.is_none_or(|old| old.get("scheduling").is_none())
        && let Some(fields) = spec.as_object_mut()
    {
        fields.remove("scheduling");
    }
}

fn warnings(_: &Context<'_>, job: &Value, old: Option<&Value>) -> Vec<String> {
    let mut warnings = Vec::from_iter(old.is_none().then(|| name_warning(job)).flatten());
    if old.is_none_or(|old| meta::generation(old) != meta::generation(job)) {
        warnings.extend(job_spec_warnings(Path::new("spec"), &job["spec"]));
    }
    warnings
}

fn succeeded(job: &Value) -> i64 {
    number(job, "/status/succeeded").unwrap_or_default()
}

fn status_text(job: &Value) -> &'static str {
    let first = |conditions: &[(&str, &'static str)]| {
        conditions.iter().find(|(condition, _)| has_condition(job, condition)).map(|(_, status)| *status)
    };
    if let Some(status) = first(&[("Complete", "Complete"), ("Failed", "Failed")]) {
        return status;
    }
    if meta::deletion_timestamp(job).is_some() {
        return "Terminating";
    }
    let others = ["Suspended", "FailureTarget", "SuccessCriteriaMet"];
    first(&others.map(|condition| (condition, condition))).unwrap_or("Running")
}

fn completions(job: &Value) -> String {
    let succeeded = succeeded(job);
    let parallelism = number(job, "/spec/parallelism").unwrap_or_default();
    match number(job, "/spec/completions") {
        Some(completions) => format!("{succeeded}/{completions}"),
        None if parallelism > 1 => format!("{succeeded}/1 of {parallelism}"),
        None => format!("{succeeded}/1"),
    }
}

fn duration(job: &Value, now: Timestamp) -> String {
    let (start, end) = (text(job, "/status/startTime"), text(job, "/status/completionTime"));
    match (start.parse::<Timestamp>(), end.parse::<Timestamp>()) {
        (Err(_), _) => String::new(),
        (Ok(_), Err(_)) => since(start, now),
        (Ok(start), Ok(end)) => human_duration(end.duration_since(start).as_secs()),
    }
}

const CELLS: &[(&str, Cell)] = &[
    ("Status", |job, _| status_text(job).into()),
    ("Completions", |job, _| completions(job).into()),
    ("Duration", |job, now| duration(job, now).into()),
    CONTAINERS,
    IMAGES,
    SELECTOR,
];
