//! Reviews: objects that ask about a user when they are created. The answer is their status, and nothing is stored.
//!
//! Every function takes the decoded body and returns the whole response, to be sent with 201.

pub mod access;
pub mod own;
mod selectors;
pub mod token;

use crate::error::{ApiError, ApiResult};
use tree::{Map, Value};

const AUTHENTICATION: &str = "authentication.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";

/// The error of a body that names another namespace than the URL.
pub(super) const NAMESPACE_MISMATCH: &str =
    "the namespace of the provided object does not match the namespace sent on the request";

/// `body` with its apiVersion and kind.
fn typed(mut body: Value, group: &str, kind: &str) -> Value {
    let object = object(&mut body);
    object.insert("apiVersion".into(), format!("{group}/v1").into());
    object.insert("kind".into(), kind.into());
    body
}

/// `value` as an object, made if it is null; other types were refused when the body was decoded.
pub(super) fn object(value: &mut Value) -> &mut Map {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().expect("it was made one")
}

/// A field of an object, made if it is missing.
pub(super) fn field<'a>(value: &'a mut Value, name: &str) -> &'a mut Value {
    object(value).entry(name).or_insert(Value::Null)
}

/// A string field; empty if it is missing.
pub(super) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// Sets the namespace of the body to that of the URL.
///
/// # Errors
/// 400 if the body has another one.
fn adopt_namespace(body: &mut Value, namespace: &str) -> ApiResult<()> {
    let metadata = object(field(body, "metadata"));
    match metadata.get("namespace").and_then(Value::as_str).unwrap_or_default() {
        "" => {
            metadata.insert("namespace".into(), namespace.into());
            Ok(())
        }
        same if same == namespace => Ok(()),
        _ => Err(ApiError::bad_request(NAMESPACE_MISMATCH)),
    }
}
