//! Responses decided by the head of a request alone, before its client is authenticated.
//!
//! Follows `readRequest`, `conn.serve` and `globalOptionsHandler` of Go 1.26 `net/http`; these requests do not reach kube-apiserver.
//!
//! GAP: HTTP/2: the reset of a stream with a malformed target

use super::body::ReplyBody;
use crate::object::url;
use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_TYPE, EXPECT, HOST, HeaderValue};
use http::request::Parts;
use http::uri::Uri;
use http::{HeaderMap, Method, Response, StatusCode, Version};
use hyper::ext::ReasonPhrase;
use std::borrow::Cow;

/// The characters other than letters and digits that a host may contain (`validHostByte`).
const HOST_PUNCTUATION: &[u8] = b"!$%&'()*+,-.:;=[]_~";

/// The response, if the head alone decides it.
pub(super) fn answer(head: &Parts) -> Option<Response<ReplyBody>> {
    if head.version < Version::HTTP_2 {
        if let Err(reason) = check(head) {
            return Some(bad_request(reason));
        }
        if is_beyond(&head.headers) {
            let mut answer = empty(StatusCode::EXPECTATION_FAILED);
            answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            return Some(answer);
        }
    }
    (head.method == Method::OPTIONS && head.uri.path() == "*").then(|| empty(StatusCode::OK))
}

/// Checks the target and the host. The error is Go's text, which is empty for some of them.
fn check(head: &Parts) -> Result<(), &'static str> {
    // A path without escapes, as most are, is valid if hyper has read it.
    let origin = head.uri.path_and_query().map_or("", |path| path.as_str());
    if !origin.starts_with('/') || origin.contains('%') || head.uri.authority().is_some() {
        let is_authority = head.method == Method::CONNECT;
        if !is_authority && url::parse_request_uri(&target(&head.uri)).is_err() {
            return Err("");
        }
    }
    let mut hosts = head.headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) if head.version == Version::HTTP_11 && head.method != Method::CONNECT => {
            Err("missing required Host header")
        }
        (Some(_), Some(_)) => Err(""),
        (Some(host), None) if !host.as_bytes().iter().all(is_of_host) => Err("malformed Host header"),
        _ => Ok(()),
    }
}

fn is_of_host(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || HOST_PUNCTUATION.contains(byte)
}

/// The target as it was sent.
fn target(uri: &Uri) -> Cow<'_, str> {
    match (uri.scheme(), uri.authority(), uri.path_and_query()) {
        (None, Some(authority), _) => authority.as_str().into(),
        (None, None, Some(path)) => path.as_str().into(),
        _ => uri.to_string().into(),
    }
}

/// Whether `Expect` has values, but not `100-continue` (`expectsContinue`).
fn is_beyond(headers: &HeaderMap) -> bool {
    let Some(expected) = headers.get(EXPECT) else { return false };
    let is_continue = |token: &[u8]| token.trim_ascii().eq_ignore_ascii_case(b"100-continue");
    !expected.is_empty() && !expected.as_bytes().split(|byte| matches!(byte, b',' | b' ' | b'\t')).any(is_continue)
}

fn bad_request(reason: &'static str) -> Response<ReplyBody> {
    let phrase = if reason.is_empty() { "Bad Request".to_owned() } else { format!("Bad Request: {reason}") };
    let mut answer = Response::new(ReplyBody::whole(format!("400 {phrase}").into()));
    *answer.status_mut() = StatusCode::BAD_REQUEST;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    if let Ok(phrase) = ReasonPhrase::try_from(phrase) {
        answer.extensions_mut().insert(phrase);
    }
    answer
}

fn empty(status: StatusCode) -> Response<ReplyBody> {
    let mut answer = Response::new(ReplyBody::whole(Bytes::new()));
    *answer.status_mut() = status;
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    /// The method, target and headers of a request, and the answer to it.
    type Case = (&'static str, &'static str, &'static [(&'static str, &'static str)], &'static str);

    /// Requests, and the answers that a kube-apiserver v1.37.1 gave to them; "" where it asks its handlers.
    #[test]
    fn heads() {
        const BAD: &str = "400 Bad Request";
        const MALFORMED: &str = "400 Bad Request: malformed Host header";
        const MISSING: &str = "400 Bad Request: missing required Host header";
        const HTTP_1_0: &str = "1.0";
        let table: &[Case] = &[
            ("GET", "/healthz", &[("host", "a")], ""),
            ("GET", "/healthz", &[("host", "")], ""),
            ("GET", "/healthz", &[], MISSING),
            ("GET", "http://b/healthz", &[], MISSING),
            ("GET", "http://b/healthz", &[("host", "a")], ""),
            ("GET", "/healthz", &[("x-version", HTTP_1_0)], ""),
            ("GET", "/healthz", &[("host", "a"), ("host", "a")], BAD),
            ("GET", "/healthz", &[("x-version", HTTP_1_0), ("host", "a"), ("host", "b")], BAD),
            ("GET", "/healthz", &[("host", "a/../b@c d")], MALFORMED),
            ("GET", "/healthz", &[("host", "ä")], MALFORMED),
            ("GET", "/healthz", &[("host", "[::1")], ""),
            ("GET", "/healthz", &[("host", "a_b:99999,%zz")], ""),
            ("GET", "healthz", &[("host", "a")], BAD),
            ("GET", "a:1", &[("host", "a")], ""),
            ("GET", "/api/%", &[("host", "a")], BAD),
            ("GET", "/api/%zz", &[("host", "a")], BAD),
            ("GET", "/api/%41", &[("host", "a")], ""),
            ("GET", "/api?%", &[("host", "a")], ""),
            ("GET", "*", &[("host", "a")], ""),
            ("OPTIONS", "*", &[("host", "a")], "200 "),
            ("OPTIONS", "*", &[], MISSING),
            ("OPTIONS", "/", &[("host", "a")], ""),
            ("CONNECT", "a:1", &[], ""),
            ("GET", "/healthz", &[("host", "a"), ("expect", "200-ok")], "417 "),
            ("GET", "/healthz", &[("x-version", HTTP_1_0), ("expect", "x")], "417 "),
            ("GET", "/healthz", &[("host", "a"), ("expect", "")], ""),
            ("GET", "/healthz", &[("host", "a"), ("expect", "100-Continue")], ""),
            ("POST", "/healthz", &[("host", "a"), ("expect", "100-continue, x")], ""),
        ];
        for (method, target, headers, expected) in table {
            let mut request = Request::builder().method(*method).uri(*target);
            for (name, value) in *headers {
                match *name {
                    "x-version" => request = request.version(Version::HTTP_10),
                    name => request = request.header(name, *value),
                }
            }
            let (head, ()) = request.body(()).unwrap().into_parts();
            let said = answer(&head).map_or(String::new(), |answer| {
                let phrase = answer.extensions().get::<ReasonPhrase>();
                let phrase = phrase.map_or("".into(), |phrase| String::from_utf8_lossy(phrase.as_bytes()));
                format!("{} {phrase}", answer.status().as_u16())
            });
            assert_eq!(said, *expected, "{method} {target} {headers:?}");
        }
        let (mut head, ()) = Request::get("/healthz").version(Version::HTTP_2).body(()).unwrap().into_parts();
        head.headers.insert(EXPECT, HeaderValue::from_static("200-ok"));
        assert!(answer(&head).is_none(), "HTTP/2 is another matter");
    }
}
