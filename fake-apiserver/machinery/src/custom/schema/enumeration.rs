//! `enum`: the values that a schema allows. Go compares a value with each of them (`Enum` of
//! `k8s.io/kube-openapi/pkg/validation/validate/values.go`, d427ff9ee9ad); here an index is made when the first value is compared.

use super::number::{Num, truncate};
use crate::error::FieldError;
use crate::schema::encode_any;
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};
use tree::Value;

/// The values that a schema allows; any, if there are none.
#[derive(Debug, Default)]
pub(crate) struct Enumeration {
    values: Vec<Value>,
    index: OnceLock<Index>,
    /// The detail of all findings.
    supported: OnceLock<Arc<str>>,
}

/// Values by how numbers are compared with them.
#[derive(Debug, Default)]
struct Index {
    integers: HashSet<i64>,
    /// The bits of floats; both zeros are positive.
    floats: HashSet<u64>,
    others: HashSet<Value>,
}

impl Enumeration {
    /// The enumeration of these values.
    pub(super) fn new(values: &[Value]) -> Self {
        Enumeration { values: values.to_vec(), ..Enumeration::default() }
    }

    /// Whether a value is allowed: whether it equals one of the values after Go's conversion to its type. Numbers lose
    /// fractions, and an integer becomes the character with that code. Null equals nothing.
    pub(super) fn allows(&self, value: &Value) -> bool {
        self.values.is_empty() || self.index.get_or_init(|| Index::of(&self.values)).has(value)
    }

    /// The finding about a value that is not allowed.
    pub(super) fn refusal(&self, at: String, value: &Value) -> FieldError {
        let plain = |value: &Value| value.as_str().map_or_else(|| encode_any(value), str::to_owned);
        let texts = || self.values.iter().map(plain).collect::<Vec<_>>();
        let supported = self.supported.get_or_init(|| FieldError::supported(&texts()).into());
        FieldError::unsupported_of(at, value, supported.clone())
    }
}

impl Index {
    fn of(values: &[Value]) -> Self {
        let mut index = Index::default();
        for value in values {
            match value {
                Value::Number(number) => match Num::of(number) {
                    Num::Int(integer) => index.integers.insert(integer),
                    Num::Float(float) => index.floats.insert(bits(float)),
                },
                other => index.others.insert(other.clone()),
            };
        }
        index
    }

    fn has(&self, value: &Value) -> bool {
        match value {
            Value::Null => false,
            Value::Number(number) => {
                let number = Num::of(number);
                self.floats.contains(&bits(number.float()))
                    || match number {
                        Num::Int(integer) => self.integers.contains(&integer) || self.has_character(integer),
                        Num::Float(float) => self.integers.contains(&truncate(float)),
                    }
            }
            value => self.others.contains(value),
        }
    }

    fn has_character(&self, code: i64) -> bool {
        let char = u32::try_from(code).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
        !self.others.is_empty() && self.others.contains(&char.to_string().into())
    }
}

fn bits(float: f64) -> u64 {
    (float + 0.0).to_bits()
}

#[cfg(test)]
mod tests {
    use super::Enumeration;
    use std::sync::Arc;
    use tree::{Value, json};

    #[test]
    fn values_are_compared_after_conversion() {
        let list = [json!(1), json!(2.5), json!("A"), json!(true), json!({"a": [1]}), json!(null), json!(-0.0)];
        let enumeration = Enumeration::new(&list);
        for (value, is_allowed) in [
            (json!(1), true),
            (json!(1.75), true),
            (json!(2.5), true),
            (json!(2), false),
            (json!(0), true),
            (json!(0.0), true),
            (json!("A"), true),
            (json!("1"), false),
            (json!(65), true),
            (json!(65.0), false),
            (json!(66), false),
            (json!(true), true),
            (json!(false), false),
            (json!({"a": [1]}), true),
            (json!({"a": [2]}), false),
            (json!(null), false),
        ] {
            assert_eq!(enumeration.allows(&value), is_allowed, "{value}");
        }
        assert!(Enumeration::new(&[]).allows(&json!(null)));
    }

    #[test]
    fn findings_share_the_list_of_values() {
        let values: Vec<Value> = (0..1000).map(Value::from).collect();
        let enumeration = Enumeration::new(&values);
        let detail = |place: &str| {
            let finding = enumeration.refusal(place.into(), &json!("x"));
            assert!(
                finding.to_string().starts_with(&format!("{place}: Unsupported value: \"x\": supported values: \"0\""))
            );
            enumeration.supported.get().unwrap().clone()
        };
        assert!(Arc::ptr_eq(&detail("a"), &detail("b")));
    }
}
