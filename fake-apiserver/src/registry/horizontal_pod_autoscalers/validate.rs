//! Validation of autoscalers.
//!
//! Follows `pkg/apis/autoscaling/validation/validation.go`, and the options that
//! `pkg/registry/autoscaling/horizontalpodautoscaler/strategy.go` gives to it (v1.37.1).

use crate::error::Errors;
use crate::object::name;
use crate::registry::amount;
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::types::container_resource_name;
use tree::Value;

/// `MaxPeriodSeconds` and `MaxStabilizationWindowSeconds`.
const MAX_PERIOD: i64 = 1800;
const MAX_STABILIZATION_WINDOW: i64 = 3600;

/// The rules for the API versions of references.
#[derive(Clone, Copy)]
struct ApiVersions {
    /// Any text is one.
    any: bool,
    /// The group may be the core group.
    core: bool,
}

fn at(autoscaler: &Value) -> At<'static, '_> {
    At::object(autoscaler, "autoscaling/v2", "HorizontalPodAutoscaler")
}

/// `ValidateHorizontalPodAutoscaler` and `ValidateHorizontalPodAutoscalerUpdate`. Declarative validation checks the rest, such as
/// the minimum of replicas.
pub(super) fn object(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let (new, old) = (at(new), old.map(at));
    let spec = new.field("spec");
    let (most, least) = (spec.field("maxReplicas"), spec.field("minReplicas"));
    let replicas = most.number().unwrap_or_default();
    if least.number().is_some_and(|least| replicas < least) {
        most.invalid("must be greater than or equal to `minReplicas`", errors);
    }
    let target = spec.field("scaleTargetRef");
    reference(target, target_versions(target, old), errors);
    metrics(spec, metric_versions(old), errors);
    for direction in ["behavior.scaleUp", "behavior.scaleDown"] {
        let rules = spec.field(direction);
        if rules.is_set() {
            scaling_rules(rules, errors);
        }
    }
}

/// `ValidateHorizontalPodAutoscalerStatusUpdate`.
pub(super) fn status(_: &Context<'_>, new: &Value, _: Option<&Value>, errors: &mut Errors) {
    let autoscaler = at(new);
    let status = autoscaler.field("status");
    for condition in status.field("conditions").items() {
        condition.field("observedGeneration").not_negative(errors);
    }
    status.field("currentReplicas").not_negative(errors);
    status.field("desiredReplicas").not_negative(errors);
}

/// The rules for the API version of the scale target. That of an unchanged target is not checked, because the rules were laxer once.
fn target_versions(target: At<'_, '_>, old: Option<At<'_, '_>>) -> ApiVersions {
    let same = |old: At<'_, '_>| {
        let old = old.field("spec.scaleTargetRef").value();
        ["apiVersion", "kind"].iter().all(|field| text(old, field) == text(target.value(), field))
    };
    match old.is_some_and(same) {
        true => ApiVersions { any: true, core: false },
        false => ApiVersions { any: false, core: text(target.value(), "kind") == "ReplicationController" },
    }
}

/// The rules for the API versions of objects in metrics.
fn metric_versions(old: Option<At<'_, '_>>) -> ApiVersions {
    let core = ApiVersions { any: false, core: true };
    let invalid = |metric: &Value| {
        let object = &metric["object"]["describedObject"];
        text(metric, "type") == "Object"
            && metric.get("object").is_some()
            && objection(text(object, "apiVersion"), core).is_some()
    };
    let metrics = old.map_or(&Value::Null, |old| old.field("spec.metrics").value()).as_array();
    ApiVersions { any: metrics.into_iter().flatten().any(invalid), ..core }
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

/// The error in an API version, if there is one (`ValidateAPIVersion`).
fn objection(api_version: &str, rules: ApiVersions) -> Option<String> {
    let has_group = match api_version.matches('/').count() {
        _ if rules.any => return None,
        0 => false,
        1 => !api_version.starts_with('/'),
        _ => return Some(format!("unexpected GroupVersion string: {api_version}")),
    };
    (!has_group && !rules.core).then(|| "apiVersion must specify API group".to_owned())
}

/// `ValidateCrossVersionObjectReference`.
fn reference(reference: At<'_, '_>, versions: ApiVersions, errors: &mut Errors) {
    reference.field("kind").required_by(name::path_segment, errors);
    reference.field("name").required_by(name::path_segment, errors);
    let api_version = reference.field("apiVersion");
    if let Some(objection) = objection(api_version.text(), versions) {
        api_version.invalid(objection, errors);
    }
}

/// `validateMetrics`.
fn metrics(spec: At<'_, '_>, versions: ApiVersions, errors: &mut Errors) {
    let metrics = spec.field("metrics");
    for metric in metrics.items() {
        self::metric(metric, versions, errors);
    }
    let wakes = |metric: At<'_, '_>| matches!(metric.field("type").text(), "Object" | "External");
    if spec.field("minReplicas").number() == Some(0) && !metrics.items().any(wakes) {
        let detail = "must specify at least one Object or External metric to support scaling to zero replicas";
        metrics.forbidden(detail, errors);
    }
}

/// The sources of metrics, in the order in which upstream looks for them: field, type.
const SOURCES: [(&str, &str); 5] = [
    ("object", "Object"),
    ("external", "External"),
    ("pods", "Pods"),
    ("resource", "Resource"),
    ("containerResource", "ContainerResource"),
];

/// `validateMetricSpec`.
fn metric(metric: At<'_, '_>, versions: ApiVersions, errors: &mut Errors) {
    let type_ = metric.field("type");
    if type_.text().is_empty() {
        type_.required("must specify a metric source type", errors);
    }
    type_.supported(&["ContainerResource", "External", "Object", "Pods", "Resource"], errors);
    let present: Vec<&str> =
        SOURCES.iter().map(|(field, _)| *field).filter(|field| metric.value().get(field).is_some()).collect();
    if let Some(first) = present.first() {
        source(first, metric.field(first), versions, errors);
    }
    let wanted = SOURCES.iter().find(|(_, own)| *own == type_.text()).map(|(field, _)| *field);
    if let Some(wanted) = wanted.filter(|wanted| !present.contains(wanted)) {
        metric.field(wanted).required("must populate information for the given metric source", errors);
    }
    if present.len() > 1 {
        for other in present.iter().filter(|field| Some(**field) != wanted) {
            metric.field(other).forbidden("must populate the given metric source only", errors);
        }
    }
}

fn source(field: &str, source: At<'_, '_>, versions: ApiVersions, errors: &mut Errors) {
    match field {
        "object" => {
            reference(source.field("describedObject"), versions, errors);
            identified_target(source, errors);
            either(
                source,
                ["value", "averageValue"],
                "averageValue",
                "must set either a target value or averageValue",
                errors,
            );
        }
        "external" => {
            identified_target(source, errors);
            let detail = "must set either a target value for metric or a per-pod target";
            either(source, ["value", "averageValue"], "averageValue", detail, errors);
            let detail = "may not set both a target value for metric and a per-pod target";
            not_both(source, ["value", "averageValue"], "value", detail, errors);
        }
        "pods" => {
            identified_target(source, errors);
            let average = source.field("target.averageValue");
            if !average.is_set() {
                average.required("must specify a positive target averageValue", errors);
            }
        }
        _ => resource(source, field == "containerResource", errors),
    }
}

/// `validateResourceSource` and `validateContainerResourceSource`.
fn resource(source: At<'_, '_>, of_container: bool, errors: &mut Errors) {
    let resource = source.field("name");
    match resource.text() {
        "" => resource.required("must specify a resource name", errors),
        text if of_container => container_resource_name(resource.path(), text, errors),
        _ => {}
    }
    if of_container {
        let container = source.field("container");
        match container.text() {
            "" => container.required("must specify a container", errors),
            _ => container.follows(name::dns_label, errors),
        }
    }
    target(source.field("target"), errors);
    let fields = ["averageUtilization", "averageValue"];
    let detail = "must set either a target raw value or a target utilization";
    either(source, fields, "averageUtilization", detail, errors);
    not_both(source, fields, "averageValue", "may not set both a target raw value and a target utilization", errors);
}

/// One of two fields of the target must be set.
fn either(source: At<'_, '_>, fields: [&str; 2], shown: &str, detail: &str, errors: &mut Errors) {
    let target = source.field("target");
    if fields.iter().all(|field| !target.field(field).is_set()) {
        target.field(shown).required(detail, errors);
    }
}

/// Only one of two fields of the target may be set.
fn not_both(source: At<'_, '_>, fields: [&str; 2], shown: &str, detail: &str, errors: &mut Errors) {
    let target = source.field("target");
    if fields.iter().all(|field| target.field(field).is_set()) {
        target.field(shown).forbidden(detail, errors);
    }
}

/// `validateMetricIdentifier` and `validateMetricTarget`.
fn identified_target(source: At<'_, '_>, errors: &mut Errors) {
    let metric = source.field("metric.name");
    match metric.text() {
        "" => metric.required("must specify a metric name", errors),
        _ => metric.follows(name::path_segment, errors),
    }
    target(source.field("target"), errors);
}

/// `validateMetricTarget`.
fn target(target: At<'_, '_>, errors: &mut Errors) {
    let type_ = target.field("type");
    if type_.text().is_empty() {
        type_.required("must specify a metric target type", errors);
    }
    if !matches!(type_.text(), "Utilization" | "Value" | "AverageValue") {
        type_.invalid("must be either Utilization, Value, or AverageValue", errors);
    }
    for field in ["value", "averageValue"] {
        let own = target.field(field);
        if own.is_set() && amount(own.text()).sign().is_le() {
            own.invalid("must be positive", errors);
        }
    }
    let utilization = target.field("averageUtilization");
    if utilization.number().is_some_and(|number| number < 1) {
        utilization.invalid("must be greater than 0", errors);
    }
}

/// `validateScalingRules`.
fn scaling_rules(rules: At<'_, '_>, errors: &mut Errors) {
    let window = rules.field("stabilizationWindowSeconds");
    match window.number() {
        Some(..0) => window.invalid("must be greater than or equal to zero", errors),
        Some(seconds) if seconds > MAX_STABILIZATION_WINDOW => {
            window.invalid(format!("must be less than or equal to {MAX_STABILIZATION_WINDOW}"), errors);
        }
        _ => {}
    }
    let select = rules.field("selectPolicy");
    if select.is_set() {
        select.supported(&["Disabled", "Max", "Min"], errors);
    }
    let policies = rules.field("policies");
    if policies.is_empty() {
        policies.required("must specify at least one Policy", errors);
    }
    for policy in policies.items() {
        policy.field("type").supported(&["Percent", "Pods"], errors);
        for field in ["value", "periodSeconds"] {
            let number = policy.field(field);
            if number.number().is_none_or(|number| number <= 0) {
                number.invalid("must be greater than zero", errors);
            }
        }
        let period = policy.field("periodSeconds");
        if period.number().is_some_and(|seconds| seconds > MAX_PERIOD) {
            period.invalid(format!("must be less than or equal to {MAX_PERIOD}"), errors);
        }
    }
    let tolerance = rules.field("tolerance");
    if amount(tolerance.text()).sign().is_lt() {
        tolerance.invalid("must be greater than or equal to 0", errors);
    }
}
