//! Findings of validation: `field.Error` of `k8s.io/apimachinery/pkg/util/validation/field`.

use super::Path;
use super::cause::Cause;
use crate::schema::{encode_any, print_float, quote};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use tree::Value;

/// The most bytes of a value or a detail that are hashed.
const HASHED_BYTES: usize = 1024;

/// One finding of validation: `field.Error` of apimachinery.
#[derive(Debug, Clone)]
pub struct FieldError {
    path: String,
    kind: FieldErrorKind,
    /// The offending value as Go prints it, for the kinds that show one.
    value: Option<Arc<str>>,
    detail: Arc<str>,
    /// Whether a server that allows privileged containers drops it.
    privileged: bool,
    /// The rule that was broken, as declarative validation names it: `maxItems`. No message shows it.
    origin: &'static str,
    /// Whether declarative validation looks for the same (`MarkCoveredByDeclarative`).
    covered: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum FieldErrorKind {
    Required,
    Invalid,
    Unsupported,
    Forbidden,
    Duplicate,
    NotFound,
    TooLong,
    TooMany,
    TypeInvalid,
    Internal,
}

impl FieldErrorKind {
    fn text(self) -> &'static str {
        match self {
            Self::Required => "Required value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::Unsupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::Duplicate => "Duplicate value",
            Self::NotFound => "Not found",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::Internal => "Internal error",
        }
    }

    fn reason(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid => "FieldValueInvalid",
            Self::Unsupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::Duplicate => "FieldValueDuplicate",
            Self::NotFound => "FieldValueNotFound",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::Internal => "InternalError",
        }
    }
}

impl FieldError {
    fn new(path: impl Into<String>, kind: FieldErrorKind, value: Option<&Value>, detail: impl Into<Arc<str>>) -> Self {
        FieldError {
            path: path.into(),
            kind,
            value: value.map(|value| print_value(value).into()),
            detail: detail.into(),
            privileged: false,
            origin: "",
            covered: false,
        }
    }

    /// The field must be set.
    pub fn required(path: impl Into<String>, detail: impl Into<Arc<str>>) -> Self {
        Self::new(path, FieldErrorKind::Required, None, detail)
    }

    /// The value breaks a rule.
    pub fn invalid(path: impl Into<String>, value: &Value, detail: impl Into<Arc<str>>) -> Self {
        Self::new(path, FieldErrorKind::Invalid, Some(value), detail)
    }

    /// The value breaks a rule; `printed` is the value as the message shows it: a struct, in Go's key order.
    pub fn invalid_printed(path: impl Into<String>, printed: impl Into<Arc<str>>, detail: impl Into<Arc<str>>) -> Self {
        FieldError { value: Some(printed.into()), ..Self::new(path, FieldErrorKind::Invalid, None, detail) }
    }

    /// The value is not one of the supported ones.
    pub fn unsupported(path: impl Into<String>, value: &Value, supported: &[&str]) -> Self {
        Self::unsupported_of(path, value, Self::supported(supported))
    }

    /// The same, with the detail that [`supported`](Self::supported) makes once for many findings.
    pub fn unsupported_of(path: impl Into<String>, value: &Value, detail: impl Into<Arc<str>>) -> Self {
        Self::new(path, FieldErrorKind::Unsupported, Some(value), detail)
    }

    /// The detail of findings about values that are not supported.
    pub fn supported<T: AsRef<str>>(supported: &[T]) -> String {
        let list: Vec<String> = supported.iter().map(|text| quote(text.as_ref())).collect();
        format!("supported values: {}", list.join(", "))
    }

    /// The field must not be set, or not to this value.
    pub fn forbidden(path: impl Into<String>, detail: impl Into<Arc<str>>) -> Self {
        Self::new(path, FieldErrorKind::Forbidden, None, detail)
    }

    /// A container is privileged; the finding counts only where the server does not allow that (`--allow-privileged=false`).
    pub fn privileged(path: impl Into<String>) -> Self {
        FieldError { privileged: true, ..Self::forbidden(path, "disallowed by cluster policy") }
    }

    /// Whether the finding is only that a container is privileged.
    pub fn is_about_privileged(&self) -> bool {
        self.privileged
    }

    /// The value occurs twice.
    pub fn duplicate(path: impl Into<String>, value: &Value) -> Self {
        Self::new(path, FieldErrorKind::Duplicate, Some(value), "")
    }

    /// The value refers to something that does not exist.
    pub fn not_found(path: impl Into<String>, value: &Value) -> Self {
        Self::new(path, FieldErrorKind::NotFound, Some(value), "")
    }

    /// More than `max` bytes.
    pub fn too_long(path: impl Into<String>, max: usize) -> Self {
        let bytes = if max == 1 { "byte" } else { "bytes" };
        Self::new(path, FieldErrorKind::TooLong, None, format!("may not be more than {max} {bytes}"))
    }

    /// More than `max` characters.
    pub fn too_long_characters(path: impl Into<String>, max: usize) -> Self {
        let characters = if max == 1 { "character" } else { "characters" };
        Self::new(path, FieldErrorKind::TooLong, None, format!("may not be more than {max} {characters}"))
    }

    /// More than `max` items.
    pub fn too_many(path: impl Into<String>, actual: usize, max: usize) -> Self {
        let items = if max == 1 { "item" } else { "items" };
        Self::new(path, FieldErrorKind::TooMany, Some(&actual.into()), format!("must have at most {max} {items}"))
    }

    /// The value is not of the type that a schema demands.
    pub fn type_invalid(path: impl Into<String>, value: &Value, detail: impl Into<Arc<str>>) -> Self {
        Self::new(path, FieldErrorKind::TypeInvalid, Some(value), detail)
    }

    /// A rule cannot be applied to the value.
    pub fn internal(path: impl Into<String>, detail: impl Into<Arc<str>>) -> Self {
        Self::new(path, FieldErrorKind::Internal, None, detail)
    }

    /// Whether the value is too far from its schema for the rules in CEL to be applied to it (`hasBlockingErr`).
    pub fn blocks_rules(&self) -> bool {
        use FieldErrorKind::{Required, TooLong, TooMany, TypeInvalid, Unsupported};
        matches!(self.kind, Unsupported | Required | TooLong | TooMany | TypeInvalid)
    }

    /// The same finding about an object that is at `path` in another.
    #[must_use]
    pub fn within(mut self, path: Path<'_>) -> Self {
        self.path = path.child(&self.path).to_string();
        self
    }

    /// The same finding about the field of another version, if `path` tells what its path is there.
    #[must_use]
    pub fn at(self, path: impl FnOnce(&str) -> Option<String>) -> Option<Self> {
        let path = path(&self.path)?;
        Some(FieldError { path, ..self })
    }

    /// The same finding, its value shown as given: a struct, in Go's key order.
    #[must_use]
    pub fn printed_as(self, value: impl Into<Arc<str>>) -> Self {
        FieldError { value: Some(value.into()), ..self }
    }

    /// The same finding, its value not shown (`OmitValueType`).
    #[must_use]
    pub fn without_value(self) -> Self {
        FieldError { value: None, ..self }
    }

    /// The same finding with a detail.
    #[must_use]
    pub fn with_detail(self, detail: impl Into<Arc<str>>) -> Self {
        FieldError { detail: detail.into(), ..self }
    }

    /// The same finding, with the rule that was broken (`WithOrigin`).
    #[must_use]
    pub fn with_origin(self, origin: &'static str) -> Self {
        FieldError { origin, ..self }
    }

    /// The same finding, for which declarative validation looks, too: where that has it, this one is left out
    /// (`MarkCoveredByDeclarative`).
    #[must_use]
    pub fn covered(self) -> Self {
        FieldError { covered: true, ..self }
    }

    /// Whether this finding is left out in favour of one of declarative validation (`FilterCoveredHandwrittenErrors`).
    pub fn is_superseded_by(&self, declared: &FieldError) -> bool {
        self.covered
            && (self.kind, self.origin, &self.path) == (declared.kind, declared.origin, &declared.path)
            && (self.kind != FieldErrorKind::Invalid || !self.origin.is_empty())
    }

    /// About how many bytes the finding takes up in a message.
    pub fn bytes(&self) -> usize {
        self.path.len() + self.value.as_ref().map_or(0, |value| value.len()) + self.detail.len() + 32
    }

    /// The finding without its path.
    fn text(&self) -> String {
        let mut text = self.kind.text().to_string();
        if let Some(value) = &self.value {
            text.push_str(": ");
            text.push_str(value);
        }
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }

    /// The finding as a cause in a `Status`.
    pub fn cause(&self) -> Cause {
        Cause { reason: self.kind.reason().into(), message: self.text(), field: self.path.clone() }
    }
}

/// Findings are equal if their messages are.
impl PartialEq for FieldError {
    fn eq(&self, other: &Self) -> bool {
        let message = |error: &Self| (error.kind, error.privileged);
        message(self) == message(other)
            && (&self.path, &self.value, &self.detail) == (&other.path, &other.value, &other.detail)
    }
}

impl Eq for FieldError {}

/// Hashes only the beginnings of a long value and a long detail, which several findings may show.
impl Hash for FieldError {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let FieldError { path, kind, value, detail, privileged, .. } = self;
        let beginning = |text: &Arc<str>| {
            (text.len(), &text.as_bytes()[..text.len().min(HASHED_BYTES)]).hash(state);
        };
        [value.as_ref(), Some(detail)].into_iter().flatten().for_each(beginning);
        (path, kind, privileged).hash(state);
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.text())
    }
}

/// A value in a message: a text quoted as in Go, a number as Go prints it, all else as JSON.
fn print_value(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        Value::Number(number) if number.is_f64() => number.as_f64().map(print_float).unwrap_or_default(),
        other => encode_any(other),
    }
}
