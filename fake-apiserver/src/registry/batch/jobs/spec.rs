//! Validation of the specification of a job.
//!
//! Follows `ValidateJobCreate`, `ValidateJobSpec` and `ValidateJobUpdate` of `pkg/apis/batch/validation/validation.go`,
//! and the options that `pkg/registry/batch/job/strategy.go` gives to them (v1.37.1). Without `scheduling`, whose feature is off.

use super::common::{NAME_LABELS, UID_LABELS, has_condition};
use super::policies;
use crate::error::{Errors, FieldError};
use crate::object::domain_path::domain_prefixed_path;
use crate::object::selector::{LabelSelector, validate_structured_update};
use crate::object::{meta, name};
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::types::pod_template_spec;
use crate::registry::{flag, number};
use tree::{Map, Value};

/// `maxParallelismForIndexedJob` and `maxFailedIndexesForIndexedJob`.
const MOST_INDEXES: i64 = 100_000;
/// `completionsSoftLimit`.
const MANY_COMPLETIONS: i64 = 100_000;
/// `parallelismLimitForHighCompletions` and `maxFailedIndexesLimitForHighCompletions`.
const MOST_OF_MANY: i64 = 10_000;
/// `maxManagedByLength`.
const LONGEST_MANAGER: usize = 63;

fn at(job: &Value) -> At<'static, '_> {
    At::object(job, "batch/v1", "Job")
}

pub(super) fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let job = at(new);
    let spec = job.field("spec");
    if old.is_none() {
        generated_selector(new, spec, errors);
    }
    self::spec(spec, errors);
    selector(spec, old, errors);
    if let Some(old) = old {
        update(spec, at(old).field("spec"), old, errors);
    }
    let completions = spec.field("completions").number().filter(|completions| *completions > 0);
    if let Some(completions) = completions.filter(|_| is_indexed(spec)) {
        let hostname = format!("{}-{}", meta::name(new), completions - 1);
        if !name::dns_label(&hostname).is_empty() {
            let detail = format!("will not able to create pod with invalid DNS label: {hostname}");
            job.field("metadata.name").invalid(detail, errors);
        }
    }
}

fn is_indexed(spec: At<'_, '_>) -> bool {
    spec.field("completionMode").text() == "Indexed"
}

/// `validateGeneratedSelector`.
fn generated_selector(job: &Value, spec: At<'_, '_>, errors: &mut Errors) {
    let selector = spec.field("selector");
    if flag(job, "/spec/manualSelector") || !selector.is_set() {
        return;
    }
    let (name, uid) = (meta::name(job), meta::uid(job));
    let expected: [(&str, &str); 4] =
        [(UID_LABELS[0], uid), (NAME_LABELS[0], name), (UID_LABELS[1], uid), (NAME_LABELS[1], name)];
    let labels = spec.field("template.metadata.labels");
    for (key, value) in expected {
        let detail = format!("must be '{value}'");
        match labels.value()[key].as_str() {
            None => errors.required(labels.path().key(key), &detail),
            Some(own) if own != value => {
                errors.push(FieldError::invalid_printed(labels.path().key(key), labels.printed(), detail));
            }
            Some(_) => {}
        }
    }
    if LabelSelector::structured(selector.value()).is_some_and(|selector| !selector.matches(expected)) {
        selector.invalid("`selector` not auto-generated", errors);
    }
}

/// The rules for the selector of a job, which has to match its template.
fn selector(spec: At<'_, '_>, old: Option<&Value>, errors: &mut Errors) {
    let selector = spec.field("selector");
    let old = old.map(|old| &old["spec"]["selector"]);
    match selector.is_set() {
        false => selector.required("", errors),
        true => validate_structured_update(selector.path(), selector.value(), old, errors),
    }
    let labels = spec.field("template.metadata.labels");
    let matches = match selector.is_set().then(|| LabelSelector::structured(selector.value())) {
        None => false,
        Some(None) => true,
        Some(Some(selector)) => selector.matches(labels.texts()),
    };
    if !matches {
        labels.invalid("`selector` does not match template `labels`", errors);
    }
}

/// Rules for the spec of a job or of a template of jobs (`validateJobSpec`).
pub(in crate::registry::batch) fn spec(spec: At<'_, '_>, errors: &mut Errors) {
    const COUNTS: [&str; 7] = [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ];
    COUNTS.iter().for_each(|field| spec.field(field).not_negative(errors));
    let (failed, per_index) = (spec.field("maxFailedIndexes"), spec.field("backoffLimitPerIndex"));
    if failed.is_set() && !per_index.is_set() {
        per_index.required("when maxFailedIndexes is specified", errors);
    }
    manager(spec.field("managedBy"), errors);
    let mode = spec.field("completionMode");
    if mode.is_set() {
        mode.supported(&["NonIndexed", "Indexed"], errors);
    }
    match mode.text() {
        "Indexed" => indexed(spec, errors),
        "NonIndexed" | "" => {
            for limit in [per_index, failed].into_iter().filter(At::is_set) {
                limit.invalid("requires indexed completion mode", errors);
            }
        }
        _ => {}
    }
    if spec.field("podFailurePolicy").is_set() {
        policies::failure(spec, errors);
    }
    let success = spec.field("successPolicy");
    match is_indexed(spec) {
        _ if !success.is_set() => {}
        true => policies::success(spec, errors),
        false => success.invalid("requires indexed completion mode", errors),
    }
    policies::replacement(spec, errors);
    let template = spec.field("template");
    pod_template_spec(template, errors);
    let policy = template.field("spec.restartPolicy");
    match policy.text() {
        "Always" | "" => policy.required("valid values: \"OnFailure\", \"Never\"", errors),
        "OnFailure" if spec.field("podFailurePolicy").is_set() => {
            policy.invalid("only \"Never\" is supported when podFailurePolicy is specified", errors);
        }
        _ => policy.supported(&["OnFailure", "Never"], errors),
    }
}

/// The rules for counts of jobs with indexes.
fn indexed(spec: At<'_, '_>, errors: &mut Errors) {
    let (completions, parallelism) = (spec.field("completions"), spec.field("parallelism"));
    let failed = spec.field("maxFailedIndexes");
    if !completions.is_set() {
        completions.required("when completion mode is Indexed", errors);
    }
    let above = |at: At<'_, '_>, most: i64| at.number().is_some_and(|number| number > most);
    if above(parallelism, MOST_INDEXES) {
        let detail = format!("must be less than or equal to {MOST_INDEXES} when completion mode is Indexed");
        parallelism.invalid(detail, errors);
    }
    if completions.number().is_some_and(|completions| above(failed, completions)) {
        failed.invalid("must be less than or equal to completions", errors);
    }
    if above(failed, MOST_INDEXES) {
        failed.invalid(format!("must be less than or equal to {MOST_INDEXES}"), errors);
    }
    if above(completions, MANY_COMPLETIONS) && spec.field("backoffLimitPerIndex").is_set() {
        if !failed.is_set() {
            failed.required(&format!("must be specified when completions is above {MANY_COMPLETIONS}"), errors);
        }
        for count in [parallelism, failed].into_iter().filter(|count| above(*count, MOST_OF_MANY)) {
            let detail = format!(
                "must be less than or equal to {MOST_OF_MANY} when completions are above {MANY_COMPLETIONS} and used with \
                 backoff limit per index"
            );
            count.invalid(detail, errors);
        }
    }
}

/// The rules for the controller of a job.
fn manager(manager: At<'_, '_>, errors: &mut Errors) {
    if manager.is_set() {
        domain_prefixed_path(manager.path(), manager.text(), errors);
    }
    if manager.text().len() > LONGEST_MANAGER {
        errors.push(FieldError::too_long(manager.path(), LONGEST_MANAGER));
    }
}

/// `ValidateJobSpecUpdate`, without the findings of [`spec`] and [`selector`].
fn update(spec: At<'_, '_>, old: At<'_, '_>, old_job: &Value, errors: &mut Errors) {
    let completions = spec.field("completions");
    if !is_indexed(spec) {
        completions.immutable(&old.field("completions"), errors);
    } else if completions.is_set()
        && !completions.equals(&old.field("completions"))
        && completions.number() != spec.field("parallelism").number()
    {
        completions.invalid("can only be modified in tandem with spec.parallelism", errors);
    }
    spec.field("selector").immutable(&old.field("selector"), errors);
    template(spec, old_job, errors);
    for field in ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"] {
        spec.field(field).immutable(&old.field(field), errors);
    }
}

/// `validatePodTemplateUpdate`: the template of a job that is suspended may be scheduled otherwise, and have other resources.
fn template(spec: At<'_, '_>, old_job: &Value, errors: &mut Errors) {
    let template = spec.field("template");
    let mut job = old_job.clone();
    let is_suspended = flag(old_job, "/spec/suspend");
    let is_quiet = old_job["status"].get("startTime").is_none() || has_condition(old_job, "Suspended");
    if !is_suspended || !is_quiet || number(old_job, "/status/active").is_some_and(|active| active != 0) {
        return template.immutable(&at(&job).field("spec.template"), errors);
    }
    let old = &mut job["spec"]["template"]["spec"];
    let new = &template.value()["spec"];
    for field in ["nodeSelector", "tolerations", "schedulingGates"] {
        put(old, field, new.get(field));
    }
    let node_affinity = new["affinity"].get("nodeAffinity");
    if old.get("affinity").is_some() || new.get("affinity").is_some() {
        if old.get("affinity").is_none() {
            put(old, "affinity", Some(&Map::new().into()));
        }
        put(&mut old["affinity"], "nodeAffinity", node_affinity);
        if new.get("affinity").is_none() && old["affinity"].as_object().is_some_and(Map::is_empty) {
            put(old, "affinity", None);
        }
    }
    for list in ["containers", "initContainers"] {
        let (Some(olds), Some(news)) = (old.get_mut(list).and_then(Value::as_array_mut), new[list].as_array()) else {
            continue;
        };
        if olds.len() == news.len() {
            for (old, new) in olds.iter_mut().zip(news).filter(|(old, new)| old["name"] == new["name"]) {
                put(old, "resources", new.get("resources"));
            }
        }
    }
    let path = spec.path();
    let path = path.child("template.spec");
    template.field("spec").shown_at(path).immutable(&at(&job).field("spec.template.spec"), errors);
}

/// Sets a field, or removes it.
fn put(object: &mut Value, field: &str, value: Option<&Value>) {
    let Some(fields) = object.as_object_mut() else { return };
    match value {
        Some(value) => fields.insert(field.into(), value.clone()),
        None => fields.remove(field),
    };
}
