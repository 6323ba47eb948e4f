//! Writes into an autoscaler.

use super::AUTOSCALERS;
use crate::act::Act;
use crate::workloads::facts::read::{self, stamp};
use crate::workloads::facts::status;
use jiff::Timestamp;
use machinery::object::meta;
use quantity::Quantity;
use tree::{Value, json};

/// Sets a condition, whose time changes with its status only (`setConditionInList`).
pub(super) fn condition(status: &mut Value, kind: &str, holds: bool, reason: &str, message: &str, now: Timestamp) {
    let value = if holds { "True" } else { "False" };
    let mut all = read::list(status, "/conditions").to_vec();
    let old = all.iter().position(|one| read::text(one, "/type") == kind);
    let since = old.filter(|index| read::text(&all[*index], "/status") == value);
    let since = since.map(|index| read::text(&all[index], "/lastTransitionTime").to_owned());
    let new = json!({
        "type": kind, "status": value, "reason": reason, "message": message,
        "lastTransitionTime": since.unwrap_or_else(|| stamp(now)),
    });
    match old {
        Some(index) => all[index] = new,
        None => all.push(new),
    }
    status["conditions"] = all.into();
}

/// The status, if it says anything new.
pub(super) fn write(scaler: &Value, status: Value) -> Option<Act> {
    let object = status::changed(scaler, status)?;
    Some(Act::Update { resource: AUTOSCALERS, subresource: "status", object })
}

/// The numbers in a status (`setStatus`).
pub(super) fn numbers(scaler: &Value, new: &mut Value, current: i64, desired: i64, metrics: Vec<Value>) {
    status::count(new, "currentReplicas", current);
    new["desiredReplicas"] = desired.into();
    match metrics.is_empty() {
        true => status::unset(new, "currentMetrics"),
        false => new["currentMetrics"] = metrics.into(),
    }
    new["observedGeneration"] = meta::generation(scaler).into();
}

/// A scale of another size.
pub(super) fn scaled(scale: &Value, size: i64) -> Value {
    let mut scale = scale.clone();
    scale["spec"]["replicas"] = size.into();
    scale
}

/// A number of thousandths of a resource, as metrics have it: memory in binary units (`buildQuantity`).
pub(super) fn quantity(resource: &str, milli: i64) -> String {
    let Ok(number) = Quantity::parse(&format!("{milli}m")) else { return String::new() };
    let Ok(unit) = Quantity::parse("1Ki") else { return String::new() };
    if resource != "memory" {
        let mut zero = Quantity::count(0);
        zero.add(&number);
        return zero.text().into_owned();
    }
    let mut sum = unit.clone();
    sum.add(&number);
    sum.subtract(&unit);
    sum.text().into_owned()
}
