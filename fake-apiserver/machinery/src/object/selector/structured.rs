//! Label selectors in objects: `{"matchLabels": {...}, "matchExpressions": [...]}`.
//!
//! Ports `ValidateLabelSelector` of `k8s.io/apimachinery/pkg/apis/meta/v1/validation` and `LabelSelectorAsSelector` of
//! `pkg/apis/meta/v1/helpers.go` (v0.37.1).

use super::label::LabelSelector;
use super::requirement::{Operator, Requirement};
use crate::error::{Errors, Path};
use crate::object::name;
use tree::Value;

/// Rules for a selector; one that breaks a rule selects nothing.
pub fn validate(at: Path<'_>, selector: &Value, errors: &mut Errors) {
    rules(at, selector, true, errors);
}

/// The same, but for the values in expressions, if the old selector breaks a rule (`AllowInvalidLabelValueInSelector`).
pub fn validate_update(at: Path<'_>, selector: &Value, old: Option<&Value>, errors: &mut Errors) {
    let is_strict = old.is_none_or(|old| Errors::of(|errors| validate(Path::ROOT, old, errors)).is_empty());
    rules(at, selector, is_strict, errors);
}

fn rules(at: Path<'_>, selector: &Value, is_strict: bool, errors: &mut Errors) {
    for (key, value) in selector["matchLabels"].as_object().into_iter().flatten() {
        let (at, value) = (at.child("matchLabels"), value.as_str().unwrap_or_default());
        errors.invalid_each(at, key, name::label_key(key));
        errors.invalid_each(at, value, name::label_value(value));
    }
    for (index, expression) in selector["matchExpressions"].as_array().into_iter().flatten().enumerate() {
        requirement(at.item("matchExpressions", index), expression, is_strict, errors);
    }
}

fn requirement(at: Path<'_>, requirement: &Value, is_strict: bool, errors: &mut Errors) {
    let (key, values) = (text(&requirement["key"]), values(requirement));
    match text(&requirement["operator"]) {
        "In" | "NotIn" if values.is_empty() => {
            errors.required(at.child("values"), "must be specified when `operator` is 'In' or 'NotIn'");
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            errors.forbidden(at.child("values"), detail);
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        other => errors.invalid(at.child("operator"), other, "not a valid selector operator"),
    }
    errors.invalid_each(at.child("key"), key, name::label_key(key));
    for (index, value) in values.iter().enumerate().filter(|_| is_strict) {
        errors.invalid_each(at.item("values", index), value, name::label_value(value));
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn values(expression: &Value) -> Vec<String> {
    let values = expression["values"].as_array().into_iter().flatten();
    values.map(|value| text(value).to_string()).collect()
}

impl LabelSelector {
    /// The selector that an object holds; `None` if it is not valid.
    pub fn structured(selector: &Value) -> Option<Self> {
        if !Errors::of(|errors| validate(Path::ROOT, selector, errors)).is_empty() {
            return None;
        }
        let labels = selector["matchLabels"].as_object().into_iter().flatten();
        let labels = labels.map(|(key, value)| Requirement::new(key, Operator::Equals, vec![text(value).to_string()]));
        let expressions = selector["matchExpressions"].as_array().into_iter().flatten().map(|expression| {
            let operator = match text(&expression["operator"]) {
                "In" => Operator::In,
                "NotIn" => Operator::NotIn,
                "Exists" => Operator::Exists,
                _ => Operator::DoesNotExist,
            };
            Requirement::new(text(&expression["key"]), operator, values(expression))
        });
        labels.chain(expressions).collect::<Result<Vec<_>, _>>().ok().map(LabelSelector::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    #[test]
    fn labels_and_expressions_must_all_hold() {
        let selector = json!({"matchLabels": {"a": "1"}, "matchExpressions": [
            {"key": "b", "operator": "In", "values": ["2", "3"]},
            {"key": "c", "operator": "DoesNotExist"},
        ]});
        let selector = LabelSelector::structured(&selector).unwrap();
        for (labels, selected) in [
            (&[("a", "1"), ("b", "3")][..], true),
            (&[("a", "1"), ("b", "4")], false),
            (&[("a", "1")], false),
            (&[("a", "1"), ("b", "2"), ("c", "")], false),
        ] {
            assert_eq!(selector.matches(labels.iter().copied()), selected, "{labels:?}");
        }
        assert!(LabelSelector::structured(&json!({})).unwrap().is_empty());
        assert_eq!(LabelSelector::structured(&json!({"matchExpressions": [{"key": "a", "operator": "Gt"}]})), None);
    }
}
