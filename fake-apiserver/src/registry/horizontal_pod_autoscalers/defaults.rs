//! Defaults of autoscalers: one metric, and how fast they scale.
//!
//! Follows `pkg/apis/autoscaling/v2/defaults.go` (v1.37.1).

use super::v1::{CPU_UTILIZATION, cpu_metric, drop_annotations};
use crate::registry::{child, default_to, items};
use tree::{Value, json};

/// `SetDefaults_HorizontalPodAutoscaler`, and what conversions do in all versions.
pub(super) fn default(autoscaler: &mut Value) {
    drop_annotations(autoscaler);
    let spec = child(autoscaler, "spec");
    default_to(spec, "minReplicas", 1);
    if items(spec, "/metrics").is_empty() {
        spec["metrics"] = Value::Array(vec![cpu_metric(CPU_UTILIZATION.into())]);
    }
    if let Some(behavior) = spec.get_mut("behavior") {
        let policy = |type_: &str, value: i64| json!({"type": type_, "value": value, "periodSeconds": 15});
        let up = child(behavior, "scaleUp");
        default_to(up, "stabilizationWindowSeconds", 0);
        default_to(up, "selectPolicy", "Max");
        default_to(up, "policies", vec![policy("Pods", 4), policy("Percent", 100)]);
        let down = child(behavior, "scaleDown");
        default_to(down, "selectPolicy", "Max");
        default_to(down, "policies", vec![policy("Percent", 100)]);
    }
}
