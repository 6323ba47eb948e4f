//! The response of a webhook, and its errors (`transformResponse` and `NewGenericServerResponse`).

use super::refusal::Refusal;
use bytes::Bytes;
use tree::Value;

/// The maximum length of a response's text in an error, in bytes (`maxUnstructuredResponseTextBytes`).
const LONGEST_TEXT: usize = 2048;

/// An answer, read whole.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// The words for that status, or "".
    pub(super) status_text: &'static str,
    /// "" if there is none.
    pub(super) content_type: String,
    /// The header `Cache-Control`, or "".
    pub(super) cache_control: String,
    /// The header `Retry-After`, or "".
    pub(super) retry_after: String,
    /// The header `Location`, or "".
    pub(super) location: String,
    /// The body, decompressed, or why it could not be read.
    pub(super) body: Result<Bytes, String>,
}

impl Answer {
    /// The number of seconds after which the call is to be repeated, if it is.
    pub(super) fn retry_after(&self) -> Option<u64> {
        let again = self.status == 429 || self.status >= 500;
        again.then(|| self.retry_after.parse().ok()).flatten()
    }

    /// Whether it leads to another URL, and if so, whether with the same document (`redirectBehavior` of `net/http`, Go 1.26).
    pub(super) fn redirects(&self) -> Option<bool> {
        let keeps_document = match self.status {
            301..=303 => Some(false),
            307 | 308 => Some(true),
            _ => None,
        };
        keeps_document.filter(|_| !self.location.is_empty())
    }

    /// The document.
    ///
    /// # Errors
    /// If the body could not be read or is empty, or the status is not 200 to 206.
    pub(super) fn document(mut self) -> Result<Bytes, Refusal> {
        let body = self.accepted()?;
        if body.is_empty() {
            let content_type = if self.content_type.is_empty() { "application/json" } else { &self.content_type };
            let why = format!("0-length response with status code: {} and content type: {content_type}", self.status);
            return Err(why.into());
        }
        Ok(body)
    }

    /// The body, which may be empty.
    ///
    /// # Errors
    /// If it could not be read, or the status is not 200 to 206.
    pub(super) fn accepted(&mut self) -> Result<Bytes, Refusal> {
        let body = std::mem::replace(&mut self.body, Ok(Bytes::new()))?;
        if !(200..=206).contains(&self.status) {
            let suggests_delay = self.retry_after.parse().is_ok_and(|seconds: u64| seconds > 0);
            let generic = || Refusal {
                message: generic(self.status, &self.content_type, &body),
                code: Some(self.status),
                reason: String::new(),
                suggests_delay,
            };
            return Err(own_words(&body).unwrap_or_else(generic));
        }
        Ok(body)
    }
}

/// The error that a `Status` of failure is.
fn own_words(body: &[u8]) -> Option<Refusal> {
    let status: Value = serde_json::from_slice(body).ok()?;
    let is = |field: &str, value: &str| status[field] == value;
    let known = is("kind", "Status") && (is("apiVersion", "v1") || status["apiVersion"].is_null());
    let code = status["code"].as_u64().and_then(|code| u16::try_from(code).ok()).unwrap_or_default();
    let message = || status["message"].as_str().unwrap_or_default().to_owned();
    let suggests_delay = status["details"]["retryAfterSeconds"].as_i64().is_some_and(|seconds| seconds > 0)
        || is("reason", "ServerTimeout") && !status["details"].is_null();
    let reason = || status["reason"].as_str().unwrap_or_default().to_owned();
    (known && is("status", "Failure")).then(|| Refusal {
        message: message(),
        code: Some(code),
        reason: reason(),
        suggests_delay,
    })
}

/// The generic error for the status.
fn generic(status: u16, content_type: &str, body: &[u8]) -> String {
    let text = &body[..body.len().min(LONGEST_TEXT)];
    let is_text = content_type.is_empty() || content_type.starts_with("text/");
    let text = if is_text { String::from_utf8_lossy(text).trim().to_owned() } else { "unknown".into() };
    let message = match status {
        400 => "the server rejected our request for an unknown reason",
        401 => "the server has asked for the client to provide credentials",
        403 | 415 => return text,
        404 => "the server could not find the requested resource",
        405 => "the server does not allow this method on the requested resource",
        406 if text.is_empty() || text == "unknown" => {
            "the server was unable to respond with a content type that the client supports"
        }
        406 => return text,
        409 => "the server reported a conflict",
        422 => "the server rejected our request due to an error in our request",
        429 => "the server has received too many requests and has asked us to try again later",
        503 => "the server is currently unable to handle the request",
        504 => {
            "the server was unable to return a response in the time allotted, but may still be processing the request"
        }
        500.. => return format!("an error on the server ({text:?}) has prevented the request from succeeding"),
        status => {
            return format!("the server responded with the status code {status} but did not return more information");
        }
    };
    message.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_and_some_calls_repeated() {
        let table = [
            (200, "", "", "0-length response with status code: 200 and content type: application/json"),
            (302, "", "x", "the server responded with the status code 302 but did not return more information"),
            (401, "", "x", "the server has asked for the client to provide credentials"),
            (403, "text/plain", " no \n", "no"),
            (403, "application/json", "no", "unknown"),
            (406, "text/plain", "only XML", "only XML"),
            (409, "", "", "the server reported a conflict"),
            (
                500,
                "text/html; charset=utf-8",
                "\"x\"",
                r#"an error on the server ("\"x\"") has prevented the request from succeeding"#,
            ),
            (500, "", r#"{"kind":"Status","apiVersion":"v1","status":"Failure","message":"own"}"#, "own"),
            (
                503,
                "",
                r#"{"kind":"Status","apiVersion":"v1","status":"Success"}"#,
                "the server is currently unable to handle the request",
            ),
        ];
        let answer = |status, content_type: &str, retry_after: &str, body: &'static str| Answer {
            status,
            status_text: "",
            content_type: content_type.into(),
            cache_control: String::new(),
            retry_after: retry_after.into(),
            location: String::new(),
            body: Ok(Bytes::from_static(body.as_bytes())),
        };
        for (status, content_type, body, error) in table {
            let refusal = answer(status, content_type, "", body).document().unwrap_err();
            assert_eq!(refusal.message, error, "{status} {body}");
        }
        assert_eq!(answer(206, "text/plain", "", "x").document(), Ok("x".into()));
        let status = |fields| format!(r#"{{"kind":"Status","apiVersion":"v1","status":"Failure",{fields}}}"#);
        for (code, header, body, is_transient) in [
            (500, "", String::new(), true),
            (503, "", String::new(), false),
            (400, "1", String::new(), true),
            (400, "0", String::new(), false),
            (418, "", status(r#""reason":"Timeout""#), true),
            (500, "", status(r#""reason":"Conflict","code":500"#), false),
            (500, "", status(r#""code":429"#), true),
            (500, "", status(r#""reason":"ServerTimeout","details":{}"#), true),
            (500, "", status(r#""reason":"Conflict","details":{"retryAfterSeconds":1}"#), true),
        ] {
            let answer = Answer { body: Ok(body.clone().into()), ..answer(code, "", header, "") };
            assert_eq!(answer.document().unwrap_err().is_transient(), is_transient, "{code} {header} {body}");
        }
        for (status, header, seconds) in
            [(429, "1", Some(1)), (503, "0", Some(0)), (500, "soon", None), (400, "1", None)]
        {
            assert_eq!(answer(status, "", header, "").retry_after(), seconds, "{status} {header}");
        }
    }
}
