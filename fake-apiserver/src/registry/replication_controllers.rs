//! Replication controllers.
//!
//! Follows `pkg/registry/core/replicationcontroller/strategy.go` and `SetDefaults_ReplicationController` of
//! `pkg/apis/core/v1/defaults.go` (v1.37.1).

use super::apps::{CONTAINERS, IMAGES, always_running, status_counts, warnings};
use super::columns::text_map;
use super::context::Context;
use super::cursor::At;
use super::rules::{Rules, Strategy};
use super::types::{default_pod_template_spec, pod_template_spec};
use super::{child, default_to, number};
use crate::error::Errors;
use crate::object::meta;
use tree::{Map, Value};

fn at(controller: &Value) -> At<'static, '_> {
    At::object(controller, "v1", "ReplicationController")
}

const STRATEGY: Strategy =
    Strategy { default, validate: |_, new, _, errors| spec(at(new).field("spec"), errors), warnings, ..Strategy::NONE };

pub(super) const RULES: Rules = Rules {
    owns_generation: true,
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
        if meta::labels(controller).iter().next().is_none() {
            meta::set(controller, "labels", labels);
        }
    }
}
