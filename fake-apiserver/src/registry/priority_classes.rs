//! Priority classes.
//!
//! Follows `pkg/registry/scheduling/priorityclass/strategy.go`, `ValidatePriorityClass` and `ValidatePriorityClassUpdate` of
//! `pkg/apis/scheduling/validation/validation.go`, `pkg/apis/scheduling/v1/helpers.go`, `SetDefaults_PriorityClass` of
//! `pkg/apis/scheduling/v1/defaults.go` and `printPriorityClass` of `pkg/printers/internalversion/printers.go` (v1.37.1).

use super::context::Context;
use super::cursor::At;
use super::defaults::Fill::OptionalText;
use super::defaults::fill;
use super::rules::{Rules, Strategy};
use super::{flag, number, text};
use crate::error::Errors;
use crate::object::meta;
use tree::Value;

pub(super) const RULES: Rules = Rules {
    cells: &[
        ("Value", |class, _| number(class, "/value").unwrap_or_default().into()),
        ("Global-Default", |class, _| flag(class, "/globalDefault").into()),
        ("PreemptionPolicy", |class, _| text(class, "/preemptionPolicy").into()),
    ],
    undeletable: &[(SYSTEM[0].0, UNDELETABLE), (SYSTEM[1].0, UNDELETABLE)],
    strategy: Strategy {
        // It stays 1, whatever changes.
        prepare: |_, class, old| {
            if old.is_none() {
                meta::set(class, "generation", 1);
            }
        },
        default: |class| fill(class, &[("", &[("preemptionPolicy", OptionalText("PreemptLowerPriority"))])]),
        validate,
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

/// `SystemPriorityClassPrefix`.
const SYSTEM_PREFIX: &str = "system-";
/// The classes of the system (`systemPriorityClasses`), with their values; none of them is the default.
const SYSTEM: [(&str, i64); 2] = [("system-node-critical", 2_000_001_000), ("system-cluster-critical", 2_000_000_000)];
const UNDELETABLE: &str = "this is a system priority class and cannot be deleted";
/// `HighestUserDefinablePriority`.
const HIGHEST: i64 = 1_000_000_000;

fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let at = |class| At::object(class, "scheduling.k8s.io/v1", "PriorityClass");
    let class = at(new);
    let (name, value, policy) = (class.field("metadata.name"), class.field("value"), class.field("preemptionPolicy"));
    let Some(old) = old.map(at) else {
        if name.text().starts_with(SYSTEM_PREFIX) {
            if let Err(why) = known(new) {
                let detail = format!(
                    "priority class names with '{SYSTEM_PREFIX}' prefix are reserved for system use only. error: {why}"
                );
                name.forbidden(detail, errors);
            }
        } else if value.number().is_some_and(|value| value > HIGHEST) {
            value.forbidden(format!("maximum allowed value of a user defined priority is {HIGHEST}"), errors);
        }
        return policy.one_of(&["PreemptLowerPriority", "Never"], errors);
    };
    if value.number().unwrap_or_default() != old.field("value").number().unwrap_or_default() {
        value.forbidden("may not be changed in an update.", errors);
    }
    policy.immutable(&old.field("preemptionPolicy"), errors);
}

/// Whether the class is one of the system's (`IsKnownSystemPriorityClass`).
fn known(class: &Value) -> Result<(), String> {
    let name = meta::name(class);
    let Some((_, value)) = SYSTEM.iter().find(|(known, _)| *known == name) else {
        return Err(format!("{name} is not a known system priority class"));
    };
    if number(class, "/value").unwrap_or_default() != *value {
        return Err(format!("value of {name} PriorityClass must be {value}"));
    }
    match flag(class, "/globalDefault") {
        true => Err(format!("globalDefault of {name} PriorityClass must be false")),
        false => Ok(()),
    }
}
