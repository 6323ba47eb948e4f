//! Values of the types of patches: `Object{...}`, the types of its fields, and `JSONPatch{...}`.
//!
//! Port of `pkg/cel/mutation` of k8s.io/apiserver v0.37.1.

use crate::value::{Outcome, Value, fail};
use std::collections::BTreeMap;
use std::sync::Arc;

const JSON_PATCH: &str = "JSONPatch";

/// An object of a patch, or an operation of a JSON patch.
#[derive(Debug)]
pub struct Patch {
    type_name: Arc<str>,
    fields: BTreeMap<Arc<str>, Value>,
}

impl Patch {
    /// A value of the type of that name.
    ///
    /// # Errors
    /// If there is no such type, or it has other fields.
    pub(crate) fn new(type_name: &Arc<str>, fields: BTreeMap<Arc<str>, Value>) -> Outcome<Patch> {
        match &**type_name {
            JSON_PATCH => {
                let texts = ["op", "path", "from"].into_iter().filter_map(|name| Some((name, fields.get(name)?)));
                if let Some((name, value)) = texts.into_iter().find(|(_, value)| !matches!(value, Value::String(_))) {
                    let found = native_type(value);
                    return fail(format!("unexpected type {found} for JSONPatchType '{name}' field"));
                }
            }
            name if name == "Object" || name.starts_with("Object.") => {}
            name => return fail(format!("unknown type '{name}'")),
        }
        Ok(Patch { type_name: type_name.clone(), fields })
    }

    /// The name of the type.
    #[must_use]
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// The fields that are set, by name.
    #[must_use]
    pub fn fields(&self) -> &BTreeMap<Arc<str>, Value> {
        &self.fields
    }

    /// The field that a key names.
    pub(crate) fn field(&self, key: &Value) -> Option<Value> {
        match key {
            Value::String(name) => self.fields.get(name).cloned(),
            _ => None,
        }
    }

    pub(crate) fn go_type(&self) -> &'static str {
        if &*self.type_name == JSON_PATCH { "*mutation.JSONPatchVal" } else { "*dynamic.ObjectVal" }
    }

    pub(crate) fn equals(&self, other: &Patch) -> Outcome<bool> {
        if self.type_name != other.type_name || self.fields.len() != other.fields.len() {
            return Ok(false);
        }
        for (name, value) in &self.fields {
            match other.fields.get(name) {
                Some(theirs) if value.is_equal(theirs)? => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }
}

/// The Go type of a native value, for messages.
fn native_type(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Uint(_) => "uint64",
        Value::Double(_) => "float64",
        Value::Bytes(_) => "[]uint8",
        Value::Null => "structpb.NullValue",
        other => other.go_type(),
    }
}
