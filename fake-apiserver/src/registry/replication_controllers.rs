//! Replication controllers.
//!
//! Follows `pkg/registry/core/replicationcontroller/strategy.go` and `SetDefaults_ReplicationController` of
//! `pkg/apis/core/v1/defaults.go` (v1.37.1).

use super::apps::{CONTAINERS, IMAGES, always_running, name_warning, status_counts};
use super::columns::text_map;
use super::context::Context;
use super::cursor::At;
use super::rules::{Rules, Strategy};
use super::types::{default_pod_template_spec, drop_disabled_template_fields, pod_template_spec, pod_warnings};
use super::{child, default_to, number};
use crate::error::{Errors, FieldError, Path};
use crate::object::meta;
use tree::{Map, Value};

fn at(controller: &Value) -> At<'static, '_> {
    At::object(controller, "v1", "ReplicationController")
}

const STRATEGY: Strategy = Strategy {
    default,
    prepare: |_, controller, _| drop_disabled_template_fields(controller, "spec/template/spec"),
    validate,
    warnings,
    ..Strategy::NONE
};

/// `NonConvertibleAnnotationPrefix`.
const NON_CONVERTIBLE: &str = "non-convertible.kubernetes.io";

fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let controller = at(new);
    spec(controller.field("spec"), errors);
    if let Some(old) = old {
        unconverted(controller.field("spec.selector"), at(old), errors);
    }
}

/// Rules for fields that an annotation of the old controller reports as not converted.
fn unconverted(selector: At<'_, '_>, old: At<'_, '_>, errors: &mut Errors) {
    let annotations = meta::annotations(old.value());
    for (key, value) in annotations.iter().filter(|(key, _)| key.starts_with(NON_CONVERTIBLE)) {
        match key.split('/').collect::<Vec<_>>()[..] {
            [_, field] if !field.contains("selector") => {
                let unknown = FieldError::not_found(field, &value.into());
                errors.push(unknown.with_detail("unknown non-convertible field"));
            }
            [_, _] if !selector.equals(&old.field("spec.selector")) => {
                selector.invalid("cannot update non-convertible selector", errors);
            }
            _ => {}
        }
    }
}

/// Warnings about the name of a new controller and its template. Upstream swaps the templates of an update.
fn warnings(_: &Context<'_>, new: &Value, old: Option<&Value>) -> Vec<String> {
    let at = Path::new("spec.template");
    let template = |controller: &Value| controller["spec"].get("template").map(|template| pod_warnings(at, template));
    let of_template = match old {
        Some(old) if meta::generation(old) == meta::generation(new) => None,
        Some(old) => template(old),
        None => template(new),
    };
    let name = name_warning(new).filter(|_| old.is_none());
    name.into_iter().chain(of_template.unwrap_or_default()).collect()
}

pub(super) const RULES: Rules = Rules {
    owns_generation: true,
    // When it is read it gets the labels of its template, which a write of the status does not send.
    lacks_defaults: |controller, _| meta::labels(controller).is_empty(),
    orphans_dependents: true,
    subresources: &[("scale", STRATEGY), ("status", Strategy { default, validate: status, ..Strategy::NONE })],
    fields: &[("status.replicas", |controller| {
        number(controller, "/status/replicas").unwrap_or_default().to_string().into()
    })],
    cells: &[
        ("Desired", |controller, _| number(controller, "/spec/replicas").unwrap_or_default().into()),
        ("Current", |controller, _| number(controller, "/status/replicas").unwrap_or_default().into()),
        ("Ready", |controller, _| number(controller, "/status/readyReplicas").unwrap_or_default().into()),
        CONTAINERS,
        IMAGES,
        ("Selector", |controller, _| text_map(&controller["spec"]["selector"]).into()),
    ],
    strategy: STRATEGY,
    ..Rules::ORDINARY
};

/// `ValidateReplicationControllerSpec`. Declarative validation checks the rest, such as the minimum of replicas.
fn spec(spec: At<'_, '_>, errors: &mut Errors) {
    let (selector, template) = (spec.field("selector"), spec.field("template"));
    selector.set(errors);
    if !template.is_set() {
        return template.required("", errors);
    }
    let labels = template.field("metadata.labels");
    if selector.entries().any(|(key, value)| labels.value()[key] != *value.value()) {
        labels.invalid("`selector` does not match template `labels`", errors);
    }
    pod_template_spec(template, errors);
    always_running(template, "ReplicationController", errors);
}

/// `ValidateReplicationControllerStatusUpdate`.
fn status(_: &Context<'_>, new: &Value, _: Option<&Value>, errors: &mut Errors) {
    const COUNTS: [&str; 5] =
        ["replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"];
    status_counts(at(new), &COUNTS, &COUNTS[1..4], errors);
}

/// `SetDefaults_ReplicationController`: the template's labels are the selector, and the controller's own labels.
fn default(controller: &mut Value) {
    let labels = controller["spec"]["template"]["metadata"]["labels"].as_object().cloned();
    let spec = child(controller, "spec");
    default_to(spec, "replicas", 1);
    if spec.get("template").is_some() {
        default_pod_template_spec(child(spec, "template"));
    }
    if let Some(labels) = labels {
        if spec["selector"].as_object().is_none_or(Map::is_empty) {
            *child(spec, "selector") = labels.clone().into();
        }
        if meta::labels(controller).is_empty() {
            meta::set(controller, "labels", labels);
        }
    }
}
