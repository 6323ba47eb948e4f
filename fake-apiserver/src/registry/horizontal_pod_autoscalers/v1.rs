//! The same autoscalers in `autoscaling/v1`, which knows one metric, the utilization of processors: annotations tell the rest.
//!
//! Follows `pkg/apis/autoscaling/v1/conversion.go` and `pkg/apis/autoscaling/{annotations,helpers}.go` (v1.37.1).

use super::annotated;
use crate::object::meta;
use crate::registry::rules::{Functions, VersionRules};
use crate::registry::{child, items, number, text};
use tree::{Map, Value, json};

pub(super) const VERSION: VersionRules = VersionRules {
    conversion: Functions { to_storage, from_storage },
    validate: Some(super::validate::object),
    ..VersionRules::same("autoscaling", "v1")
};

/// The annotations for metrics, their current values, conditions and behavior (`MetricSpecsAnnotation`,
/// `MetricStatusesAnnotation`, `HorizontalPodAutoscalerConditionsAnnotation`, `BehaviorSpecsAnnotation`).
const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";
/// All annotations that conversions drop: those, and two of versions that are gone.
const ROUND_TRIP: [&str; 6] = [
    METRICS,
    CURRENT_METRICS,
    CONDITIONS,
    BEHAVIOR,
    "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
    "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
];

/// The field of the spec in `v1` for the metric that it knows, and that of the status.
const TARGET: &str = "targetCPUUtilizationPercentage";
const CURRENT: &str = "currentCPUUtilizationPercentage";

/// `DefaultCPUUtilization`.
pub(super) const CPU_UTILIZATION: i64 = 80;

/// A metric of the utilization of processors.
pub(super) fn cpu_metric(utilization: Value) -> Value {
    let target = json!({"type": "Utilization", "averageUtilization": utilization});
    json!({"type": "Resource", "resource": {"name": "cpu", "target": target}})
}

/// `DropRoundTripHorizontalPodAutoscalerAnnotations`.
pub(super) fn drop_annotations(autoscaler: &mut Value) {
    if ROUND_TRIP.iter().all(|key| meta::annotations(autoscaler).get(key).is_none()) {
        return;
    }
    if let Some(annotations) = child(child(autoscaler, "metadata"), "annotations").as_object_mut() {
        ROUND_TRIP.iter().for_each(|key| drop(annotations.remove(key)));
    }
    if meta::annotations(autoscaler).iter().next().is_none() {
        meta::remove(autoscaler, "annotations");
    }
}

/// `Convert_v1_HorizontalPodAutoscaler_To_autoscaling_HorizontalPodAutoscaler`.
fn to_storage(autoscaler: &mut Value) {
    let read = |key: &str| {
        let text = meta::annotations(autoscaler).get(key)?;
        serde_json::from_str::<Value>(text).ok()
    };
    let list = |key: &str| read(key).and_then(|value| value.as_array().cloned());
    let (metrics, currents, conditions) = (list(METRICS), list(CURRENT_METRICS), list(CONDITIONS));
    let behavior = read(BEHAVIOR).as_ref().and_then(annotated::behavior_from);
    let spec = child(autoscaler, "spec");
    let own = remove(spec, TARGET).map(cpu_metric);
    let others = metrics.unwrap_or_default();
    let mut all: Vec<Value> = others.iter().map(|metric| annotated::SPECS.v2(metric)).chain(own).collect();
    if all.is_empty() {
        all.push(cpu_metric(CPU_UTILIZATION.into()));
    }
    spec["metrics"] = all.into();
    if let Some(behavior) = behavior {
        spec["behavior"] = behavior;
    }
    if autoscaler.get("status").is_some() || currents.is_some() || conditions.is_some() {
        let status = child(autoscaler, "status");
        let own = remove(status, CURRENT).map(|utilization| {
            let current = json!({"averageUtilization": utilization});
            json!({"type": "Resource", "resource": {"name": "cpu", "current": current}})
        });
        let currents =
            currents.map(|currents| currents.iter().map(|current| annotated::STATUSES.v2(current)).collect());
        if let Some(currents) = currents.or(own.map(|own| vec![own])) {
            status["currentMetrics"] = Value::Array(currents);
        }
        if let Some(conditions) = conditions {
            status["conditions"] = conditions.into();
        }
    }
    drop_annotations(autoscaler);
}

/// `Convert_autoscaling_HorizontalPodAutoscaler_To_v1_HorizontalPodAutoscaler`.
fn from_storage(autoscaler: &mut Value) {
    drop_annotations(autoscaler);
    let mut annotations = Map::new();
    let spec = child(autoscaler, "spec");
    let metrics = remove(spec, "metrics").and_then(|metrics| metrics.as_array().cloned()).unwrap_or_default();
    let behavior = remove(spec, "behavior");
    if let Some(metric) = metrics.iter().find(|metric| is_cpu(metric)) {
        spec[TARGET] = metric["resource"]["target"]["averageUtilization"].clone();
    }
    let others: Vec<String> =
        metrics.iter().filter(|metric| !is_cpu(metric)).map(|metric| annotated::SPECS.v1(metric)).collect();
    if !others.is_empty() {
        annotations.insert(METRICS.into(), format!("[{}]", others.join(",")).into());
    }
    if let Some(behavior) = behavior.filter(|behavior| !behavior.is_null()) {
        annotations.insert(BEHAVIOR.into(), annotated::behavior_text(&behavior).into());
    }
    if let Some(status) = autoscaler.get_mut("status") {
        let currents = items(status, "/currentMetrics");
        let utilization =
            currents.iter().filter(|current| text(current, "/type") == "Resource").rev().find_map(|own| {
                let is_cpu = text(own, "/resource/name") == "cpu";
                number(own, "/resource/current/averageUtilization").filter(|_| is_cpu)
            });
        let all: Vec<String> = currents.iter().map(|current| annotated::STATUSES.v1(current)).collect();
        if !all.is_empty() {
            annotations.insert(CURRENT_METRICS.into(), format!("[{}]", all.join(",")).into());
        }
        let conditions: Vec<String> = items(status, "/conditions").iter().map(annotated::condition).collect();
        if !conditions.is_empty() {
            annotations.insert(CONDITIONS.into(), format!("[{}]", conditions.join(",")).into());
        }
        for field in ["currentMetrics", "conditions"] {
            remove(status, field);
        }
        if let Some(utilization) = utilization {
            status[CURRENT] = utilization.into();
        }
    }
    let own = child(child(autoscaler, "metadata"), "annotations");
    annotations.into_iter().for_each(|(key, value)| *child(own, &key) = value);
    if own.is_null() {
        meta::remove(autoscaler, "annotations");
    }
}

/// Whether it is the metric that `v1` has a field for.
fn is_cpu(metric: &Value) -> bool {
    text(metric, "/type") == "Resource"
        && text(metric, "/resource/name") == "cpu"
        && number(metric, "/resource/target/averageUtilization").is_some()
}

fn remove(object: &mut Value, field: &str) -> Option<Value> {
    object.as_object_mut()?.remove(field)
}
