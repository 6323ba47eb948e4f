//! The metrics of an autoscaler, as its spec asks for them.

use crate::workloads::facts::read;
use quantity::Quantity;
use tree::{Value, json};

/// A metric in an autoscaler's spec.
pub(super) struct Metric<'s> {
    spec: &'s Value,
    pub(super) kind: &'s str,
}

/// Where a metric is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// Of pods' CPU, memory, or another resource.
    Resource,
    /// Of pods, by name.
    Pods,
    /// Of another object.
    Object,
    /// Of something outside of the cluster.
    External,
}

impl<'s> Metric<'s> {
    /// The metrics of an autoscaler.
    pub(super) fn all(scaler: &'s Value) -> Vec<Metric<'s>> {
        let metric = |spec: &'s Value| Metric { spec, kind: read::text(spec, "/type") };
        read::list(scaler, "/spec/metrics").iter().map(metric).collect()
    }

    pub(super) fn source(&self) -> Source {
        match self.kind {
            "Pods" => Source::Pods,
            "Object" => Source::Object,
            "External" => Source::External,
            _ => Source::Resource,
        }
    }

    /// The part of the spec that is about the source.
    pub(super) fn own(&self) -> &'s Value {
        const NONE: &Value = &Value::Null;
        let field = match self.kind {
            "ContainerResource" => "containerResource",
            "Pods" => "pods",
            "Object" => "object",
            "External" => "external",
            _ => "resource",
        };
        self.spec.get(field).unwrap_or(NONE)
    }

    /// The name: of a resource, or of the metric.
    pub(super) fn name(&self) -> &'s str {
        match self.source() {
            Source::Resource => read::text(self.own(), "/name"),
            _ => read::text(self.own(), "/metric/name"),
        }
    }

    /// The container that it is about; empty for all.
    pub(super) fn container(&self) -> &'s str {
        read::text(self.own(), "/container")
    }

    /// The target's number of thousandths.
    pub(super) fn target(&self, field: &str) -> Option<i64> {
        let target = self.own().pointer(&format!("/target/{field}"))?;
        milli(target)
    }

    /// The percentage of what pods request.
    pub(super) fn utilization(&self) -> Option<i64> {
        read::number(self.own(), "/target/averageUtilization")
    }

    /// Its entry in `status.currentMetrics`.
    pub(super) fn status(&self, current: Value) -> Value {
        let own = match self.kind {
            "Resource" => json!({"name": self.name(), "current": current}),
            "ContainerResource" => json!({"name": self.name(), "container": self.container(), "current": current}),
            "Object" => json!({
                "describedObject": self.own()["describedObject"], "metric": self.own()["metric"], "current": current,
            }),
            _ => json!({"metric": self.own()["metric"], "current": current}),
        };
        let field = match self.kind {
            "ContainerResource" => "containerResource".to_owned(),
            kind => kind.to_ascii_lowercase(),
        };
        json!({"type": self.kind, (field): own})
    }

    /// The reason of a failure about it.
    pub(super) fn failure(&self) -> &'static str {
        match self.kind {
            "ContainerResource" => "FailedGetContainerResourceMetric",
            "Pods" => "FailedGetPodsMetric",
            "Object" => "FailedGetObjectMetric",
            "External" => "FailedGetExternalMetric",
            _ => "FailedGetResourceMetric",
        }
    }

    /// The error of what could not be got.
    pub(super) fn failed(&self, why: &str) -> String {
        match self.kind {
            "ContainerResource" => format!("failed to get {} container metric value: {why}", self.container()),
            "Pods" => format!("failed to get pods metric value: {why}"),
            "Object" => format!("failed to get object metric value: {why}"),
            "External" => format!("failed to get {} external metric value: {why}", self.name()),
            _ => format!("failed to get {} resource metric value: {why}", self.name()),
        }
    }
}

/// A quantity's number of thousandths.
pub(super) fn milli(quantity: &Value) -> Option<i64> {
    let text = match quantity {
        Value::String(text) => text.to_string(),
        Value::Null => return None,
        number => number.to_string(),
    };
    Quantity::parse(&text).ok().map(|quantity| quantity.milli_value())
}
