//! The requirements of label selectors: `Requirement` of `k8s.io/apimachinery/pkg/labels/selector.go` (v0.37.1).

use crate::error::{FieldError, aggregate};
use crate::object::name;
use std::fmt;
use tree::Value;

/// A requirement on the value of a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Requirement {
    pub(super) key: String,
    operator: Operator,
    /// Sorted, without repetitions.
    values: Vec<String>,
}

/// The operator of a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Exists,
    DoesNotExist,
    Equals,
    DoubleEquals,
    NotEquals,
    In,
    NotIn,
    GreaterThan,
    LessThan,
}

impl Requirement {
    /// `NewRequirement`: also checks key and values.
    pub(super) fn new(key: &str, operator: Operator, mut values: Vec<String>) -> Result<Self, String> {
        values.sort();
        values.dedup();
        let mut errors = Vec::new();
        if matches!(operator, Operator::GreaterThan | Operator::LessThan) {
            for (index, value) in values.iter().enumerate().filter(|(_, value)| value.parse::<i64>().is_err()) {
                let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
                errors.push(FieldError::invalid(format!("values[{index}]"), &Value::from(value.as_str()), detail));
            }
        }
        for (index, value) in values.iter().enumerate() {
            let objections = name::label_value(value);
            if !objections.is_empty() {
                let path = format!("values[{index}][{key}]");
                errors.push(FieldError::invalid(path, &Value::from(value.as_str()), objections.join("; ")));
            }
        }
        match errors.is_empty() {
            true => Ok(Requirement { key: key.into(), operator, values }),
            false => Err(aggregate(errors.iter().map(FieldError::to_string))),
        }
    }

    /// Its key, operator and values in a structured selector, which cannot compare numbers.
    pub(super) fn structured(&self) -> Option<(&str, &'static str, &[String])> {
        let operator = match self.operator {
            Operator::Exists => "Exists",
            Operator::DoesNotExist => "DoesNotExist",
            Operator::Equals | Operator::DoubleEquals | Operator::In => "In",
            Operator::NotEquals | Operator::NotIn => "NotIn",
            Operator::GreaterThan | Operator::LessThan => return None,
        };
        Some((&self.key, operator, &self.values))
    }

    /// Whether an object without that label does not meet it.
    pub(super) fn needs_label(&self) -> bool {
        !self.matches(None)
    }

    /// Whether an object meets it that has that value of the label, or none.
    pub(super) fn matches(&self, found: Option<&str>) -> bool {
        let has = |value: &str| self.values.binary_search_by(|one| one.as_str().cmp(value)).is_ok();
        match self.operator {
            Operator::Exists => found.is_some(),
            Operator::DoesNotExist => found.is_none(),
            Operator::Equals | Operator::DoubleEquals | Operator::In => found.is_some_and(has),
            Operator::NotEquals | Operator::NotIn => !found.is_some_and(has),
            Operator::GreaterThan => self.compare(found, |value, bound| value > bound),
            Operator::LessThan => self.compare(found, |value, bound| value < bound),
        }
    }

    /// Compares a label with a bound; false if the label is not an integer.
    fn compare(&self, found: Option<&str>, holds: fn(i64, i64) -> bool) -> bool {
        let integer = |text: &str| text.parse::<i64>().ok();
        let bound = self.values.first().and_then(|value| integer(value));
        found.and_then(integer).zip(bound).is_some_and(|(value, bound)| holds(value, bound))
    }
}

/// Requirements that mean the same as those, which are sorted by key: of each key, one about the values that it may have, and one about those
/// that it may not.
pub(super) fn merged(requirements: &[Requirement]) -> Vec<Requirement> {
    let mut merged: Vec<Requirement> = Vec::new();
    for of_key in requirements.chunk_by(|one, next| one.key == next.key) {
        let first = merged.len();
        for requirement in of_key {
            match merged[first..].iter_mut().find(|known| known.operator.merges_with(requirement.operator)) {
                None => merged.push(requirement.clone()),
                Some(known) => match known.operator {
                    Operator::NotEquals | Operator::NotIn => known.values.extend_from_slice(&requirement.values),
                    _ => known.values.retain(|value| requirement.values.binary_search(value).is_ok()),
                },
            }
        }
        for requirement in &mut merged[first..] {
            requirement.values.sort();
            requirement.values.dedup();
        }
    }
    merged
}

impl Operator {
    /// Whether one requirement can take the place of two with these operators.
    fn merges_with(self, other: Operator) -> bool {
        use Operator::{DoesNotExist, DoubleEquals, Equals, Exists, In, NotEquals, NotIn};
        matches!(
            (self, other),
            (Exists, Exists)
                | (DoesNotExist, DoesNotExist)
                | (NotEquals | NotIn, NotEquals | NotIn)
                | (Equals | DoubleEquals | In, Equals | DoubleEquals | In)
        )
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Requirement { key, operator, values } = self;
        let values = values.join(",");
        match operator {
            Operator::Exists => write!(f, "{key}"),
            Operator::DoesNotExist => write!(f, "!{key}"),
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::DoubleEquals => write!(f, "{key}=={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::GreaterThan => write!(f, "{key}>{values}"),
            Operator::LessThan => write!(f, "{key}<{values}"),
        }
    }
}
