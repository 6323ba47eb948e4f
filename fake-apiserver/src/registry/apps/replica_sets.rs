//! Replica sets.
//!
//! Follows `pkg/registry/apps/replicaset/strategy.go`, `ValidateReplicaSet` of `pkg/apis/apps/validation/validation.go` and
//! `SetDefaults_ReplicaSet` of `pkg/apis/apps/v1/defaults.go` (v1.37.1).

use super::{
    CONTAINERS, IMAGES, SPEC, WORKLOAD, default_replicas, immutable_selector, number_or_zero, selector_and_template,
    selector_text, status_counts,
};
use crate::error::Errors;
use crate::registry::columns::or;
use crate::registry::rules::{Cell, Rules, Strategy};
use crate::registry::types::default_pod_template_spec;
use crate::registry::{carry_over, child, number};
use tree::Value;

const STRATEGY: Strategy = Strategy {
    default,
    validate: |set| Errors::of(|errors| spec(&set["spec"], errors)),
    validate_update: |new, old| {
        Errors::of(|errors| {
            spec(&new["spec"], errors);
            immutable_selector(new, old, errors);
        })
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
    cells: CELLS,
    strategy: STRATEGY,
    ..Rules::ORDINARY
};

/// Counts in a status, in the order in which the real server checks them.
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

const CELLS: &[(&str, Cell)] = &[
    ("Desired", |set, _| number_or_zero(set, "/spec/replicas").into()),
    ("Current", |set, _| number_or_zero(set, "/status/replicas").into()),
    ("Ready", |set, _| number_or_zero(set, "/status/readyReplicas").into()),
    CONTAINERS,
    IMAGES,
    ("Selector", |set, _| or(&selector_text(set).unwrap_or_else(|| "<error>".into()), "<none>").into()),
];
