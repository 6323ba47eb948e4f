//! Cross-origin requests: those of web pages of other origins, which a browser lets read a response only if that allows the origin.
//!
//! Follows `filters/cors.go` and `options/server_run_options.go` of k8s.io/apiserver/pkg/server (v0.37.1). A preflight is answered before its
//! client is authenticated.

use crate::deadline::Deadline;
use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, HeaderName, HeaderValue, ORIGIN,
};
use http::{HeaderMap, Response, StatusCode};
use kubernetes_cel::go_regex::{self, Expression};
use std::sync::Arc;

/// The headers of each response to an allowed origin, besides that with the origin.
const HEADERS: [(HeaderName, HeaderValue); 4] = [
    (ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST, GET, OPTIONS, PUT, DELETE, PATCH")),
    (
        ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static(
            "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since",
        ),
    ),
    (ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("Date")),
    (ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true")),
];
/// The end of the messages about expressions.
const HELP: &str = "List of allowed origins for CORS, comma separated. An allowed origin can be a regular expression to support subdomain \
    matching. If this list is empty CORS will not be enabled. Please ensure each expression matches the entire hostname by anchoring to the start \
    with '^' or including the '//' prefix, and by anchoring to the end with '$' or including the ':' port separator suffix. Examples of valid \
    expressions are '//example\\.com(:|$)' and '^https://example\\.com(:|$)'";

/// The expressions of allowed origins.
#[derive(Debug, Clone)]
pub(crate) struct Origins(Arc<[Arc<Expression>]>);

impl Origins {
    /// The origins that some expression of these matches; `None` without any.
    ///
    /// # Errors
    /// kube-apiserver's message, if an expression is none, or matches parts of host names.
    pub(crate) fn of(expressions: &[String]) -> Result<Option<Self>, String> {
        let (mut compiled, mut wrong): (Vec<Arc<Expression>>, Vec<String>) = (Vec::new(), Vec::new());
        for expression in expressions {
            match checked(expression) {
                Ok(expression) => compiled.push(expression),
                Err(why) => wrong.push(format!("{why}, help: {HELP}")),
            }
        }
        match &*wrong {
            [] => Ok((!compiled.is_empty()).then(|| Origins(compiled.into()))),
            [why] => Err(why.clone()),
            all => Err(format!("[{}]", all.join(", "))),
        }
    }

    /// Whether an origin is allowed; it is not once the deadline has passed.
    pub(super) fn allow(&self, origin: &HeaderValue, deadline: &Deadline) -> bool {
        let origin = String::from_utf8_lossy(origin.as_bytes());
        self.0.iter().any(|expression| expression.is_match_while(&origin, &|| deadline.check().is_ok()))
    }
}

/// An expression that is tied to the beginning and the end of a host name.
fn checked(expression: &str) -> Result<Arc<Expression>, String> {
    if expression.is_empty() {
        return Err("empty value in --cors-allowed-origins".to_owned());
    }
    let wrong = |why: &str| format!("--cors-allowed-origins has an invalid regular expression: {why}");
    let compiled = go_regex::compile(expression).map_err(|why| wrong(&why))?;
    let has = |parts: [&str; 2]| parts.iter().any(|part| expression.contains(part));
    match has(["^", "//"]) && has(["$", ":"]) {
        true => Ok(compiled),
        false => Err(wrong("regular expression does not pin to start/end of host in the origin header")),
    }
}

/// Adds the headers of a response to a request with those headers, among them an allowed origin.
pub(super) fn add(headers: &mut HeaderMap, of_request: &HeaderMap) {
    if let Some(origin) = of_request.get(ORIGIN) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    }
    headers.extend(HEADERS);
}

/// The response to a preflight.
pub(super) fn preflight() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_checked_as_upstream_does() {
        let of = |expressions: &[&str]| {
            let expressions: Vec<String> = expressions.iter().map(ToString::to_string).collect();
            Origins::of(&expressions).map(|origins| origins.is_some())
        };
        assert_eq!(of(&[]), Ok(false));
        assert_eq!(of(&["//example\\.com(:|$)", "^https://example\\.com(:|$)"]), Ok(true));
        for (expressions, expected) in [
            (&[""][..], "empty value in --cors-allowed-origins, help: List of"),
            (
                &["example.com"],
                "--cors-allowed-origins has an invalid regular expression: regular expression does not pin to start/end of host",
            ),
            (
                &["^a"],
                "--cors-allowed-origins has an invalid regular expression: regular expression does not pin to start/end of host",
            ),
            (
                &["^(a$"],
                "--cors-allowed-origins has an invalid regular expression: error parsing regexp: missing closing ): `^(a$`, help: ",
            ),
            (&["", "a"], "[empty value in"),
        ] {
            let why = of(expressions).expect_err("a refusal");
            assert!(why.starts_with(expected), "{why}");
        }
    }
}
