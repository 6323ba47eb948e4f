//! Workloads of `apps/v1`, and their common part: pods with a template and a selector.
//!
//! Follows `ValidateReplicaSetSpec` and `ValidatePodTemplateSpecForReplicaSet` of `pkg/apis/apps/validation/validation.go`
//! (v1.37.1).

pub(super) mod deployments;
pub(super) mod replica_sets;

use super::rules::{Cell, Strategy};
use super::types::{pod_template_spec, pod_warnings};
use super::{carry_over, child, default_to, number, text};
use crate::error::{Errors, FieldError, Path};
use crate::object::selector::{LabelSelector, validate_structured};
use crate::object::{meta, name};
use tree::{Map, Value, json};

/// Path of the spec of a workload.
const SPEC: Path<'static> = Path::new("spec");

/// The common strategy of workloads: only `/status` writes the status.
const WORKLOAD: Strategy = Strategy {
    prepare_create: |workload| *child(workload, "status") = Map::new().into(),
    prepare_update: |new, old| carry_over(new, old, "status"),
    warnings,
    ..Strategy::NONE
};

/// Sets `replicas` to 1 by default.
fn default_replicas(workload: &mut Value) {
    default_to(child(workload, "spec"), "replicas", 1);
}

/// Rules for the selector and for the template that has to match it.
fn selector_and_template(spec: &Value, errors: &mut Errors) {
    let at = SPEC.child("selector");
    let selector = spec.get("selector");
    match selector {
        None => errors.required(at, ""),
        Some(selector) => {
            validate_structured(at, selector, errors);
            let empty = |field: &str| match &selector[field] {
                Value::Object(labels) => labels.is_empty(),
                Value::Array(expressions) => expressions.is_empty(),
                _ => true,
            };
            if empty("matchLabels") && empty("matchExpressions") {
                errors.invalid(at, json!({}), "empty selector is invalid for deployment");
            }
        }
    }
    let labels = &spec["template"]["metadata"]["labels"];
    let matches = match selector.map(LabelSelector::structured) {
        None => false,
        Some(Some(selector)) => selector.matches(|key| labels.get(key).and_then(Value::as_str)),
        Some(None) => {
            let printed = selector.map(printed_selector).unwrap_or_default();
            return errors.push(FieldError::invalid_printed(at, printed, "invalid label selector"));
        }
    };
    let at = SPEC.child("template");
    if !matches {
        let detail = "`selector` does not match template `labels`";
        errors.invalid(at.child("metadata.labels"), labels.clone(), detail);
    }
    template(at, &spec["template"], errors);
}

/// Rules for the template of pods that are kept running.
fn template(at: Path<'_>, template: &Value, errors: &mut Errors) {
    pod_template_spec(at, template, errors);
    errors.supported(at.child("spec.restartPolicy"), text(template, "/spec/restartPolicy"), &["Always"]);
    if template["spec"].get("activeDeadlineSeconds").is_some() {
        let detail = "activeDeadlineSeconds in ReplicaSet is not Supported";
        errors.forbidden(at.child("spec.activeDeadlineSeconds"), detail);
    }
}

/// Rule for the selector of an existing workload: it stays (`ValidateImmutableField`).
fn immutable_selector(new: &Value, old: &Value, errors: &mut Errors) {
    let (new, old) = (&new["spec"]["selector"], &old["spec"]["selector"]);
    if !crate::object::generation::equal(Some(new), Some(old)) {
        let at = SPEC.child("selector");
        errors.push(FieldError::invalid_printed(at, printed_selector(new), crate::object::validate::IMMUTABLE));
    }
}

/// A selector as messages show it: in the order of Go's struct, without what is empty.
fn printed_selector(selector: &Value) -> String {
    if selector.is_null() {
        return "null".into();
    }
    let fields = ["matchLabels", "matchExpressions"];
    let fields = fields.iter().filter_map(|field| Some(format!("{field:?}:{}", selector.get(field)?)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

/// Rules for counts in a status: none is negative, those of `below` are not greater than `replicas`, and what is
/// available is ready.
fn status_counts(status: &Value, counts: &[&str], below: &[&str], errors: &mut Errors) {
    let at = Path::new("status");
    let count = |field: &str| status.get(field).and_then(Value::as_i64).unwrap_or_default();
    for field in counts {
        errors.not_negative(at.child(field), Some(count(field)));
    }
    for field in below.iter().filter(|field| count(field) > count("replicas")) {
        errors.invalid(at.child(field), count(field), "cannot be greater than status.replicas");
    }
    if count("availableReplicas") > count("readyReplicas") {
        let detail = "cannot be greater than readyReplicas";
        errors.invalid(at.child("availableReplicas"), count("availableReplicas"), detail);
    }
}

/// Warnings about a workload: about its name when it is created, about its template whenever that may have changed.
fn warnings(workload: &Value, old: Option<&Value>) -> Vec<String> {
    let mut warnings = Vec::new();
    match old {
        Some(old) if meta::generation(old) == meta::generation(workload) => return warnings,
        Some(_) => {}
        None => {
            let bad = name::dns_label(meta::name(workload));
            if !bad.is_empty() {
                warnings.push(format!(
                    "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; \
                     a DNS label is recommended: [{}]",
                    bad.join(" ")
                ));
            }
        }
    }
    warnings.extend(pod_warnings(SPEC.child("template"), &workload["spec"]["template"]));
    warnings
}

/// Number at a JSON pointer, 0 without one.
fn number_or_zero(workload: &Value, pointer: &str) -> i64 {
    number(workload, pointer).unwrap_or_default()
}

/// The names of a template's containers.
const CONTAINERS: (&str, Cell) =
    ("Containers", |workload, _| super::pod_templates::each_container(&workload["spec"]["template"], "name").into());

/// The images of a template's containers.
const IMAGES: (&str, Cell) =
    ("Images", |workload, _| super::pod_templates::each_container(&workload["spec"]["template"], "image").into());

/// The text of a workload's selector; `None` if it is not valid.
pub(crate) fn selector_text(workload: &Value) -> Option<String> {
    match workload["spec"].get("selector") {
        None => Some(String::new()),
        Some(selector) => LabelSelector::structured(selector).map(|selector| selector.to_string()),
    }
}
