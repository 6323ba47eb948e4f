//! Deployments.
//!
//! Follows `pkg/registry/apps/deployment/strategy.go`, `ValidateDeployment` of `pkg/apis/apps/validation/validation.go` and
//! `SetDefaults_Deployment` of `pkg/apis/apps/v1/defaults.go` (v1.37.1). Without `rollbackTo`, which `apps/v1` lacks.

use super::{
    CONTAINERS, IMAGES, WORKLOAD, collisions_grow, default_replicas, immutable_selector, number_or_zero,
    selector_and_template, selector_text, status_counts,
};
use crate::error::Errors;
use crate::object::meta;
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::rules::{Cell, Rules, Strategy};
use crate::registry::types::{at_most_all, default_pod_template_spec, int_or_percent, positive_or_percent};
use crate::registry::{child, default_to, text};
use tree::Value;

fn at(deployment: &Value) -> At<'static, '_> {
    At::object(deployment, "apps/v1", "Deployment")
}

const STRATEGY: Strategy = Strategy {
    default,
    validate: |_, new, old, errors| {
        spec(at(new).field("spec"), errors);
        immutable_selector(at(new), old.map(at), errors);
    },
    ..WORKLOAD
};

pub(in crate::registry) const RULES: Rules = Rules {
    subresources: &[
        ("scale", STRATEGY),
        (
            "status",
            Strategy {
                default,
                prepare: |_, new, old| old.into_iter().for_each(|old| meta::carry_over(new, old, "labels")),
                validate: status,
                ..Strategy::NONE
            },
        ),
    ],
    resets: &[("status", &[&["spec"], &["metadata", "labels"]])],
    owns_generation: true,
    annotations_count: true,
    cells: CELLS,
    strategy: STRATEGY,
    ..Rules::ORDINARY
};

/// `SetDefaults_Deployment`.
fn default(deployment: &mut Value) {
    default_replicas(deployment);
    let spec = child(deployment, "spec");
    default_pod_template_spec(child(spec, "template"));
    let strategy = child(spec, "strategy");
    default_to(strategy, "type", "RollingUpdate");
    if text(strategy, "/type") == "RollingUpdate" {
        let update = child(strategy, "rollingUpdate");
        default_to(update, "maxUnavailable", "25%");
        default_to(update, "maxSurge", "25%");
    }
    default_to(spec, "revisionHistoryLimit", 10);
    default_to(spec, "progressDeadlineSeconds", 600);
}

/// `ValidateDeploymentSpec`.
fn spec(spec: At<'_, '_>, errors: &mut Errors) {
    spec.field("replicas").not_negative(errors);
    selector_and_template(spec, errors);
    strategy(spec.field("strategy"), errors);
    let (ready, deadline) = (spec.field("minReadySeconds"), spec.field("progressDeadlineSeconds"));
    ready.not_negative(errors);
    spec.field("revisionHistoryLimit").not_negative(errors);
    deadline.not_negative(errors);
    if deadline.number().is_some_and(|deadline| deadline <= ready.number().unwrap_or_default()) {
        deadline.invalid("must be greater than minReadySeconds", errors);
    }
}

/// `ValidateDeploymentStrategy`.
fn strategy(strategy: At<'_, '_>, errors: &mut Errors) {
    let update = strategy.field("rollingUpdate");
    match strategy.field("type").text() {
        "Recreate" if update.is_set() => {
            update.forbidden("may not be specified when strategy `type` is 'Recreate'", errors);
        }
        "Recreate" => {}
        "RollingUpdate" => rolling_update(update, errors),
        _ => strategy.unsupported(&["Recreate", "RollingUpdate"], errors),
    }
}

/// `ValidateRollingUpdateDeployment`.
fn rolling_update(update: At<'_, '_>, errors: &mut Errors) {
    let (unavailable, surge) = (update.field("maxUnavailable"), update.field("maxSurge"));
    positive_or_percent(unavailable, errors);
    positive_or_percent(surge, errors);
    if int_or_percent(unavailable.value()) == 0 && int_or_percent(surge.value()) == 0 {
        unavailable.invalid("may not be 0 when `maxSurge` is 0", errors);
    }
    at_most_all(unavailable, errors);
}

/// `ValidateDeploymentStatusUpdate`.
fn status(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    const COUNTS: [&str; 8] = [
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ];
    status_counts(at(new), &COUNTS, &["updatedReplicas", "readyReplicas", "availableReplicas"], errors);
    collisions_grow(at(new), old.map(at), errors);
}

const CELLS: &[(&str, Cell)] = &[
    ("Ready", |deployment, _| {
        let (ready, wanted) = ("/status/readyReplicas", "/spec/replicas");
        format!("{}/{}", number_or_zero(deployment, ready), number_or_zero(deployment, wanted)).into()
    }),
    ("Up-to-date", |deployment, _| number_or_zero(deployment, "/status/updatedReplicas").into()),
    ("Available", |deployment, _| number_or_zero(deployment, "/status/availableReplicas").into()),
    CONTAINERS,
    IMAGES,
    ("Selector", |deployment, _| selector_text(deployment).unwrap_or_else(|| "<invalid>".into()).into()),
];
