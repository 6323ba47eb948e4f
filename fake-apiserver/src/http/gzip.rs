//! Responses compressed with gzip, for clients that take it.
//!
//! ```text
//!   response ── short, or no gzip is taken ──▶ as it is
//!            └─ long ──▶ portions of its body ──▶ compressed elsewhere, one after the other ──▶ sent
//! ```
//! Follows `k8s.io/apiserver/pkg/endpoints/handlers/responsewriters` v0.37.1 (writers.go, compression.go), and for OpenAPI v2 the handler of
//! `github.com/NYTimes/gziphandler` v1.1.1. Watches are not compressed.

use super::body::ReplyBody;
use super::gzip_body::GzipBody;
use super::metrics;
use crate::error::ApiResult;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderValue, VARY};
use http::request::Parts;
use http::{HeaderMap, Method, Response};

/// The length up to which a response is not compressed, in bytes (`defaultGzipThresholdBytes`).
const LONGEST_PLAIN: usize = 128 * 1024;
/// The same for OpenAPI v2 (one less than `DefaultMinSize`).
const LONGEST_PLAIN_OPENAPI: usize = 1399;

/// The response as it is sent: compressed, if it is long and the client takes gzip.
///
/// # Errors
/// 500, if the beginning of a list cannot be made.
pub(super) fn sent(response: Response<ReplyBody>, request: &Parts) -> ApiResult<Response<ReplyBody>> {
    let Some(longest_plain) = longest_plain(request) else { return Ok(response) };
    let (mut head, body) = response.into_parts();
    let body = match body {
        ReplyBody::List(mut list) => {
            list.fill(longest_plain)?;
            ReplyBody::of_list(list, longest_plain)
        }
        body => body,
    };
    let is_long = match &body {
        ReplyBody::Whole(bytes) => bytes.as_ref().is_some_and(|bytes| bytes.len() > longest_plain),
        ReplyBody::List(_) => true,
        ReplyBody::Watch(_)
        | ReplyBody::Channels(_)
        | ReplyBody::Gzip(_)
        | ReplyBody::Struck(_)
        | ReplyBody::Forwarded(_) => false,
    };
    if !is_long {
        return Ok(Response::from_parts(head, body));
    }
    head.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    // Of metrics it is not said.
    let varies = !is_of_metrics(request);
    if varies
        && !head.headers.get_all(VARY).iter().any(|name| name == ACCEPT_ENCODING.as_str() || name == "Accept-Encoding")
    {
        head.headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
    }
    Ok(Response::from_parts(head, ReplyBody::Gzip(Box::new(GzipBody::new(body)))))
}

/// The length up to which the response is not compressed; `None` if it never is.
fn longest_plain(request: &Parts) -> Option<usize> {
    match request.uri.path() {
        _ if !request.headers.contains_key(ACCEPT_ENCODING) => None,
        path if path.starts_with("/openapi/v3") => None,
        _ if is_of_metrics(request) => prefers_gzip(&request.headers).then_some(0),
        "/openapi/v2" => takes_by_quality(&request.headers).then_some(LONGEST_PLAIN_OPENAPI),
        _ => codings(&request.headers).any(|coding| coding == "gzip").then_some(LONGEST_PLAIN),
    }
}

/// Whether the response has metrics, which are compressed whatever their length.
fn is_of_metrics(request: &Parts) -> bool {
    request.method != Method::DELETE && [metrics::PATH, metrics::SLIS].contains(&request.uri.path())
}

/// Whether the client has a higher quality for gzip than for no coding (`NegotiateContentEncoding` of github.com/golang/gddo/httputil, as it is
/// in github.com/prometheus/client_golang v1.24.0). A coding is read up to the first one that is malformed.
fn prefers_gzip(headers: &HeaderMap) -> bool {
    let (mut identity, mut gzip): (Option<f64>, Option<f64>) = (None, None);
    for coding in codings(headers) {
        let (name, parameters) = coding.split_once(';').unwrap_or((coding, ""));
        let quality = match parameters.trim() {
            "" => Some(1.0),
            text => text
                .strip_prefix("q=")
                .and_then(|text| text.parse::<f64>().ok())
                .filter(|one| (0.0..=1.0).contains(one)),
        };
        let Some(quality) = quality else { break };
        let better = |known: Option<f64>| Some(known.map_or(quality, |known| known.max(quality)));
        match name.trim() {
            "*" => (identity, gzip) = (better(identity), better(gzip)),
            "identity" => identity = better(identity),
            "gzip" => gzip = better(gzip),
            _ => {}
        }
    }
    gzip.is_some_and(|gzip| gzip > identity.unwrap_or(0.0))
}

/// The codings that the client names, with their parameters.
fn codings(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let names = headers.get(ACCEPT_ENCODING).and_then(|names| names.to_str().ok()).unwrap_or_default();
    names.split(',').map(str::trim)
}

/// Whether gzip has a quality above zero.
fn takes_by_quality(headers: &HeaderMap) -> bool {
    codings(headers).any(|coding| {
        let (name, parameters) = coding.split_once(';').unwrap_or((coding, ""));
        let quality = parameters.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f64>);
        name.trim().eq_ignore_ascii_case("gzip") && quality.is_ok_and(|quality| quality > 0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::super::gzip_body::PORTION;
    use super::*;
    use bytes::Bytes;
    use flate2::read::GzDecoder;
    use http::Request;
    use http_body_util::BodyExt;
    use hyper::body::Body as _;
    use std::io::Read;

    const LONG: usize = LONGEST_PLAIN + 1;

    fn answer(path: &str, accepted: &str, plain: Bytes) -> Response<ReplyBody> {
        let request = Request::builder().uri(path).header(ACCEPT_ENCODING, accepted);
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let response = Response::builder().header(VARY, "Accept").body(ReplyBody::whole(plain)).unwrap();
        sent(response, &parts).unwrap()
    }

    /// The decisions of kube-apiserver 1.37.
    #[test]
    fn what_is_compressed() {
        for (path, accepted, length, expected) in [
            ("/api/v1/pods", "gzip", LONG, true),
            ("/api/v1/pods", "gzip", LONG - 1, false),
            ("/api/v1/pods", "deflate,  gzip  ", LONG, true),
            ("/api/v1/pods", "", LONG, false),
            ("/api/v1/pods", "*", LONG, false),
            ("/api/v1/pods", "GZIP", LONG, false),
            ("/api/v1/pods", "gzip;q=1", LONG, false),
            ("/apis", "gzip", LONG, true),
            ("/openapi/v3/api/v1", "gzip", LONG, false),
            ("/openapi/v2", "br, GZIP;q=0.1", 1400, true),
            ("/openapi/v2", "gzip", 1399, false),
            ("/openapi/v2", "gzip;q=0", LONG, false),
            ("/openapi/v2", "br", LONG, false),
            ("/metrics", "gzip", 1, true),
            ("/metrics", "*", 1, false),
            ("/metrics", "gzip;q=0.5, *;q=0.2", 1, true),
            ("/metrics", "gzip;q=0.5, identity", 1, false),
            ("/metrics", "gzip;q=0", 1, false),
            ("/metrics", "gzip;x", 1, false),
        ] {
            let answer = answer(path, accepted, vec![b'x'; length].into());
            let vary: Vec<_> = answer.headers().get_all(VARY).iter().map(|name| name.to_str().unwrap()).collect();
            let (encoding, varies) = (answer.headers().get(CONTENT_ENCODING).is_some(), vary.len() > 1);
            let said = expected && path != "/metrics";
            assert_eq!((encoding, varies), (expected, said), "{path} {accepted:?} {length}");
        }
    }

    #[tokio::test]
    async fn what_is_sent_is_what_was_compressed() {
        let mut seed = fastrand::Rng::with_seed(1);
        for length in [LONG, PORTION, 3 * PORTION + 1] {
            let plain: Vec<u8> = std::iter::repeat_with(|| seed.u8(b'a'..=b'z')).take(length).collect();
            let body = answer("/api/v1/pods", "gzip", plain.clone().into()).into_body();
            assert!(!body.is_end_stream());
            let compressed = body.collect().await.unwrap().to_bytes();
            let mut again = Vec::new();
            GzDecoder::new(&compressed[..]).read_to_end(&mut again).unwrap();
            assert!(again == plain && compressed.len() < length, "{length}");
        }
    }
}
