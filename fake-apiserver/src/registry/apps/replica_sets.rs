//! Replica sets: a number of equal pods.
//!
//! Follows `pkg/registry/apps/replicaset/strategy.go`, `ValidateReplicaSet` of `pkg/apis/apps/validation/validation.go` and
//! `SetDefaults_ReplicaSet` of `pkg/apis/apps/v1/defaults.go` (v1.37.1).

use super::{
    CONTAINERS, GROUP, IMAGES, SPEC, count, default_replicas, immutable_selector, number_or_zero, reset_status, scale,
    selector_and_template, selector_text, status_counts, warnings,
};
use crate::error::Errors;
use crate::registry::columns::{AGE, NAME, column, or};
use crate::registry::kind::{Column, Kind, Strategy, Subresource};
use crate::registry::types::default_pod_template_spec;
use crate::registry::{carry_over, child, number};
use serde_json::Value;

const STRATEGY: Strategy = Strategy {
    default,
    prepare_create: reset_status,
    prepare_update: |new, old| carry_over(new, old, "status"),
    validate: |set| Errors::of(|errors| spec(&set["spec"], errors)),
    validate_update: |new, old| {
        Errors::of(|errors| {
            spec(&new["spec"], errors);
            immutable_selector(new, old, errors);
        })
    },
    warnings,
    ..Strategy::NONE
};

pub(in crate::registry) const KIND: Kind = Kind {
    group: GROUP,
    resource: "replicasets",
    singular: "replicaset",
    kind: "ReplicaSet",
    short_names: &["rs"],
    categories: &["all"],
    subresources: &[
        scale(STRATEGY),
        Subresource::status(
            "ReplicaSet",
            Strategy {
                default,
                prepare_update: |new, old| carry_over(new, old, "spec"),
                validate_update: |new, _| {
                    let below = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];
                    Errors::of(|errors| status_counts(&new["status"], &COUNTS, &below, errors))
                },
                ..Strategy::NONE
            },
        ),
    ],
    owns_generation: true,
    columns: COLUMNS,
    strategy: STRATEGY,
    ..Kind::ORDINARY
};

/// Counts in a status, in the order in which the real server looks at them.
const COUNTS: [&str; 6] = [
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "observedGeneration",
    "terminatingReplicas",
];

/// `SetDefaults_ReplicaSet`.
fn default(set: &mut Value) {
    default_replicas(set);
    default_pod_template_spec(child(child(set, "spec"), "template"));
}

/// `ValidateReplicaSetSpec`.
fn spec(spec: &Value, errors: &mut Errors) {
    errors.not_negative(SPEC.child("replicas"), number(spec, "/replicas"));
    errors.not_negative(SPEC.child("minReadySeconds"), number(spec, "/minReadySeconds"));
    selector_and_template(spec, errors);
}

const COLUMNS: &[Column] = &[
    NAME,
    count(
        "Desired",
        "Replicas is the number of desired pods. This is a pointer to distinguish between explicit zero and unspecified. \
         Defaults to 1. More info: https://kubernetes.io/docs/concepts/workloads/controllers/replicaset",
        |set, _| number_or_zero(set, "/spec/replicas").into(),
    ),
    count(
        "Current",
        "Replicas is the most recently observed number of non-terminating pods. More info: \
         https://kubernetes.io/docs/concepts/workloads/controllers/replicaset",
        |set, _| number_or_zero(set, "/status/replicas").into(),
    ),
    count(
        "Ready",
        "The number of non-terminating pods targeted by this ReplicaSet with a Ready Condition.",
        |set, _| number_or_zero(set, "/status/readyReplicas").into(),
    ),
    AGE,
    CONTAINERS,
    IMAGES,
    column(
        "Selector",
        1,
        "Selector is a label query over pods that should match the replica count. Label keys and values that must match in \
         order to be controlled by this replica set. It must match the pod template's labels. More info: \
         https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
        |set, _| or(&selector_text(set).unwrap_or_else(|| "<error>".into()), "<none>").into(),
    ),
];
