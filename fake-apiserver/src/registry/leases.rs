//! Leases: sane durations and counts. Coordinated leader election is off, as it is by default.
//!
//! Follows `pkg/apis/coordination/validation` and `pkg/registry/coordination/lease/strategy.go` (v1.37.1).

use super::rules::{Rules, Strategy};
use super::text;
use crate::error::FieldError;
use tree::Value;

pub(super) const RULES: Rules = Rules {
    qualified_finalizers: false,
    create_on_update: true,
    cells: &[("Holder", |lease, _| text(lease, "/spec/holderIdentity").into())],
    strategy: Strategy {
        prepare: |_, lease, _| drop_coordination(lease),
        validate: |_, lease, _, errors| errors.extend(validate(lease)),
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

/// Drops the fields of the disabled `CoordinatedLeaderElection`.
fn drop_coordination(lease: &mut Value) {
    if let Some(spec) = lease.get_mut("spec").and_then(Value::as_object_mut) {
        spec.remove("strategy");
        spec.remove("preferredHolder");
    }
}

fn validate(lease: &Value) -> impl Iterator<Item = FieldError> {
    let at_least = |field: &str, least: i64, detail: &str| {
        let value = lease.get("spec")?.get(field)?;
        let broken = value.as_i64().is_some_and(|number| number < least);
        broken.then(|| FieldError::invalid(format!("spec.{field}"), value, detail))
    };
    [
        at_least("leaseDurationSeconds", 1, "must be greater than 0"),
        at_least("leaseTransitions", 0, "must be greater than or equal to 0"),
    ]
    .into_iter()
    .flatten()
}
