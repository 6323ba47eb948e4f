//! Replica sets.
//!
//! Follows `pkg/registry/apps/replicaset/strategy.go`, `ValidateReplicaSet` of `pkg/apis/apps/validation/validation.go` and
//! `SetDefaults_ReplicaSet` of `pkg/apis/apps/v1/defaults.go` (v1.37.1).

use super::{
    CONTAINERS, IMAGES, SELECTOR, WORKLOAD, default_replicas, immutable_selector, number_or_zero,
    selector_and_template, status_counts,
};
use crate::error::Errors;
use crate::registry::child;
use crate::registry::cursor::At;
use crate::registry::rules::{Cell, Rules, Strategy};
use crate::registry::types::default_pod_template_spec;
use tree::Value;

fn at(set: &Value) -> At<'static, '_> {
    At::object(set, "apps/v1", "ReplicaSet")
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
                validate: |_, new, _, errors| {
                    let below = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];
                    status_counts(at(new), &COUNTS, &below, errors);
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
fn spec(spec: At<'_, '_>, errors: &mut Errors) {
    spec.field("replicas").not_negative(errors);
    spec.field("minReadySeconds").not_negative(errors);
    selector_and_template(spec, errors);
}

const CELLS: &[(&str, Cell)] = &[
    ("Desired", |set, _| number_or_zero(set, "/spec/replicas").into()),
    ("Current", |set, _| number_or_zero(set, "/status/replicas").into()),
    ("Ready", |set, _| number_or_zero(set, "/status/readyReplicas").into()),
    CONTAINERS,
    IMAGES,
    SELECTOR,
];
