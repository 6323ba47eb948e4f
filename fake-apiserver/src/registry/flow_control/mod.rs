//! Flow schemas and priority levels.
//!
//! Follows `pkg/registry/flowcontrol/*/strategy.go`, `pkg/apis/flowcontrol/v1/defaults.go` and
//! `pkg/printers/internalversion/printers.go` (v1.37.1).

pub(crate) mod digests;
mod flow_schemas;
mod priority_levels;

use super::cursor::At;
use super::defaults::Fill::{Nonzero, Number};
use super::defaults::{Default, fill, fill_unless_zero};
use super::rules::{Rules, Strategy};
use super::{at, child, items, number, text};
use tree::Value;

pub(super) const FLOW_SCHEMA: Rules = Rules {
    owns_generation: true,
    digest: Some(digests::of_schema),
    status_keeps_metadata: true,
    cells: &[
        ("PriorityLevel", |schema, _| text(schema, "/spec/priorityLevelConfiguration/name").into()),
        ("MatchingPrecedence", |schema, _| number(schema, "/spec/matchingPrecedence").unwrap_or_default().into()),
        ("DistinguisherMethod", |schema, _| match schema["spec"].get("distinguisherMethod") {
            None => "<none>".into(),
            Some(method) => text(method, "/type").into(),
        }),
        ("MissingPL", |schema, _| {
            let mut conditions = items(schema, "/status/conditions").iter();
            let dangling = conditions.find(|condition| text(condition, "/type") == "Dangling");
            dangling.map_or("?", |dangling| text(dangling, "/status")).into()
        }),
    ],
    row_order: Some(|schema| number(schema, "/spec/matchingPrecedence").unwrap_or_default()),
    strategy: Strategy {
        default: |schema| fill_unless_zero(child(schema, "spec"), "matchingPrecedence", 1000.into()),
        validate: flow_schemas::validate,
        ..Strategy::NONE
    },
    subresources: &[("status", SCHEMA_STATUS)],
    ..Rules::ORDINARY
};

pub(super) const PRIORITY_LEVEL_CONFIGURATION: Rules = Rules {
    owns_generation: true,
    digest: Some(digests::of_level),
    status_keeps_metadata: true,
    cells: &[
        ("Type", |level, _| text(level, "/spec/type").into()),
        ("NominalConcurrencyShares", |level, _| of_limited(level, "/nominalConcurrencyShares")),
        ("Queues", |level, _| of_limited(level, "/limitResponse/queuing/queues")),
        ("HandSize", |level, _| of_limited(level, "/limitResponse/queuing/handSize")),
        ("QueueLengthLimit", |level, _| of_limited(level, "/limitResponse/queuing/queueLengthLimit")),
    ],
    strategy: Strategy { default: |level| fill(level, LEVELS), validate: priority_levels::validate, ..Strategy::NONE },
    subresources: &[("status", LEVEL_STATUS)],
    ..Rules::ORDINARY
};

const SCHEMA_STATUS: Strategy = Strategy {
    validate: |_, schema, _, errors| {
        let schema = At::object(schema, "flowcontrol.apiserver.k8s.io/v1", "FlowSchema");
        flow_schemas::conditions(schema.field("status.conditions"), errors);
    },
    ..Strategy::STATUS
};

const LEVEL_STATUS: Strategy = Strategy {
    validate: |_, level, _, errors| {
        let level = At::object(level, "flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration");
        flow_schemas::conditions(level.field("status.conditions"), errors);
    },
    ..Strategy::STATUS
};

const LEVELS: &[Default] = &[
    ("spec/limited", &[("nominalConcurrencyShares", Number(30)), ("lendablePercent", Number(0))]),
    (
        "spec/limited/limitResponse/queuing",
        &[("handSize", Nonzero(8)), ("queues", Nonzero(64)), ("queueLengthLimit", Nonzero(50))],
    ),
    ("spec/exempt", &[("nominalConcurrencyShares", Number(0)), ("lendablePercent", Number(0))]),
];

/// A number of a limited level.
fn of_limited(level: &Value, pointer: &str) -> Value {
    match at(level, "/spec/limited").and_then(|limited| number(limited, pointer)) {
        None => "<none>".into(),
        Some(number) => number.into(),
    }
}
