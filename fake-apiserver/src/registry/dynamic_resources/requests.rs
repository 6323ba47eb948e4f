//! The spec of claims: requests for devices, constraints between them, and configurations.
//!
//! Follows `pkg/apis/resource/validation/validation.go` (v1.37.1).

use super::names::{fully_qualified_name, is_bounded, unique};
use super::selectors::{configuration, selectors};
use crate::deadline::Deadline;
use crate::error::Errors;
use crate::object::name;
use crate::registry::cursor::At;
use crate::registry::{items, text};
use std::collections::{BTreeMap, BTreeSet};
use tree::Value;

const MAX_REQUESTS: usize = 32;
const MAX_ALTERNATIVES: usize = 8;
const MAX_CONSTRAINTS: usize = 32;
const MAX_CONFIGS: usize = 32;
const EFFECTS: &[&str] = &["NoExecute", "NoSchedule", "None"];

/// The names of requests, each with those of its alternatives (`gatherRequestNames`).
pub(super) struct RequestNames<'v>(BTreeMap<&'v str, BTreeSet<&'v str>>);

impl<'v> RequestNames<'v> {
    /// The names in the spec of a claim.
    pub(super) fn of(spec: &'v Value) -> Self {
        let name = |value: &'v Value| text(value, "/name");
        let requests = items(spec, "/devices/requests").iter();
        RequestNames(
            requests.map(|one| (name(one), items(one, "/firstAvailable").iter().map(name).collect())).collect(),
        )
    }

    fn has(&self, reference: &str) -> bool {
        match reference.split_once('/') {
            None => self.0.contains_key(reference),
            Some((request, alternative)) => self.0.get(request).is_some_and(|all| all.contains(alternative)),
        }
    }

    /// `validateRequestNameRef`.
    pub(super) fn check(&self, at: At<'_, '_>, errors: &mut Errors) {
        let detail =
            "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
        if at.text().matches('/').count() > 1 {
            return at.invalid(detail, errors);
        }
        for part in at.text().split('/') {
            errors.invalid_each(at.path(), part, name::dns_label(part));
        }
        if !self.has(at.text()) {
            at.invalid(detail, errors);
        }
    }

    /// A set of references.
    pub(super) fn check_all(&self, list: At<'_, '_>, errors: &mut Errors) {
        if is_bounded(list, MAX_REQUESTS, errors) {
            for reference in list.items() {
                self.check(reference, errors);
            }
            unique(list, |reference| reference.text(), errors);
        }
    }
}

/// `validateResourceClaimSpec`.
pub(super) fn claim_spec(spec: At<'_, '_>, deadline: &Deadline, errors: &mut Errors) {
    let devices = spec.field("devices");
    let names = RequestNames::of(spec.value());
    let requests = devices.field("requests");
    if is_bounded(requests, MAX_REQUESTS, errors) {
        for request in requests.items() {
            self::request(request, deadline, errors);
        }
        unique(requests, |request| request.field("name").text(), errors);
    }
    let constraints = devices.field("constraints");
    if is_bounded(constraints, MAX_CONSTRAINTS, errors) {
        for constraint in constraints.items() {
            self::constraint(constraint, &names, errors);
        }
    }
    let configs = devices.field("config");
    if is_bounded(configs, MAX_CONFIGS, errors) {
        for config in configs.items() {
            names.check_all(config.field("requests"), errors);
            configuration(config, false, errors);
        }
    }
}

/// `validateDeviceRequest`.
fn request(request: At<'_, '_>, deadline: &Deadline, errors: &mut Errors) {
    request.field("name").follows(name::dns_label, errors);
    let (exactly, alternatives) = (request.field("exactly"), request.field("firstAvailable"));
    match (exactly.is_set(), !alternatives.is_empty()) {
        (false, false) => request.required("exactly one of `exactly` or `firstAvailable` is required", errors),
        (true, true) => {
            let detail = "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set";
            request.invalid_value(Value::Null, detail, errors);
        }
        (true, false) => exact(exactly, false, deadline, errors),
        (false, true) if is_bounded(alternatives, MAX_ALTERNATIVES, errors) => {
            for alternative in alternatives.items() {
                alternative.field("name").follows(name::dns_label, errors);
                exact(alternative, true, deadline, errors);
            }
            unique(alternatives, |alternative| alternative.field("name").text(), errors);
        }
        (false, true) => {}
    }
}

/// `validateExactDeviceRequest` and most of `validateDeviceSubRequest`, whose class declarative validation looks at, too.
fn exact(request: At<'_, '_>, is_alternative: bool, deadline: &Deadline, errors: &mut Errors) {
    let class = request.field("deviceClassName");
    match is_alternative {
        true => {
            let origin = if class.is_empty() { "" } else { "format=k8s-long-name" };
            errors.covered(origin, |errors| class.required_by(name::dns_subdomain, errors));
        }
        false => class.required_by(name::dns_subdomain, errors),
    }
    selectors(request.field("selectors"), false, deadline, errors);
    let (mode, count) = (request.field("allocationMode"), request.field("count"));
    let number = count.number().unwrap_or_default();
    match mode.text() {
        "All" if number != 0 => {
            count.invalid_value(number, "must not be specified when allocationMode is 'All'", errors);
        }
        "ExactCount" if number <= 0 => count.invalid_value(number, "must be greater than zero", errors),
        "All" | "ExactCount" => {}
        _ => errors.covered("", |errors| mode.unsupported(&["All", "ExactCount"], errors)),
    }
    for toleration in request.field("tolerations").items() {
        self::toleration(toleration, errors);
    }
}

/// `validateDeviceToleration`.
pub(super) fn toleration(toleration: At<'_, '_>, errors: &mut Errors) {
    let (operator, value, effect) =
        (toleration.field("operator"), toleration.field("value"), toleration.field("effect"));
    errors.covered("format=k8s-label-key", |errors| toleration.field("key").optional(name::label_key, errors));
    match operator.text() {
        "Exists" if !value.is_empty() => value.invalid("must be empty for operator `Exists`", errors),
        "Exists" => {}
        "Equal" => value.follows(name::label_value, errors),
        _ => errors.covered("", |errors| operator.one_of(&["Equal", "Exists"], errors)),
    }
    if !effect.is_empty() {
        errors.covered("", |errors| effect.supported(EFFECTS, errors));
    }
}

/// `validateDeviceTaint`. An effect that was there before is not checked again.
pub(super) fn taint(taint: At<'_, '_>, old_effect: Option<&str>, errors: &mut Errors) {
    taint.field("key").follows(name::label_key, errors);
    taint.field("value").optional(name::label_value, errors);
    let effect = taint.field("effect");
    if old_effect != Some(effect.text()) {
        errors.covered("", |errors| effect.one_of(EFFECTS, errors));
    }
}

/// `validateDeviceConstraint`.
fn constraint(constraint: At<'_, '_>, names: &RequestNames<'_>, errors: &mut Errors) {
    names.check_all(constraint.field("requests"), errors);
    let (matching, distinct) = (constraint.field("matchAttribute"), constraint.field("distinctAttribute"));
    if matching.is_set() {
        fully_qualified_name(matching, errors);
    } else if distinct.is_set() {
        fully_qualified_name(distinct, errors);
    } else {
        let detail =
            r#"exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set"#;
        constraint.required(detail, errors);
    }
}
