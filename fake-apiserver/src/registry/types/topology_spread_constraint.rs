//! `TopologySpreadConstraint`: the spread of pods over a topology.
//!
//! Follows `validateTopologySpreadConstraints` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::label_keys::label_keys;
use crate::error::Errors;
use crate::object::name;
use crate::object::selector::validate_structured;
use crate::registry::cursor::At;
use std::collections::HashMap;

/// The pair that must be unique among constraints.
fn identity<'v>(constraint: &At<'_, 'v>) -> (&'v str, &'v str) {
    (constraint.field("topologyKey").text(), constraint.field("whenUnsatisfiable").text())
}

/// Rules for `topologySpreadConstraints`.
pub(super) fn topology_spread_constraints(all: At<'_, '_>, errors: &mut Errors) {
    let last: HashMap<_, _> = all.items().enumerate().map(|(index, one)| (identity(&one), index)).collect();
    for (index, constraint) in all.items().enumerate() {
        let at = constraint.path();
        let (key, action) = identity(&constraint);
        positive(constraint.field("maxSkew"), errors);
        match key {
            "" => errors.required(at.child("topologyKey"), "can not be empty"),
            _ => constraint.field("topologyKey").follows(name::label_key, errors),
        }
        constraint.field("whenUnsatisfiable").supported(&["DoNotSchedule", "ScheduleAnyway"], errors);
        if last[&(key, action)] > index {
            errors.duplicate(at.child("{topologyKey, whenUnsatisfiable}"), format!("{{{key}, {action}}}"));
        }
        let domains = constraint.field("minDomains");
        if domains.is_set() {
            positive(domains, errors);
            if action != "DoNotSchedule" {
                let detail = format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
                domains.invalid(detail, errors);
            }
        }
        for policy in ["nodeAffinityPolicy", "nodeTaintsPolicy"].map(|field| constraint.field(field)) {
            if policy.is_set() {
                policy.one_of(&["Honor", "Ignore"], errors);
            }
        }
        label_keys(at, constraint.value(), errors);
        let selector = constraint.field("labelSelector");
        validate_structured(selector.path(), selector.value(), errors);
    }
}

fn positive(number: At<'_, '_>, errors: &mut Errors) {
    let value = number.number().unwrap_or_default();
    if value <= 0 {
        number.invalid_value(value, "must be greater than zero", errors);
    }
}
