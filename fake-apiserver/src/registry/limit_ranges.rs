//! Limit ranges.
//!
//! Follows `pkg/registry/core/limitrange/strategy.go`, `ValidateLimitRange` of `pkg/apis/core/validation/validation.go` and
//! `SetDefaults_LimitRangeItem` of `pkg/apis/core/v1/defaults.go` (v1.37.1).

use super::context::Context;
use super::cursor::At;
use super::quantity::{MAX_MILLI_VALUE, Quantity, amount};
use super::rules::{Rules, Strategy};
use super::types::{container_resource_name, is_shared_resource, resource_name, round_resources, visit};
use super::{child, default_to, text};
use crate::error::{Errors, Path};
use crate::object::name;
use std::collections::{BTreeSet, HashSet};
use tree::Value;

pub(super) const RULES: Rules = Rules {
    named_by_uid: true,
    create_on_update: true,
    strategy: Strategy { default, validate, ..Strategy::NONE },
    ..Rules::ORDINARY
};

/// The lists of amounts of a limit.
const LISTS: [&str; 5] = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"];

/// `ValidateLimitRange`.
fn validate(_: &Context<'_>, new: &Value, _: Option<&Value>, errors: &mut Errors) {
    let range = At::object(new, "v1", "LimitRange");
    let mut types = HashSet::new();
    for limit in range.field("spec.limits").items() {
        let type_ = limit.field("type");
        type_name(type_, errors);
        if !types.insert(type_.text()) {
            type_.duplicate(errors);
        }
        self::limit(limit, errors);
    }
}

/// `validateLimitRangeTypeName`.
fn type_name(type_: At<'_, '_>, errors: &mut Errors) {
    let objections = name::label_key(type_.text());
    if objections.is_empty()
        && !type_.text().contains('/')
        && !["Pod", "Container", "PersistentVolumeClaim"].contains(&type_.text())
    {
        type_.invalid("must be a standard limit type or fully qualified", errors);
    }
    errors.invalid_each(type_.path(), type_.text(), objections);
}

fn limit(limit: At<'_, '_>, errors: &mut Errors) {
    let type_ = text(limit.value(), "/type");
    let mut resources = BTreeSet::new();
    for list in LISTS {
        let amounts = limit.field(list);
        if type_ == "Pod" && list.starts_with("default") {
            if !amounts.is_empty() {
                amounts.forbidden("may not be specified when `type` is 'Pod'", errors);
            }
            continue;
        }
        for (resource, amount) in amounts.entries() {
            match type_ {
                "Pod" | "Container" => container_resource_name(amount.path(), resource, errors),
                _ => resource_name(amount.path(), resource, errors),
            }
            resources.insert(resource);
        }
    }
    if type_ == "PersistentVolumeClaim" && ["min", "max"].iter().all(|list| limit.value()[list]["storage"].is_null()) {
        let detail = "either minimum or maximum storage value is required, but neither was provided";
        errors.required(limit.path().child("limits"), detail);
    }
    resources.into_iter().for_each(|resource| relations(limit, resource, errors));
}

/// Rules for the amounts of a resource in the lists of a limit, all but those of the list that its type forbids.
fn relations(limit: At<'_, '_>, resource: &str, errors: &mut Errors) {
    let is_pod = text(limit.value(), "/type") == "Pod";
    let of = |list: &str| {
        let own = limit.value()[list][resource].as_str();
        own.filter(|_| !(is_pod && list.starts_with("default"))).map(amount)
    };
    let all = LISTS.map(of);
    let [max, min, default, request, ratio] = all.each_ref().map(Option::as_ref);
    type Named<'q> = (&'static str, Option<&'q Quantity>);
    let mut greater = |list: &str, shown: Option<&Quantity>, less: Named<'_>, more: Named<'_>| {
        let (Some(shown), (less_name, Some(less)), (more_name, Some(more))) = (shown, less, more) else { return };
        if less > more {
            let detail = format!("{less_name} {less} is greater than {more_name} {more}");
            errors.invalid(limit.path().child(list).key(resource), &*shown.text(), detail);
        }
    };
    greater("min", min, ("min value", min), ("max value", max));
    greater("defaultRequest", request, ("min value", min), ("default request value", request));
    greater("defaultRequest", request, ("default request value", request), ("max value", max));
    greater("defaultRequest", request, ("default request value", request), ("default limit value", default));
    greater("default", min, ("min value", min), ("default value", default));
    greater("default", max, ("default value", default), ("max value", max));
    if let Some(ratio) = ratio {
        let ratios = limit.field("maxLimitRequestRatio");
        self::ratio(ratios.path().key(resource), ratio, min.zip(max), errors);
    }
    if let (Some(default), Some(request)) = (default, request)
        && !is_shared_resource(resource)
        && default != request
    {
        let detail = format!("default value {default} must equal to defaultRequest value {request} in {resource}");
        errors.invalid(limit.path().child("defaultRequest").key(resource), &*request.text(), detail);
    }
}

/// Rules for the greatest ratio of a limit to a request, which is at least 1 and at most that of the greatest to the least amount.
fn ratio(at: Path<'_>, ratio: &Quantity, ends: Option<(&Quantity, &Quantity)>, errors: &mut Errors) {
    if *ratio < Quantity::of(1) {
        errors.invalid(at, &*ratio.text(), format!("ratio {ratio} is less than 1"));
    }
    let Some((min, max)) = ends else { return };
    let all = [ratio, min, max];
    let (given, [_, min, max]) = match all.iter().all(|amount| amount.value() < MAX_MILLI_VALUE) {
        true => (all[0].milli_value() as f64 / 1000.0, all.map(|amount| amount.milli_value())),
        false => (all[0].value() as f64, all.map(|amount| amount.value())),
    };
    let most = max as f64 / min as f64;
    if given > most {
        errors.invalid(at, &*ratio.text(), format!("ratio {ratio} is greater than max/min = {most:.6}"));
    }
}

fn default(range: &mut Value) {
    visit(range, "spec/limits/*", &mut |item| {
        if text(item, "/type") == "Container" {
            default_item(item);
        }
    });
    visit(range, "spec/limits/*/max|min|default|defaultRequest|maxLimitRequestRatio", &mut round_resources);
}

/// `SetDefaults_LimitRangeItem`: the limit is the maximum by default, the request the limit, or else the minimum.
fn default_item(item: &mut Value) {
    for (from, to) in [("max", "default"), ("default", "defaultRequest"), ("min", "defaultRequest")] {
        for (resource, amount) in item[from].as_object().cloned().into_iter().flatten() {
            default_to(child(item, to), &resource, amount);
        }
    }
}
