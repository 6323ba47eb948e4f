//! Horizontal pod autoscalers.
//!
//! Follows `pkg/registry/autoscaling/horizontalpodautoscaler/strategy.go` and `printHorizontalPodAutoscaler` of
//! `pkg/printers/internalversion/printers.go` (v1.37.1).

mod annotated;
mod columns;
mod defaults;
mod v1;
mod validate;

use super::rules::{Rules, Strategy};

pub(super) const RULES: Rules = Rules {
    owns_generation: true,
    subresources: &[("status", Strategy { default: defaults::default, validate: validate::status, ..Strategy::NONE })],
    cells: columns::CELLS,
    versions: &[v1::VERSION],
    strategy: Strategy { default: defaults::default, validate: validate::object, ..Strategy::NONE },
    ..Rules::ORDINARY
};
