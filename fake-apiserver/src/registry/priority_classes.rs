//! Priority classes.
//!
//! Follows `pkg/registry/scheduling/priorityclass/strategy.go`, `SetDefaults_PriorityClass` of
//! `pkg/apis/scheduling/v1/defaults.go` and `printPriorityClass` of `pkg/printers/internalversion/printers.go` (v1.37.1).

use super::defaults::Fill::OptionalText;
use super::defaults::fill;
use super::rules::{Rules, Strategy};
use super::{flag, number, text};
use crate::object::meta;

pub(super) const RULES: Rules = Rules {
    cells: &[
        ("Value", |class, _| number(class, "/value").unwrap_or_default().into()),
        ("Global-Default", |class, _| flag(class, "/globalDefault").into()),
        ("PreemptionPolicy", |class, _| text(class, "/preemptionPolicy").into()),
    ],
    strategy: Strategy {
        // It stays 1, whatever changes.
        prepare: |_, class, old| {
            if old.is_none() {
                meta::set(class, "generation", 1);
            }
        },
        default: |class| fill(class, &[("", &[("preemptionPolicy", OptionalText("PreemptLowerPriority"))])]),
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};
