//! The errors that clients can receive, as the API's `Status`. The only module of this crate that knows status codes.
//!
//! Constructors are named after the reasons of `metav1.StatusReason`; their messages are the real server's,
//! since clients match on them. Validation findings are [`FieldError`]s, gathered and sent as one `Invalid`.

mod aggregate;
mod apply;
mod cause;
mod errors;
mod field;
mod path;
mod refusal;
mod storage;

pub use aggregate::aggregate;
pub use cause::Cause;
pub use errors::Errors;
pub use field::FieldError;
pub use path::Path;

use crate::schema::quote;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt;

/// The outcome of an API operation.
pub type ApiResult<T> = Result<T, ApiError>;

/// An error, ready to be sent. Boxed, because it is part of many `Result`s.
#[derive(Debug, Clone)]
pub struct ApiError(Box<Status>);

/// `metav1.Status`, in the key order of the wire.
#[derive(Debug, Clone, Serialize)]
pub struct Status {
    kind: &'static str,
    #[serde(rename = "apiVersion")]
    api_version: &'static str,
    metadata: StatusMetadata,
    status: &'static str,
    /// The message for people.
    pub message: String,
    /// The reason, which clients match on; empty where the real server's error has no type.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub reason: Cow<'static, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// The details: the object, and the causes.
    pub details: Option<Details>,
    /// Equal to the HTTP status.
    pub code: u16,
}

#[derive(Debug, Clone, Default, Serialize)]
struct StatusMetadata {
    #[serde(rename = "selfLink", skip_serializing_if = "Option::is_none")]
    self_link: Option<String>,
    #[serde(rename = "resourceVersion", skip_serializing_if = "Option::is_none")]
    resource_version: Option<String>,
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    continue_token: Option<String>,
    #[serde(rename = "remainingItemCount", skip_serializing_if = "Option::is_none")]
    remaining_item_count: Option<i64>,
    #[serde(rename = "shardInfo", skip_serializing_if = "Option::is_none")]
    shard_info: Option<tree::Value>,
}

/// `metav1.StatusDetails`.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Details {
    /// The object's name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The API group, empty for core.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The resource, or the Kind for `Invalid`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The object's uid.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The causes, one per finding.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// Seconds after which a retry makes sense; also sent as `Retry-After`.
    #[serde(rename = "retryAfterSeconds", skip_serializing_if = "is_zero")]
    pub retry_after_seconds: u32,
}

fn is_zero(seconds: &u32) -> bool {
    *seconds == 0
}

/// A resource as error messages name it: `configmaps`, `leases.coordination.k8s.io`.
#[derive(Debug, Clone, Copy)]
pub struct Qualified<'a> {
    /// Group, empty for core.
    pub group: &'a str,
    /// Plural resource (with its subresource, where the message shows one), or a Kind.
    pub resource: &'a str,
}

impl fmt::Display for Qualified<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.resource)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        Ok(())
    }
}

/// The most bytes of findings in a message. Some findings show their whole list, once for each of its items.
pub(crate) const MAX_SHOWN_BYTES: usize = 10 << 20;

/// Text of the conflict that every optimistic client retries.
const MODIFIED: &str = "the object has been modified; please apply your changes to the latest version and try again";

impl ApiError {
    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        ApiError(Box::new(Status {
            kind: "Status",
            api_version: "v1",
            metadata: StatusMetadata::default(),
            status: "Failure",
            message: message.into(),
            reason: Cow::Borrowed(reason),
            details: None,
            code,
        }))
    }

    fn about(mut self, what: Qualified<'_>, name: &str) -> Self {
        self.0.details = Some(Details {
            name: name.into(),
            group: what.group.into(),
            kind: what.resource.into(),
            ..Details::default()
        });
        self
    }

    /// 404: the object does not exist.
    pub fn not_found(what: Qualified<'_>, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{what} {} not found", quote(name))).about(what, name)
    }

    /// 404: the path is known, the subresource is not.
    pub fn no_such_path() -> Self {
        let mut error = Self::new(404, "NotFound", "the server could not find the requested resource");
        error.0.details = Some(Details::default());
        error
    }

    /// 400: the path of an object has no namespace (`NamespaceKeyFunc`).
    pub fn namespace_required() -> Self {
        Self::bad_request("Namespace parameter required.")
    }

    /// 405: the path does not support the method.
    pub fn method_not_routed() -> Self {
        let mut error =
            Self::new(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
        error.0.details = Some(Details::default());
        error
    }

    /// 405: the resource does not know the verb (`NewMethodNotSupported`).
    pub fn method_not_supported(what: Qualified<'_>, verb: &str) -> Self {
        let message = format!("{verb} is not supported on resources of kind {}", quote(&what.to_string()));
        Self::new(405, "MethodNotAllowed", message).about(what, "")
    }

    /// 409: the name is taken.
    pub fn already_exists(what: Qualified<'_>, name: &str) -> Self {
        Self::new(409, "AlreadyExists", format!("{what} {} already exists", quote(name))).about(what, name)
    }

    /// 409: a precondition does not hold.
    pub fn conflict(what: Qualified<'_>, name: &str, why: impl fmt::Display) -> Self {
        let message = format!("Operation cannot be fulfilled on {what} {}: {why}", quote(name));
        Self::new(409, "Conflict", message).about(what, name)
    }

    /// 409: the sent resourceVersion is not the current one.
    pub fn modified(what: Qualified<'_>, name: &str) -> Self {
        Self::conflict(what, name, MODIFIED)
    }

    /// 422: the object does not validate. `what` holds the Kind here, not the resource. Of very many findings, only the
    /// first are shown, with the number of those among the others that were looked for.
    pub fn invalid(what: Qualified<'_>, name: &str, errors: &[FieldError]) -> Self {
        let mut room = MAX_SHOWN_BYTES;
        let fits = |error: &&FieldError| {
            room = room.saturating_sub(error.bytes());
            room > 0
        };
        let shown: Vec<&FieldError> = errors.iter().take_while(fits).collect();
        let rest = errors.len() - shown.len();
        let more = (rest > 0).then(|| format!("at least {rest} more findings, too many to be shown"));
        let why = aggregate(shown.iter().map(|error| error.to_string()).chain(more));
        let mut error =
            Self::new(422, "Invalid", format!("{what} {} is invalid: {why}", quote(name))).about(what, name);
        error.0.details_mut().causes = shown.into_iter().map(FieldError::cause).collect();
        error
    }

    /// 422: query options do not validate; `kind` is e.g. `ListOptions`.
    pub fn invalid_options(kind: &str, errors: &[FieldError]) -> Self {
        Self::invalid(Qualified { group: "meta.k8s.io", resource: kind }, "", errors)
    }

    /// 422 without findings: a patch that cannot be applied.
    pub fn unprocessable() -> Self {
        let mut error = Self::new(422, "Invalid", "the server rejected our request due to an error in our request");
        error.0.details = Some(Details::default());
        error
    }

    /// 403: the request is not allowed, for the reason `why`.
    pub fn forbidden(what: Qualified<'_>, name: &str, why: impl fmt::Display) -> Self {
        let message = match name {
            "" => format!("{what} is forbidden: {why}"),
            _ => format!("{what} {} is forbidden: {why}", quote(name)),
        };
        Self::new(403, "Forbidden", message).about(what, name)
    }

    /// 401, without the reason, which clients must not learn.
    pub fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    /// 400: the request is malformed.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 406: nothing that the client accepts can be produced.
    pub fn not_acceptable(message: impl Into<String>) -> Self {
        Self::new(406, "NotAcceptable", message)
    }

    /// 410: a list or watch asks for compacted history.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// 413: the body is too large.
    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(413, "RequestEntityTooLarge", message)
    }

    /// 414: the target is longer than `limit` bytes.
    pub fn target_too_long(limit: usize) -> Self {
        Self::new(414, "RequestURITooLong", format!("the target of the request is too long: limit is {limit} bytes"))
    }

    /// 415: the body's content type is not supported.
    pub fn unsupported_media_type(message: impl Into<String>) -> Self {
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// 429: the request may be made again later.
    pub fn too_many_requests(message: impl Into<String>) -> Self {
        Self::new(429, "TooManyRequests", message)
    }

    /// 503: what is needed cannot be had now.
    pub fn service_unavailable(message: impl Into<String>) -> Self {
        Self::new(503, "ServiceUnavailable", message)
    }

    /// 500 with a reason.
    pub fn internal(why: impl fmt::Display) -> Self {
        let mut error = Self::new(500, "InternalError", format!("Internal error occurred: {why}"));
        error.0.details = Some(Details {
            causes: vec![Cause { message: why.to_string(), ..Cause::default() }],
            ..Details::default()
        });
        error
    }

    /// 500 without a reason, as the real server's where an error has no type.
    pub fn untyped(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    /// 501: a known gap of this server, which `what` names.
    pub fn not_implemented(what: impl fmt::Display) -> Self {
        Self::new(501, "NotImplemented", format!("fake-apiserver does not support {what}"))
    }

    /// 500: the operation may succeed if it is tried again.
    pub fn server_timeout(what: Qualified<'_>, operation: &str, retry_after_seconds: u32) -> Self {
        let message =
            format!("The {operation} operation against {what} could not be completed at this time, please try again.");
        Self::new(500, "ServerTimeout", message).about(what, operation).with_retry_after(retry_after_seconds)
    }

    /// 504: the request took too long.
    pub fn timeout(why: impl fmt::Display, retry_after_seconds: u32) -> Self {
        let mut error = Self::new(504, "Timeout", format!("Timeout: {why}"));
        error.0.details = Some(Details { retry_after_seconds, ..Details::default() });
        error
    }

    /// 504: the handler's own time is up.
    pub fn deadline_exceeded() -> Self {
        Self::timeout("request did not complete within requested timeout - context deadline exceeded", 0)
    }

    /// Any status, injected by a fault rule.
    pub fn injected(code: u16, retry_after_seconds: u32) -> Self {
        let reason = match code {
            400 => "BadRequest",
            401 => "Unauthorized",
            403 => "Forbidden",
            404 => "NotFound",
            409 => "Conflict",
            410 => "Expired",
            422 => "Invalid",
            429 => "TooManyRequests",
            500 => "InternalError",
            503 => "ServiceUnavailable",
            504 => "Timeout",
            _ => "",
        };
        let mut error = Self::new(code, reason, "injected by a fault rule");
        error.0.details = Some(Details { retry_after_seconds, ..Details::default() });
        error
    }

    /// The same error as the router's: with empty details.
    #[must_use]
    pub fn by_router(mut self) -> Self {
        self.0.details = Some(Details::default());
        self
    }

    /// The same refusal with one more cause.
    #[must_use]
    pub fn with_cause(mut self, reason: &str, message: impl Into<String>, field: &str) -> Self {
        self.0.details_mut().causes.push(Cause { reason: reason.into(), message: message.into(), field: field.into() });
        self
    }

    /// The same refusal with a hint to retry.
    #[must_use]
    pub fn with_retry_after(mut self, seconds: u32) -> Self {
        self.0.details_mut().retry_after_seconds = seconds;
        self
    }

    /// The same refusal with another status and reason.
    #[must_use]
    pub fn with_reason(mut self, code: u16, reason: impl Into<Cow<'static, str>>) -> Self {
        (self.0.code, self.0.reason) = (code, reason.into());
        self
    }

    /// The same refusal with its message rewritten.
    #[must_use]
    pub fn with_message(mut self, rewrite: impl FnOnce(&str) -> String) -> Self {
        self.0.message = rewrite(&self.0.message);
        self
    }

    /// The same refusal with a continue token in its metadata.
    #[must_use]
    pub fn with_continue(mut self, token: String) -> Self {
        self.0.metadata.continue_token = Some(token);
        self
    }

    /// The status to send.
    pub fn status(&self) -> &Status {
        &self.0
    }

    /// The HTTP status.
    pub fn code(&self) -> u16 {
        self.0.code
    }

    /// The reason, or "".
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// Seconds for the `Retry-After` header, if any.
    pub fn retry_after_seconds(&self) -> Option<u32> {
        self.0.details.as_ref().map(|details| details.retry_after_seconds).filter(|seconds| *seconds > 0)
    }
}

impl Status {
    fn details_mut(&mut self) -> &mut Details {
        self.details.get_or_insert_default()
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for ApiError {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tree::Value;

    /// Each shows all of them.
    #[test]
    fn findings_are_told_within_bounds() {
        let shown: Arc<str> = "x".repeat(1 << 20).into();
        let finding =
            |at: usize| FieldError::invalid(format!("list[{at}]"), &Value::Null, "bad").printed_as(shown.clone());
        let findings: Vec<FieldError> = (0..10_000).map(finding).collect();
        let error = ApiError::invalid(Qualified { group: "", resource: "Thing" }, "a", &findings);
        let causes = error.status().details.as_ref().map_or(0, |details| details.causes.len());
        assert!((5..MAX_SHOWN_BYTES >> 20).contains(&causes), "{causes}");
        assert!(error.to_string().len() < MAX_SHOWN_BYTES + 1000);
        assert!(
            error
                .to_string()
                .ends_with(&format!(", at least {} more findings, too many to be shown]", 10_000 - causes))
        );
        let error = ApiError::invalid(Qualified { group: "", resource: "Thing" }, "a", &findings[..3]);
        assert!(error.to_string().ends_with("bad]"));
    }
}
