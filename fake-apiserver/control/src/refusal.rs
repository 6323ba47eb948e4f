//! Refusals: an order or a question that cannot be obeyed, as Kubernetes' clients know errors.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A refusal of an order or a question. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Refusal {
    kind: Box<str>,
    #[serde(rename = "apiVersion")]
    api_version: Box<str>,
    metadata: Metadata,
    status: Box<str>,
    /// The reason: `Invalid`, `NotFound`, ...
    pub reason: String,
    /// The HTTP status.
    pub code: u16,
    /// The message, which names what is wrong.
    pub message: String,
    /// The thing and the fields that are wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<Details>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Metadata {}

/// The thing and the fields that a refusal is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Details {
    /// The name of the thing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The kind of the thing, as in paths: `faults`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
}

/// A field that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Cause {
    /// `FieldValueInvalid` and the like.
    pub reason: String,
    /// The path of the field: `match.resources[0]`.
    pub field: String,
    /// The message.
    pub message: String,
}

impl Refusal {
    fn new(code: u16, reason: &str, message: impl fmt::Display) -> Self {
        Refusal {
            kind: "Status".into(),
            api_version: "v1".into(),
            metadata: Metadata {},
            status: "Failure".into(),
            reason: reason.into(),
            code,
            message: message.to_string(),
            details: None,
        }
    }

    /// 400: the words are none.
    pub fn bad_request(message: impl fmt::Display) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 400 about one field.
    pub fn bad_field(field: &str, message: impl fmt::Display) -> Self {
        let refusal = Self::bad_request(&message);
        refusal.about("", "", vec![cause("FieldValueInvalid", field, &message)])
    }

    /// 401: nobody is let in without the token.
    pub fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "the control port wants its own bearer token")
    }

    /// 403: a request that a web page may have made.
    pub fn forbidden(message: impl fmt::Display) -> Self {
        Self::new(403, "Forbidden", message)
    }

    /// 404: no such thing.
    pub fn not_found(kind: &str, name: &str, hint: &str) -> Self {
        Self::new(404, "NotFound", format_args!("{kind} {name:?} not found{hint}")).about(kind, name, Vec::new())
    }

    /// 404: no such path.
    pub fn no_such_path(path: &str, hint: &str) -> Self {
        Self::new(404, "NotFound", format_args!("the control port has no path {path:?}{hint}"))
    }

    /// 405: the path has other methods.
    pub fn no_such_method(method: &str, path: &str, methods: &str) -> Self {
        Self::new(405, "MethodNotAllowed", format_args!("{method} is not for {path:?}, which has {methods}"))
    }

    /// 409: the state does not allow it.
    pub fn conflict(kind: &str, name: &str, message: impl fmt::Display) -> Self {
        Self::new(409, "Conflict", message).about(kind, name, Vec::new())
    }

    /// 410: the history does not reach back that far.
    pub fn expired(kind: &str, since: u64, oldest: u64) -> Self {
        let message = format_args!("what followed revision {since} is forgotten: the history begins at {oldest}");
        Self::new(410, "Expired", message).about(kind, "", Vec::new())
    }

    /// 410: the record does not reach back that far.
    pub fn forgotten(kind: &str, cursor: u64, oldest: u64) -> Self {
        let message = format_args!("what came behind cursor {cursor} is forgotten: the record begins behind {oldest}");
        Self::new(410, "Expired", message).about(kind, "", Vec::new())
    }

    /// 413: too long.
    pub fn too_large(limit: usize) -> Self {
        Self::new(413, "RequestEntityTooLarge", format_args!("the body is longer than {limit} bytes"))
    }

    /// 422: a thing with wrong fields.
    pub fn invalid(kind: &str, name: &str, causes: Vec<Cause>) -> Self {
        let list: Vec<String> = causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
        let thing = if name.is_empty() { kind.to_owned() } else { format!("{kind} {name:?}") };
        let message = format!("{thing} is invalid: {}", list.join(", "));
        Self::new(422, "Invalid", message).about(kind, name, causes)
    }

    /// 500: the server could not do it.
    pub fn internal(message: impl fmt::Display) -> Self {
        Self::new(500, "InternalError", message)
    }

    fn about(mut self, kind: &str, name: &str, causes: Vec<Cause>) -> Self {
        self.details = Some(Box::new(Details { name: name.into(), kind: kind.into(), causes }));
        self
    }
}

/// The cause that a field has a wrong value.
pub(crate) fn cause(reason: &str, field: &str, message: impl fmt::Display) -> Cause {
    Cause { reason: reason.into(), field: field.into(), message: message.to_string() }
}

impl Cause {
    /// The cause that a field has a wrong value: `Invalid value: "secret": ...`.
    pub fn invalid(field: impl fmt::Display, value: impl fmt::Debug, why: impl fmt::Display) -> Cause {
        cause("FieldValueInvalid", &field.to_string(), format_args!("Invalid value: {value:?}: {why}"))
    }

    /// The cause that a field is missing.
    pub fn required(field: impl fmt::Display, why: impl fmt::Display) -> Cause {
        cause("FieldValueRequired", &field.to_string(), format_args!("Required value: {why}"))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}
