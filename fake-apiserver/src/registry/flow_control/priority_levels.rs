//! Validation of priority levels.
//!
//! Follows `pkg/apis/flowcontrol/validation/validation.go`, and `pkg/apis/flowcontrol/bootstrap/default.go` and
//! `pkg/util/shufflesharding/shufflesharding.go` of `k8s.io/apiserver` (v1.37.1).

use super::flow_schemas::conditions;
use crate::error::{Errors, Path};
use crate::object::meta;
use crate::registry::context::Context;
use crate::registry::cursor::At;
use tree::{Value, json};

/// `PriorityLevelPreserveZeroConcurrencySharesKey`, which only other versions than this one mean something by.
const ZERO_SHARES: &str = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";
const MAX_QUEUES: i64 = 10_000_000;
/// `MaxHashBits`.
const MAX_ENTROPY: f64 = 60.0;
const NOT_NEGATIVE: &str = "must be a non-negative integer";

/// `ValidatePriorityLevelConfiguration`, without the metadata.
pub(super) fn validate(_: &Context<'_>, level: &Value, _: Option<&Value>, errors: &mut Errors) {
    let object = At::object(level, "flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration");
    let (spec, name) = (object.field("spec"), meta::name(level));
    if meta::annotations(level).get(ZERO_SHARES).is_some() {
        errors.forbidden(Path::new("metadata.annotations"), format!("annotation '{ZERO_SHARES}' is forbidden"));
    }
    self::spec(spec, name, errors);
    mandatory(spec, name, errors);
    conditions(object.field("status.conditions"), errors);
}

/// `ValidatePriorityLevelConfigurationSpec`.
fn spec(spec: At<'_, '_>, name: &str, errors: &mut Errors) {
    let (type_, limited, exempt) = (spec.field("type"), spec.field("limited"), spec.field("exempt"));
    if (name == "exempt") != (type_.text() == "Exempt") {
        type_.invalid("must be 'Exempt' if and only if `name` is 'exempt'", errors);
    }
    match type_.text() {
        "Exempt" => {
            if limited.is_set() {
                errors.covered("", |errors| limited.forbidden("must be nil if the type is not Limited", errors));
            }
            shares(exempt.field("nominalConcurrencyShares"), errors);
            percent(exempt.field("lendablePercent"), errors);
        }
        "Limited" => {
            if exempt.is_set() {
                errors.covered("", |errors| exempt.forbidden("must be nil if the type is Limited", errors));
            }
            match limited.is_set() {
                true => self::limited(limited, errors),
                false => {
                    errors.covered("", |errors| limited.required("must not be empty when type is Limited", errors))
                }
            }
        }
        "" => errors.covered("", |errors| type_.required("", errors)),
        _ => type_.unsupported(&["Exempt", "Limited"], errors),
    }
}

fn shares(shares: At<'_, '_>, errors: &mut Errors) {
    if shares.number().is_some_and(|number| number < 0) {
        shares.invalid(NOT_NEGATIVE, errors);
    }
}

fn percent(percent: At<'_, '_>, errors: &mut Errors) {
    percent.between(0..=100, errors);
}

/// `ValidateLimitedPriorityLevelConfiguration`.
fn limited(limited: At<'_, '_>, errors: &mut Errors) {
    shares(limited.field("nominalConcurrencyShares"), errors);
    response(limited.field("limitResponse"), errors);
    percent(limited.field("lendablePercent"), errors);
    let limit = limited.field("borrowingLimitPercent");
    if limit.number().is_some_and(|number| number < 0) {
        limit.invalid(format!("if specified, {NOT_NEGATIVE}"), errors);
    }
}

/// `ValidateLimitResponse`.
fn response(response: At<'_, '_>, errors: &mut Errors) {
    let (type_, queuing) = (response.field("type"), response.field("queuing"));
    match (type_.text(), queuing.is_set()) {
        ("Reject", true) => {
            let detail = "must be nil if limited.limitResponse.type is not Limited";
            errors.covered("", |errors| queuing.forbidden(detail, errors));
        }
        ("Reject", false) => {}
        ("Queue", true) => self::queuing(queuing, errors),
        ("Queue", false) => {
            let detail = "must not be empty if limited.limitResponse.type is Limited";
            errors.covered("", |errors| queuing.required(detail, errors));
        }
        ("", _) => errors.covered("", |errors| type_.required("", errors)),
        _ => type_.unsupported(&["Queue", "Reject"], errors),
    }
}

/// `ValidatePriorityLevelQueuingConfiguration`.
fn queuing(queuing: At<'_, '_>, errors: &mut Errors) {
    let (queues, hand) = (queuing.field("queues"), queuing.field("handSize"));
    let (deck, cards) = (queues.number().unwrap_or_default(), hand.number().unwrap_or_default());
    let positive = |at: At<'_, '_>, errors: &mut Errors| {
        let is = at.number().is_some_and(|number| number > 0);
        if !is {
            at.invalid("must be positive", errors);
        }
        is
    };
    positive(queuing.field("queueLengthLimit"), errors);
    if positive(queues, errors) && deck > MAX_QUEUES {
        queues.invalid(format!("must not be greater than {MAX_QUEUES}"), errors);
    }
    if !positive(hand, errors) {
        return;
    }
    if cards > deck {
        hand.invalid(format!("should not be greater than queues ({deck})"), errors);
    } else if ((deck as f64).log2() * cards as f64).ceil() > MAX_ENTROPY {
        let detail = format!(
            "required entropy bits of deckSize {deck} and handSize {cards} should not be greater than {MAX_ENTROPY}"
        );
        hand.invalid(detail, errors);
    }
}

/// Some levels are there in every cluster, and fixed (`ValidateIfMandatoryPriorityLevelConfigurationObject`).
fn mandatory(spec: At<'_, '_>, name: &str, errors: &mut Errors) {
    let (fixed, which) = match name {
        "exempt" => {
            let exempt = spec.value()["exempt"].clone();
            (json!({"type": "Exempt", "exempt": exempt}), "except the 'spec.exempt' field ")
        }
        "catch-all" => {
            let limited =
                json!({"nominalConcurrencyShares": 5, "lendablePercent": 0, "limitResponse": {"type": "Reject"}});
            (json!({"type": "Limited", "limited": limited}), "")
        }
        _ => return,
    };
    let Some(ty) = spec.ty() else { return };
    if !spec.equals(&At::new(&fixed, ty)) {
        spec.invalid(format!("spec of '{name}' {which}must equal the fixed value"), errors);
    }
}
