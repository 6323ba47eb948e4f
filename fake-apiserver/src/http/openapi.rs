//! Responses with OpenAPI documents, which have hashes so that clients can cache them.

use crate::discovery::{Hashed, OpenApi};
use bytes::Bytes;
use http::header::{ACCEPT_RANGES, CACHE_CONTROL, CONTENT_TYPE, ETAG, EXPIRES, LOCATION, VARY};
use http::{Response, StatusCode};
use jiff::{Timestamp, ToSpan, tz::TimeZone};

const JSON: &str = "application/json";
/// What upstream's file server offers. A client that asks for a part is sent the whole, as HTTP allows.
const RANGES: &str = "bytes";

/// The response at `/openapi/v3`: the index of the documents. Its type is the one that upstream's file server guesses.
pub(super) fn index(openapi: &OpenApi) -> Response<Bytes> {
    let response = Response::builder().header(CONTENT_TYPE, "text/plain; charset=utf-8");
    response.header(ACCEPT_RANGES, RANGES).body(openapi.index().clone()).expect("a constant header")
}

/// The response at `/openapi/v3/{path}`, for a client that may name the wanted version by hash, or a cached one by `ETag`.
pub(super) fn v3(openapi: &OpenApi, path: &str, request: &OpenApiRequest<'_>) -> Response<Bytes> {
    let Some(document) = openapi.v3(path) else {
        return empty(Response::builder().status(StatusCode::NOT_FOUND));
    };
    let mut response = Response::builder().header(VARY, "Accept");
    if !request.takes_json {
        return empty(response.status(StatusCode::NOT_ACCEPTABLE));
    }
    if request.hash == document.hash {
        response = response.header(CACHE_CONTROL, "public, immutable").header(EXPIRES, in_a_year(request.now));
    } else if !request.hash.is_empty() {
        let location = format!("/openapi/v3/{path}?hash={}", document.hash);
        let response = response.status(StatusCode::MOVED_PERMANENTLY).header(CONTENT_TYPE, JSON);
        return empty(response.header(ETAG, tag(&document)).header(LOCATION, location));
    }
    answer(response, document, request)
}

/// `/openapi/v2`.
pub(super) fn v2(openapi: &OpenApi, request: &OpenApiRequest<'_>) -> Response<Bytes> {
    let response = Response::builder().header(VARY, "Accept-Encoding").header(VARY, "Accept");
    match request.takes_json {
        true => answer(response, openapi.v2(), request),
        false => empty(response.status(StatusCode::NOT_ACCEPTABLE)),
    }
}

/// The parts of a request for a document. Missing ones are empty.
pub(super) struct OpenApiRequest<'r> {
    /// The `hash` parameter of the query.
    pub(super) hash: &'r str,
    /// The `If-None-Match` header.
    pub(super) if_none_match: &'r str,
    /// Whether the client accepts JSON.
    pub(super) takes_json: bool,
    /// The current time, for `Expires`.
    pub(super) now: Timestamp,
}

/// The document, unless the client has it.
fn answer(response: http::response::Builder, document: Hashed<'_>, request: &OpenApiRequest<'_>) -> Response<Bytes> {
    let response = response.header(ETAG, tag(&document));
    if request.if_none_match == tag(&document) {
        return empty(response.status(StatusCode::NOT_MODIFIED));
    }
    response.header(CONTENT_TYPE, JSON).header(ACCEPT_RANGES, RANGES).body((document.json)()).expect("headers in ASCII")
}

fn tag(document: &Hashed<'_>) -> String {
    format!("\"{}\"", document.hash)
}

fn empty(response: http::response::Builder) -> Response<Bytes> {
    response.body(Bytes::new()).expect("headers in ASCII")
}

fn in_a_year(now: Timestamp) -> String {
    let now = now.to_zoned(TimeZone::UTC);
    now.saturating_add(1.year()).strftime("%a, %d %b %Y %H:%M:%S UTC").to_string()
}
