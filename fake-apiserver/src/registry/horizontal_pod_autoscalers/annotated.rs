//! Metrics, conditions and behavior as `autoscaling/v1` writes them into annotations: JSON of types that no other version serves.
//!
//! Follows `pkg/apis/autoscaling/v1/conversion.go` and the types of `k8s.io/api/autoscaling/v1` (v0.37.1).

use crate::registry::{at, text};
use tree::{Map, Value};

/// The form of a list of metrics.
pub(super) struct Metrics {
    sources: &'static [Source],
    /// The field of `v2` in which a source has its values.
    values: &'static str,
}

/// A source of metrics: its field, and the fields of `v1` below it, in order, each with its place in `v2`.
type Source = (&'static str, &'static [(&'static str, &'static str, Form)]);

/// The form of a field in JSON.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// A text, also if it is empty.
    Text,
    /// A quantity, 0 if it is unset.
    Quantity,
    /// A value that may be unset.
    Optional,
    /// A reference to an object.
    Reference,
    /// A label selector that may be unset.
    Selector,
}
use Form::{Optional, Quantity, Reference, Selector, Text};

/// `MetricSpec`.
pub(super) const SPECS: Metrics = Metrics {
    values: "target",
    sources: &[
        (
            "object",
            &[
                ("target", "/describedObject", Reference),
                ("metricName", "/metric/name", Text),
                ("targetValue", "/target/value", Quantity),
                ("selector", "/metric/selector", Selector),
                ("averageValue", "/target/averageValue", Optional),
            ],
        ),
        (
            "pods",
            &[
                ("metricName", "/metric/name", Text),
                ("targetAverageValue", "/target/averageValue", Quantity),
                ("selector", "/metric/selector", Selector),
            ],
        ),
        (
            "resource",
            &[
                ("name", "/name", Text),
                ("targetAverageUtilization", "/target/averageUtilization", Optional),
                ("targetAverageValue", "/target/averageValue", Optional),
            ],
        ),
        (
            "containerResource",
            &[
                ("name", "/name", Text),
                ("targetAverageUtilization", "/target/averageUtilization", Optional),
                ("targetAverageValue", "/target/averageValue", Optional),
                ("container", "/container", Text),
            ],
        ),
        (
            "external",
            &[
                ("metricName", "/metric/name", Text),
                ("metricSelector", "/metric/selector", Selector),
                ("targetValue", "/target/value", Optional),
                ("targetAverageValue", "/target/averageValue", Optional),
            ],
        ),
    ],
};

/// `MetricStatus`.
pub(super) const STATUSES: Metrics = Metrics {
    values: "current",
    sources: &[
        (
            "object",
            &[
                ("target", "/describedObject", Reference),
                ("metricName", "/metric/name", Text),
                ("currentValue", "/current/value", Quantity),
                ("selector", "/metric/selector", Selector),
                ("averageValue", "/current/averageValue", Optional),
            ],
        ),
        (
            "pods",
            &[
                ("metricName", "/metric/name", Text),
                ("currentAverageValue", "/current/averageValue", Quantity),
                ("selector", "/metric/selector", Selector),
            ],
        ),
        (
            "resource",
            &[
                ("name", "/name", Text),
                ("currentAverageUtilization", "/current/averageUtilization", Optional),
                ("currentAverageValue", "/current/averageValue", Quantity),
            ],
        ),
        (
            "containerResource",
            &[
                ("name", "/name", Text),
                ("currentAverageUtilization", "/current/averageUtilization", Optional),
                ("currentAverageValue", "/current/averageValue", Quantity),
                ("container", "/container", Text),
            ],
        ),
        (
            "external",
            &[
                ("metricName", "/metric/name", Text),
                ("metricSelector", "/metric/selector", Selector),
                ("currentValue", "/current/value", Quantity),
                ("currentAverageValue", "/current/averageValue", Optional),
            ],
        ),
    ],
};

impl Metrics {
    /// A metric of `v2` as JSON of `v1`.
    pub(super) fn v1(&self, metric: &Value) -> String {
        let mut members = vec![member("type", &go(&metric["type"]))];
        for (field, parts) in self.sources {
            let Some(source) = metric.get(field) else { continue };
            let parts = parts.iter().filter_map(|(name, place, form)| {
                let value = at(source, place);
                let json = match form {
                    Text => go(value.unwrap_or(&"".into())),
                    Quantity => go(value.unwrap_or(&"0".into())),
                    Optional => go(value?),
                    Reference => in_order(value.unwrap_or(&Value::Null), &["kind", "name", "apiVersion"], 2),
                    Selector => selector(value?),
                };
                Some(member(name, &json))
            });
            members.push(member(field, &braced(&parts.collect::<Vec<_>>())));
        }
        braced(&members)
    }

    /// A metric of `v1` in `v2`.
    pub(super) fn v2(&self, metric: &Value) -> Value {
        let mut converted = Map::new();
        converted.insert("type".into(), text(metric, "/type").into());
        for (field, parts) in self.sources {
            let Some(source) = metric.get(field) else { continue };
            let mut object = Value::Object(Map::new());
            for (name, place, form) in *parts {
                let zero = match form {
                    Text => Some("".into()),
                    Quantity => Some("0".into()),
                    _ => None,
                };
                if let Some(value) = source.get(name).cloned().or(zero) {
                    set(&mut object, place, value);
                }
            }
            if self.values == "target" {
                let target = target_type(field, &object["target"]);
                let is_zero = text(&object, "/target/value") == "0";
                if *field == "object" && target == "AverageValue" && is_zero {
                    object["target"].as_object_mut().map(|target| target.remove("value"));
                }
                set(&mut object, "/target/type", target.into());
            }
            converted.insert((*field).into(), object);
        }
        converted.into()
    }
}

/// The type of a target, which `v1` does not say.
fn target_type(source: &str, target: &Value) -> &'static str {
    let has = |field: &str| target.get(field).is_some();
    match source {
        "object" if !has("averageValue") => "Value",
        "external" if has("value") => "Value",
        "resource" | "containerResource" if has("averageUtilization") => "Utilization",
        _ => "AverageValue",
    }
}

/// Sets the value at a place of two parts at most.
fn set(object: &mut Value, place: &str, value: Value) {
    let mut at = object;
    for part in place.split('/').skip(1) {
        if !at.is_object() {
            *at = Map::new().into();
        }
        at = &mut at[part];
    }
    *at = value;
}

/// A condition as JSON of `v1`.
pub(super) fn condition(condition: &Value) -> String {
    let mut members = Vec::new();
    for field in ["type", "status", "lastTransitionTime", "reason", "message", "observedGeneration"] {
        match condition.get(field) {
            Some(Value::String(text)) if text.is_empty() && field != "status" && field != "type" => {}
            Some(value) => members.push(member(field, &go(value))),
            None if field == "lastTransitionTime" => members.push(member(field, "null")),
            None => {}
        }
    }
    braced(&members)
}

/// The fields of behavior by their Go names, since the internal type has no others.
const RULES: [(&str, &str); 4] = [
    ("StabilizationWindowSeconds", "stabilizationWindowSeconds"),
    ("SelectPolicy", "selectPolicy"),
    ("Policies", "policies"),
    ("Tolerance", "tolerance"),
];
const DIRECTIONS: [(&str, &str); 2] = [("ScaleUp", "scaleUp"), ("ScaleDown", "scaleDown")];
const POLICY: [(&str, &str); 3] = [("Type", "type"), ("Value", "value"), ("PeriodSeconds", "periodSeconds")];

/// Behavior as JSON of the internal type.
pub(super) fn behavior_text(behavior: &Value) -> String {
    let named = |names: &[(&str, &str)], value: &Value, print: &dyn Fn(&Value) -> String| {
        let members = names.iter().map(|(go, own)| member(go, &value.get(own).map_or("null".into(), print)));
        braced(&members.collect::<Vec<_>>())
    };
    let policy = |policy: &Value| named(&POLICY, policy, &go);
    let field = |value: &Value| match value {
        Value::Array(policies) => format!("[{}]", policies.iter().map(policy).collect::<Vec<_>>().join(",")),
        value => go(value),
    };
    named(&DIRECTIONS, behavior, &|rules| named(&RULES, rules, &field))
}

/// The behavior in that JSON; `None` if it says nothing.
pub(super) fn behavior_from(json: &Value) -> Option<Value> {
    let renamed = |names: &[(&str, &str)], value: &Value, read: &dyn Fn(&Value) -> Value| -> Value {
        let members = names.iter().filter_map(|(go, own)| {
            // Go reads names in any case.
            let mut members = value.as_object()?.iter();
            let (_, value) = members.find(|(name, value)| name.eq_ignore_ascii_case(go) && !value.is_null())?;
            Some((*own, read(value)))
        });
        members.collect()
    };
    let policy = |policy: &Value| renamed(&POLICY, policy, &Value::clone);
    let field = |value: &Value| match value {
        Value::Array(policies) => Value::Array(policies.iter().map(policy).collect()),
        value => value.clone(),
    };
    let behavior = renamed(&DIRECTIONS, json, &|rules| renamed(&RULES, rules, &field));
    behavior.as_object().is_some_and(|behavior| !behavior.is_empty()).then_some(behavior)
}

/// A label selector in the order of Go's struct.
fn selector(selector: &Value) -> String {
    let mut members = Vec::new();
    if let Some(labels) = selector.get("matchLabels") {
        members.push(member("matchLabels", &go(labels)));
    }
    if let Some(expressions) = selector["matchExpressions"].as_array() {
        let expressions = expressions.iter().map(|expression| in_order(expression, &["key", "operator", "values"], 2));
        members.push(member("matchExpressions", &format!("[{}]", expressions.collect::<Vec<_>>().join(","))));
    }
    braced(&members)
}

/// An object's fields in an order; the first of them are there also if they are unset.
fn in_order(object: &Value, fields: &[&str], required: usize) -> String {
    let unset: Value = "".into();
    let members = fields.iter().enumerate().filter_map(|(index, field)| {
        let value = object.get(field).filter(|value| index < required || value.as_str() != Some(""));
        let value = value.or((index < required).then_some(&unset))?;
        Some(member(field, &go(value)))
    });
    braced(&members.collect::<Vec<_>>())
}

fn member(name: &str, json: &str) -> String {
    format!("\"{name}\":{json}")
}

fn braced(members: &[String]) -> String {
    format!("{{{}}}", members.join(","))
}

/// JSON as Go writes it, without characters that mean something in HTML.
fn go(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}
