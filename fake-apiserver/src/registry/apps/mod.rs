//! Workloads of `apps/v1`, and their common part: pods with a template and a selector.
//!
//! Follows `ValidateReplicaSetSpec` and `ValidatePodTemplateSpecForReplicaSet` of `pkg/apis/apps/validation/validation.go`
//! (v1.37.1).

pub(super) mod controller_revisions;
pub(super) mod daemon_sets;
pub(super) mod deployments;
pub(super) mod replica_sets;
pub(super) mod stateful_sets;

use super::columns::{label_selector, text_map};
use super::context::Context;
use super::cursor::At;
use super::rules::{Cell, Strategy};
use super::types::{drop_disabled_template_fields, pod_template_spec, pod_warnings};
use super::{child, default_to, number};
use crate::error::{Errors, Path};
use crate::object::selector::{LabelSelector, validate_structured};
use crate::object::{meta, name};
use tree::Value;

/// Path of the spec of a workload.
const SPEC: Path<'static> = Path::new("spec");

/// The common strategy of workloads.
const WORKLOAD: Strategy = Strategy {
    prepare: |_, new, _| drop_disabled_template_fields(new, "spec/template/spec"),
    warnings,
    ..Strategy::NONE
};

/// Sets `replicas` to 1 by default.
fn default_replicas(workload: &mut Value) {
    default_to(child(workload, "spec"), "replicas", 1);
}

/// Rules for the selector and for the template that has to match it, in the spec of a workload.
fn selector_and_template(spec: At<'_, '_>, errors: &mut Errors) {
    let at = spec.field("selector");
    match at.is_set() {
        false => at.required("", errors),
        true => {
            validate_structured(at.path(), at.value(), errors);
            if at.field("matchLabels").is_empty() && at.field("matchExpressions").is_empty() {
                at.invalid("empty selector is invalid for deployment", errors);
            }
        }
    }
    let template = spec.field("template");
    let labels = template.field("metadata.labels");
    let matches = match at.is_set().then(|| LabelSelector::structured(at.value())) {
        None => false,
        Some(Some(selector)) => selector.matches(labels.texts()),
        Some(None) => return at.invalid("invalid label selector", errors),
    };
    if !matches {
        labels.invalid("`selector` does not match template `labels`", errors);
    }
    running_template(template, errors);
}

/// Rules for the template of pods that are kept running.
fn running_template(template: At<'_, '_>, errors: &mut Errors) {
    pod_template_spec(template, errors);
    always_running(template, "ReplicaSet", errors);
}

/// Rule for the selector of an existing workload: it stays.
fn immutable_selector(new: At<'_, '_>, old: Option<At<'_, '_>>, errors: &mut Errors) {
    if let Some(old) = old {
        new.field("spec.selector").immutable(&old.field("spec.selector"), errors);
    }
}

/// Rules for counts in the status of a workload: none is negative, those of `below` are not greater than `replicas`, and what
/// is available is ready.
pub(super) fn status_counts(workload: At<'_, '_>, counts: &[&str], below: &[&str], errors: &mut Errors) {
    let status = workload.field("status");
    let count = |field: &str| status.field(field).number().unwrap_or_default();
    for field in counts {
        status.field(field).not_negative(errors);
    }
    for field in below.iter().filter(|field| count(field) > count("replicas")) {
        status.field(field).invalid("cannot be greater than status.replicas", errors);
    }
    if count("availableReplicas") > count("readyReplicas") {
        status.field("availableReplicas").invalid("cannot be greater than readyReplicas", errors);
    }
}

/// Rule for the number of collisions of names: it never becomes less.
fn collisions_grow(new: At<'_, '_>, old: Option<At<'_, '_>>, errors: &mut Errors) {
    let Some(old) = old else { return };
    let (now, before) = (new.field("status.collisionCount"), old.field("status.collisionCount"));
    if before.number().is_some_and(|before| now.number().is_none_or(|now| now < before)) {
        now.invalid_value(now.number().unwrap_or_default(), "cannot be decremented", errors);
    }
}

/// Rules for templates whose pods always run; `kind` is in the finding about a deadline.
pub(super) fn always_running(template: At<'_, '_>, kind: &str, errors: &mut Errors) {
    template.field("spec.restartPolicy").supported(&["Always"], errors);
    let deadline = template.field("spec.activeDeadlineSeconds");
    if deadline.is_set() {
        deadline.forbidden(format!("activeDeadlineSeconds in {kind} is not Supported"), errors);
    }
}

/// Warnings about a workload: about its name when it is created, about its template whenever that may have changed.
fn warnings(_: &Context<'_>, workload: &Value, old: Option<&Value>) -> Vec<String> {
    let mut warnings = Vec::new();
    match old {
        Some(old) if meta::generation(old) == meta::generation(workload) => return warnings,
        Some(_) => {}
        None => warnings.extend(name_warning(workload)),
    }
    warnings.extend(pod_warnings(SPEC.child("template"), &workload["spec"]["template"]));
    warnings
}

/// The warning about a workload's name, if pods cannot have it as their hostname.
pub(super) fn name_warning(workload: &Value) -> Option<String> {
    let bad = name::dns_label(meta::name(workload));
    (!bad.is_empty()).then(|| {
        format!(
            "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label \
             is recommended: [{}]",
            bad.join(" ")
        )
    })
}

/// Number at a JSON pointer, 0 without one.
fn number_or_zero(workload: &Value, pointer: &str) -> i64 {
    number(workload, pointer).unwrap_or_default()
}

/// The names of a template's containers.
pub(super) const CONTAINERS: (&str, Cell) =
    ("Containers", |workload, _| super::pod_templates::each_container(&workload["spec"]["template"], "name").into());

/// The images of a template's containers.
pub(super) const IMAGES: (&str, Cell) =
    ("Images", |workload, _| super::pod_templates::each_container(&workload["spec"]["template"], "image").into());

/// A workload's selector, as most tables show it.
pub(super) const SELECTOR: (&str, Cell) =
    ("Selector", |workload, _| label_selector(workload["spec"].get("selector")).into());

/// The text of a workload's selector; `None` if it is not valid.
pub(crate) fn selector_text(workload: &Value) -> Option<String> {
    match workload["spec"].get("selector") {
        None => Some(String::new()),
        // The labels themselves, as replication controllers have them.
        Some(Value::Object(labels)) if !labels.is_empty() && labels.values().all(Value::is_string) => {
            Some(text_map(&workload["spec"]["selector"]))
        }
        Some(selector) => LabelSelector::structured(selector).map(|selector| selector.to_string()),
    }
}
