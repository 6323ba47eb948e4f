//! Pod templates that are objects of their own.
//!
//! Follows `pkg/registry/core/podtemplate/strategy.go` and `ValidatePodTemplate` of
//! `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::child;
use super::rules::{Rules, Strategy};
use super::types::{default_pod_template_spec, pod_template_spec, pod_warnings};
use crate::error::{Errors, FieldError, Path};
use crate::object::meta;
use tree::Value;

/// Path of the template.
const TEMPLATE: Path<'static> = Path::new("template");

pub(super) const RULES: Rules = Rules {
    owns_generation: true,
    delete_returns_object: true,
    cells: &[
        ("Containers", |object, _| each_container(&object["template"], "name").into()),
        ("Images", |object, _| each_container(&object["template"], "image").into()),
        ("Pod Labels", |object, _| pod_labels(object).into()),
    ],
    strategy: Strategy {
        default: |object| default_pod_template_spec(child(object, "template")),
        validate,
        validate_update: |new, _| validate(new),
        warnings,
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

fn validate(object: &Value) -> Vec<FieldError> {
    Errors::of(|errors| pod_template_spec(TEMPLATE, &object["template"], errors))
}

fn warnings(object: &Value, old: Option<&Value>) -> Vec<String> {
    match old {
        Some(old) if meta::generation(old) == meta::generation(object) => Vec::new(),
        _ => pod_warnings(TEMPLATE, &object["template"]),
    }
}

/// A field of all containers of a template, separated by commas (`layoutContainerCells`).
pub(super) fn each_container(template: &Value, field: &str) -> String {
    let containers = template["spec"]["containers"].as_array().into_iter().flatten();
    containers.map(|container| container[field].as_str().unwrap_or_default()).collect::<Vec<_>>().join(",")
}

/// The labels of a template's pods (`FormatLabels`).
fn pod_labels(object: &Value) -> String {
    let labels = meta::labels(&object["template"]);
    let labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if labels.is_empty() { "<none>".into() } else { labels.join(",") }
}
