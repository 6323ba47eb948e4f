//! `TopologySpreadConstraint`: the spread of pods over a topology.
//!
//! Follows `validateTopologySpreadConstraints` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::label_keys::label_keys;
use crate::error::{Errors, Path};
use crate::object::name;
use crate::object::selector::validate_structured;
use crate::registry::{number, text};
use std::collections::HashMap;
use tree::Value;

/// The pair that must be unique among constraints.
fn identity(constraint: &Value) -> (&str, &str) {
    (text(constraint, "/topologyKey"), text(constraint, "/whenUnsatisfiable"))
}

/// Rules for `topologySpreadConstraints`.
pub(super) fn topology_spread_constraints(at: Path<'_>, all: &[Value], errors: &mut Errors) {
    let last: HashMap<_, _> = all.iter().enumerate().map(|(index, one)| (identity(one), index)).collect();
    for (index, constraint) in all.iter().enumerate() {
        let at = at.index(index);
        let (key, action) = identity(constraint);
        positive(at.child("maxSkew"), number(constraint, "/maxSkew").unwrap_or_default(), errors);
        match key {
            "" => errors.required(at.child("topologyKey"), "can not be empty"),
            _ => errors.invalid_each(at.child("topologyKey"), key, name::label_key(key)),
        }
        errors.supported(at.child("whenUnsatisfiable"), action, &["DoNotSchedule", "ScheduleAnyway"]);
        if last[&(key, action)] > index {
            errors.duplicate(at.child("{topologyKey, whenUnsatisfiable}"), format!("{{{key}, {action}}}"));
        }
        if let Some(domains) = number(constraint, "/minDomains") {
            positive(at.child("minDomains"), domains, errors);
            if action != "DoNotSchedule" {
                let detail = format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
                errors.invalid(at.child("minDomains"), domains, detail);
            }
        }
        for field in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            if let Some(policy) = constraint.get(field).and_then(Value::as_str) {
                errors.one_of(at.child(field), policy, &["Honor", "Ignore"]);
            }
        }
        label_keys(at, constraint, errors);
        validate_structured(at.child("labelSelector"), &constraint["labelSelector"], errors);
    }
}

fn positive(at: Path<'_>, value: i64, errors: &mut Errors) {
    if value <= 0 {
        errors.invalid(at, value, "must be greater than zero");
    }
}
