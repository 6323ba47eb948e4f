//! The cells of autoscalers: metrics, each with its current value and its target.
//!
//! Follows `formatHPAMetrics` of `pkg/printers/internalversion/printers.go` (v1.37.1).

use crate::registry::rules::Cell;
use crate::registry::{items, number, text};
use tree::Value;

pub(super) const CELLS: &[(&str, Cell)] = &[
    ("Reference", |autoscaler, _| {
        let target = &autoscaler["spec"]["scaleTargetRef"];
        format!("{}/{}", text(target, "/kind"), text(target, "/name")).into()
    }),
    ("Targets", |autoscaler, _| metrics(autoscaler).into()),
    ("MinPods", |autoscaler, _| {
        number(autoscaler, "/spec/minReplicas").map_or("<unset>".into(), |number| number.to_string()).into()
    }),
    ("MaxPods", |autoscaler, _| number(autoscaler, "/spec/maxReplicas").unwrap_or_default().into()),
    ("Replicas", |autoscaler, _| number(autoscaler, "/status/currentReplicas").unwrap_or_default().into()),
];

/// The most metrics that a cell shows.
const SHOWN: usize = 2;

fn metrics(autoscaler: &Value) -> String {
    let statuses = items(autoscaler, "/status/currentMetrics");
    let metrics = items(autoscaler, "/spec/metrics").iter().enumerate();
    let all: Vec<String> = metrics.map(|(index, metric)| self::metric(metric, statuses.get(index))).collect();
    if all.is_empty() {
        return "<none>".into();
    }
    let shown = all[..all.len().min(SHOWN)].join(", ");
    match all.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} + {more} more..."),
    }
}

/// A metric: its current value and its target.
fn metric(spec: &Value, status: Option<&Value>) -> String {
    let type_ = text(spec, "/type");
    let (field, is_resource) = match type_ {
        "External" => ("external", false),
        "Pods" => ("pods", false),
        "Object" => ("object", false),
        "Resource" => ("resource", true),
        "ContainerResource" => ("containerResource", true),
        _ => return "<unknown type>".into(),
    };
    let source = &spec[field];
    let target = &source["target"];
    let current = status.and_then(|status| status.get(field)).map(|status| &status["current"]);
    let now = |field: &str| current.and_then(|current| current[field].as_str());
    match (target["averageValue"].as_str(), is_resource) {
        (Some(target), true) => {
            // A status without a value prints a nil quantity.
            let now = current.map_or("<unknown>", |_| now("averageValue").unwrap_or("<nil>"));
            format!("{}: {now}/{target}", text(source, "/name"))
        }
        (None, true) => {
            let percent = |value: Option<i64>, none: &str| value.map_or(none.into(), |value| format!("{value}%"));
            let now = percent(current.and_then(|current| number(current, "/averageUtilization")), "<unknown>");
            let target = percent(number(target, "/averageUtilization"), "<auto>");
            format!("{}: {now}/{target}", text(source, "/name"))
        }
        (target, false) if field == "pods" => {
            let now = current.map_or("<unknown>", |_| now("averageValue").unwrap_or("<nil>"));
            format!("{now}/{}", target.unwrap_or("<nil>"))
        }
        (Some(target), false) => format!("{}/{target} (avg)", now("averageValue").unwrap_or("<unknown>")),
        (None, false) => {
            let now = current.map_or("<unknown>", |_| now("value").unwrap_or("<nil>"));
            format!("{now}/{}", text(target, "/value"))
        }
    }
}
