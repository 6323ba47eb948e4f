//! Conditions of an object that a test waits for.

use crate::refusal::{Cause, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An object to wait for, and what has to be true of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct WaitObject {
    /// The resource, by its plural, with its group if two groups have one of that name: `pods`, `deployments.apps`.
    pub resource: String,
    /// The namespace; none of an object without one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The name.
    pub name: String,
    /// The fields that the object has to contain: `{"status": {"phase": "Running"}}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contains: Option<Value>,
    /// Whether it has to be gone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub absent: bool,
    /// An expression in CEL that has to be true, about the object `self`: `self.status.readyReplicas == 3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cel: Option<String>,
    /// The longest time that is waited, in seconds of the real clock; 5 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
}

impl WaitObject {
    /// Checks that it makes sense by itself.
    ///
    /// # Errors
    /// 422 with all that is wrong.
    pub fn check(&self) -> Result<(), Refusal> {
        let mut causes = Vec::new();
        for (field, value) in [("resource", &self.resource), ("name", &self.name)] {
            if value.is_empty() {
                causes.push(Cause::required(field, "an object has one"));
            }
        }
        if self.absent && (self.contains.is_some() || self.cel.is_some()) {
            causes.push(Cause::invalid("absent", true, "nothing can be true of an object that is gone"));
        }
        if causes.is_empty() { Ok(()) } else { Err(Refusal::invalid("objects", &self.name, causes)) }
    }

    /// The first lack of an object, or that it is not there; `None` if it lacks nothing. Expressions are the server's.
    pub fn lacks(&self, object: Option<&Value>) -> Option<String> {
        match (object, self.absent) {
            (Some(_), true) => Some("it is there".into()),
            (None, false) => Some("it is not there".into()),
            (None, true) => None,
            (Some(object), false) => difference("", self.contains.as_ref()?, object),
        }
    }
}

/// The first place at which a value lacks something of a pattern. Objects may have more fields, lists are compared item by item.
pub(crate) fn difference(path: &str, pattern: &Value, value: &Value) -> Option<String> {
    match (pattern, value) {
        (Value::Object(fields), Value::Object(has)) => fields.iter().find_map(|(name, pattern)| {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            match has.get(name) {
                Some(value) => difference(&path, pattern, value),
                None => Some(format!("{path}: there is none, in place of {pattern}")),
            }
        }),
        (Value::Array(patterns), Value::Array(values)) if patterns.len() == values.len() => patterns
            .iter()
            .zip(values)
            .enumerate()
            .find_map(|(index, (pattern, value))| difference(&format!("{path}[{index}]"), pattern, value)),
        (pattern, value) if pattern == value => None,
        (pattern, value) => Some(format!("{path}: it is {value}, in place of {pattern}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_missing_is_said() {
        let object = json!({"status": {"phase": "Pending", "conditions": [{"type": "A", "status": "True"}]}});
        for (contains, expected) in [
            (json!({}), None),
            (json!({"status": {"conditions": [{"type": "A"}]}}), None),
            (json!({"status": {"phase": "Running"}}), Some("status.phase: it is \"Pending\", in place of \"Running\"")),
            (json!({"spec": 1}), Some("spec: there is none, in place of 1")),
            (
                json!({"status": {"conditions": [{"status": "False"}]}}),
                Some("status.conditions[0].status: it is \"True\", in place of \"False\""),
            ),
        ] {
            let wait = WaitObject { contains: Some(contains), ..WaitObject::default() };
            assert_eq!(wait.lacks(Some(&object)).as_deref(), expected);
        }
        let absent = WaitObject { absent: true, ..WaitObject::default() };
        assert_eq!((absent.lacks(None), absent.lacks(Some(&object))), (None, Some("it is there".into())));
        assert_eq!(WaitObject::default().lacks(None).as_deref(), Some("it is not there"));
        assert_eq!(WaitObject::default().check().expect_err("a name").code, 422);
    }
}
