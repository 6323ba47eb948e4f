//! `TokenReview`: the user of a token.
//!
//! Ports `pkg/registry/authentication/tokenreview/storage.go` (v1.37.1).

use super::{AUTHENTICATION, field, object, text, typed};
use crate::auth::{Authenticator, Objects, Others};
use crate::error::{ApiError, ApiResult};
use crate::registry::strings;
use crate::threads;
use jiff::Timestamp;
use tree::{Value, json};

/// Answers a `TokenReview`. A bad token is an answer, not an error; warnings about it are dropped.
///
/// # Errors
/// 400 if there is no token.
pub(crate) fn review(
    authenticator: &Authenticator,
    others: &Others,
    body: Value,
    now: Timestamp,
    objects: &dyn Objects,
) -> ApiResult<Value> {
    let mut body = typed(body, AUTHENTICATION, "TokenReview");
    let spec = &body["spec"];
    let token = text(spec, "token");
    if token.is_empty() {
        return Err(ApiError::bad_request("token is required for TokenReview in authentication"));
    }
    let asked = strings(&spec["audiences"]);
    let audiences = if asked.is_empty() { authenticator.api_audiences() } else { &asked };
    let outcome = authenticator.token(token, audiences, now, objects);
    let outcome =
        outcome.or_else(|refusal| threads::wait(others.ask(refusal, authenticator.api_audiences(), audiences, now)));
    // The client's status stays in fields that the answer does not set, as in the real server.
    let status = object(field(&mut body, "status"));
    status.remove("authenticated");
    status.entry("user").or_insert_with(|| json!({}));
    match outcome {
        Ok(authentication) => {
            status.insert("authenticated".into(), true.into());
            status.insert("user".into(), authentication.user.info().into());
            status.insert("audiences".into(), json!(authentication.audiences));
        }
        Err(refusal) if refusal.reason.is_empty() => {}
        Err(refusal) => {
            status.insert("error".into(), refusal.reason.into());
        }
    }
    Ok(body)
}
