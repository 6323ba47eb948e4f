//! Pod disruption budgets.
//!
//! Follows `pkg/registry/policy/poddisruptionbudget/strategy.go`, `pkg/apis/policy/validation/validation.go` and
//! `printPodDisruptionBudget` of `pkg/printers/internalversion/printers.go` (v1.37.1).

use super::context::Context;
use super::cursor::At;
use super::number;
use super::rules::{NameRule, Rules, Strategy};
use super::types::{at_most_all, conditions, positive_or_percent};
use crate::error::Errors;
use crate::object::generation::equal;
use crate::object::selector::validate_structured_update;
use tree::{Value, json};

pub(super) const RULES: Rules = Rules {
    name_rule: NameRule::PathSegment,
    qualified_finalizers: false,
    metadata_last: true,
    owns_generation: true,
    cells: &[
        ("Min Available", |budget, _| amount(&budget["spec"]["minAvailable"])),
        ("Max Unavailable", |budget, _| amount(&budget["spec"]["maxUnavailable"])),
        ("Allowed Disruptions", |budget, _| number(budget, "/status/disruptionsAllowed").unwrap_or_default().into()),
    ],
    subresources: &[("status", Strategy { validate: status, ..Strategy::NONE })],
    strategy: Strategy { prepare, validate, ..Strategy::NONE },
    ..Rules::ORDINARY
};

fn at(budget: &Value) -> At<'static, '_> {
    At::object(budget, "policy/v1", "PodDisruptionBudget")
}

/// `ValidatePodDisruptionBudgetSpec`.
fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let budget = at(new);
    let spec = budget.field("spec");
    let amounts = [spec.field("minAvailable"), spec.field("maxUnavailable")];
    if amounts.iter().all(At::is_set) {
        spec.invalid("minAvailable and maxUnavailable cannot be both set", errors);
    }
    for amount in amounts.into_iter().filter(At::is_set) {
        positive_or_percent(amount, errors);
        at_most_all(amount, errors);
    }
    let (selector, policy) = (spec.field("selector"), spec.field("unhealthyPodEvictionPolicy"));
    let old = old.map(|old| &old["spec"]["selector"]);
    validate_structured_update(selector.path(), selector.value(), old, errors);
    if policy.is_set() {
        policy.supported(&["AlwaysAllow", "IfHealthyBudget"], errors);
    }
}

/// `ValidatePodDisruptionBudgetStatusUpdate`.
fn status(_: &Context<'_>, new: &Value, _: Option<&Value>, errors: &mut Errors) {
    let budget = at(new);
    let status = budget.field("status");
    conditions(status.field("conditions"), errors);
    for field in ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"] {
        status.field(field).not_negative(errors);
    }
}

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
