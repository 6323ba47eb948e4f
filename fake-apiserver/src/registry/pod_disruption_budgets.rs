//! Pod disruption budgets.
//!
//! Follows `pkg/registry/policy/poddisruptionbudget/strategy.go` and `printPodDisruptionBudget` of
//! `pkg/printers/internalversion/printers.go` (v1.37.1).

use super::context::Context;
use super::number;
use super::rules::{NameRule, Rules, Strategy};
use crate::object::generation::equal;
use tree::{Value, json};

pub(super) const RULES: Rules = Rules {
    name_rule: NameRule::PathSegment,
    qualified_finalizers: false,
    owns_generation: true,
    cells: &[
        ("Min Available", |budget, _| amount(&budget["spec"]["minAvailable"])),
        ("Max Unavailable", |budget, _| amount(&budget["spec"]["maxUnavailable"])),
        ("Allowed Disruptions", |budget, _| number(budget, "/status/disruptionsAllowed").unwrap_or_default().into()),
    ],
    strategy: Strategy { prepare, ..Strategy::NONE },
    ..Rules::ORDINARY
};

/// `PDBV1beta1Label`, by which `policy/v1beta1` told empty selectors apart.
const EMPTY_SELECTOR: &str = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match";

/// A selector that is new loses the requirements about that label, unless it has no other and selects nothing.
fn prepare(_: &Context<'_>, budget: &mut Value, old: Option<&Value>) {
    let Some(selector) = budget["spec"].get("selector") else { return };
    let nothing = json!({"matchExpressions": [{"key": EMPTY_SELECTOR, "operator": "Exists"}]});
    let kept = old.is_some_and(|old| equal(old["spec"].get("selector"), Some(selector)));
    if kept || equal(Some(selector), Some(&nothing)) {
        return;
    }
    if let Some(requirements) = budget["spec"]["selector"].get_mut("matchExpressions").and_then(Value::as_array_mut) {
        requirements.retain(|requirement| requirement["key"] != EMPTY_SELECTOR);
    }
}

/// A number or a percentage, as a text.
fn amount(value: &Value) -> Value {
    match value {
        Value::Null => "N/A".into(),
        Value::String(_) => value.clone(),
        number => number.to_string().into(),
    }
}
