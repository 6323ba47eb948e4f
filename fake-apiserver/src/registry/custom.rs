//! The rules of custom resources that do not depend on their definition, and the reading of what it names by path.
//!
//! Follows `pkg/registry/customresource` of k8s.io/apiextensions-apiserver (v0.37.1).

use super::columns::since;
use super::context::Context;
use crate::error::FieldError;
use crate::object::validate::qualified_finalizer;
use crate::object::{meta, name, patch};
use crate::schema::print_float;
use jiff::Timestamp;
use tree::Value;

/// The path of finalizers.
const FINALIZERS: &str = "metadata.finalizers";

/// Paths of the fields that a scale shows.
#[derive(Debug, Clone)]
pub(crate) struct ScalePaths {
    /// `specReplicasPath`.
    pub(crate) replicas: String,
    /// `statusReplicasPath`.
    pub(crate) status_replicas: String,
    /// `labelSelectorPath`.
    pub(crate) selector: Option<String>,
}

/// The value at a path of fields, such as `.spec.replicas`.
pub(crate) fn at_path<'v>(object: &'v Value, path: &str) -> Option<&'v Value> {
    fields(path).try_fold(object, |value, field| value.get(field))
}

/// Sets the value at a path of fields; objects on the way are made. False if something else is on the way.
pub(crate) fn set_at_path(object: &mut Value, path: &str, value: Value) -> bool {
    let mut place = object;
    for field in fields(path) {
        if place.is_null() {
            *place = Value::Object(tree::Map::new());
        }
        let Some(members) = place.as_object_mut() else { return false };
        place = members.entry(field).or_insert(Value::Null);
    }
    *place = value;
    true
}

fn fields(path: &str) -> impl Iterator<Item = &str> {
    path.strip_prefix('.').unwrap_or(path).split('.')
}

impl ScalePaths {
    /// Findings about the fields (`ValidateScaleSpec`, `ValidateScaleStatus`).
    pub(super) fn validate(&self, object: &Value, status_only: bool) -> Vec<FieldError> {
        let spec = (!status_only).then(|| replicas(object, &self.replicas)).flatten();
        let status = replicas(object, &self.status_replicas);
        let selector = self.selector.as_deref().and_then(|path| {
            let why = nested(object, path, "string", Value::is_string).err()?;
            Some(FieldError::invalid(path, &"".into(), why))
        });
        spec.into_iter().chain(status).chain(selector).collect()
    }
}

fn replicas(object: &Value, path: &str) -> Option<FieldError> {
    let value = match nested(object, path, "int64", Value::is_i64) {
        Ok(value) => value?,
        Err(why) => return Some(FieldError::invalid(path, &0.into(), why)),
    };
    let detail = match value.as_i64()? {
        ..0 => "should be a non-negative integer".to_owned(),
        number if number > i64::from(i32::MAX) => format!("should be less than or equal to {}", i32::MAX),
        _ => return None,
    };
    Some(FieldError::invalid(path, value, detail))
}

/// The value at a path of fields (`NestedInt64` and its like), which has to be of the expected type.
fn nested<'v>(
    object: &'v Value,
    path: &str,
    expected: &str,
    fits: impl Fn(&Value) -> bool,
) -> Result<Option<&'v Value>, String> {
    let mut dotted = String::new();
    let mut value = object;
    for field in fields(path) {
        dotted.extend([".", field]);
        let fields = match value {
            Value::Null => return Ok(None),
            Value::Object(fields) => fields,
            other => return Err(accessor_error(&dotted, other, "map[string]interface{}")),
        };
        let Some(child) = fields.get(field) else { return Ok(None) };
        value = child;
    }
    if fits(value) { Ok(Some(value)) } else { Err(accessor_error(&dotted, value, expected)) }
}

/// The error about a value of another type at a path such as `.spec.replicas`.
fn accessor_error(path: &str, value: &Value, expected: &str) -> String {
    let (shown, found) = (patch::print(value), patch::type_name(value));
    format!("{path} accessor error: {shown} is of the type {found}, expected {expected}")
}

/// Warnings about finalizers that are new.
pub(super) fn warnings(_: &Context<'_>, object: &Value, old: Option<&Value>) -> Vec<String> {
    let mut added: Vec<&str> = meta::finalizers(object).collect();
    if let Some(old) = old {
        added.retain(|finalizer| meta::finalizers(old).all(|other| other != *finalizer));
    }
    added.sort_unstable();
    added.dedup();
    let warning = |finalizer: &str, why: &str| format!("{FINALIZERS}: {finalizer:?}: {why}");
    let mut warnings = Vec::new();
    for finalizer in added {
        warnings.extend(name::label_key(finalizer).into_iter().map(|why| warning(finalizer, &why.to_string())));
        if qualified_finalizer(FINALIZERS, finalizer).is_some() {
            let including = if finalizer.contains('.') { " including a path (/)" } else { "" };
            warnings.push(warning(
                finalizer,
                &format!(
                    "prefer a domain-qualified finalizer name{including} to avoid accidental conflicts with other finalizer writers"
                ),
            ));
        }
    }
    warnings
}

/// The cell of a value in a column of a type (`cellForJSONValue`).
pub(super) fn cell(type_: &str, value: &Value, now: Timestamp) -> Value {
    match (type_, value) {
        ("string", Value::Null) => "<no value>".into(),
        ("string", value) => go_text(value).into(),
        (_, Value::Null) => Value::Null,
        ("integer", Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => integer.into(),
            #[expect(clippy::cast_possible_truncation, reason = "Go's conversion cuts the fraction off, too")]
            (None, float) => float.map_or(Value::Null, |float| (float as i64).into()),
        },
        ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) => value.clone(),
        ("date", Value::String(text)) => match text.parse::<Timestamp>() {
            Ok(_) => since(text, now).into(),
            Err(_) => "<invalid>".into(),
        },
        _ => Value::Null,
    }
}

/// A value as Go prints it: a list or an object as JSON, all else as `fmt.Print` does.
pub(super) fn go_text(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.as_i64().map_or_else(
            || number.as_f64().map_or_else(|| number.to_string(), print_float),
            |integer| integer.to_string(),
        ),
        Value::String(text) => text.to_string(),
        Value::Array(_) | Value::Object(_) | Value::Raw(_) => value.to_string(),
    }
}
