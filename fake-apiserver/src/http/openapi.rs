//! Responses with OpenAPI documents, which have hashes so that clients can cache them.

use super::negotiate::Preferences;
use crate::deadline::Deadline;
use crate::discovery::{Hashed, OpenApi, Parts};
use crate::error::ApiResult;
use bytes::Bytes;
use http::header::{ACCEPT_RANGES, CACHE_CONTROL, CONTENT_TYPE, ETAG, EXPIRES, LOCATION, VARY};
use http::{Response, StatusCode};
use jiff::{Timestamp, ToSpan, tz::TimeZone};

/// The media types of version 2, by preference; the first ones of JSON and protobuf are the types of responses.
pub(super) const V2: [&str; 3] = [
    "application/json",
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
];
/// The media types of version 3.
pub(super) const V3: [&str; 3] = [
    "application/json",
    "application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v3@v1.0+protobuf",
];
/// `Accept-Ranges`, as upstream's file server sends it. A client that asks for a range gets the whole document, as HTTP allows.
const RANGES: &str = "bytes";

/// The response at `/openapi/v3`: the index of the documents. Its type is the one that upstream's file server guesses.
///
/// # Errors
/// 504, if the time is up.
pub(super) async fn index(openapi: &OpenApi, deadline: &Deadline) -> ApiResult<Response<Bytes>> {
    let index = openapi.index(deadline).await?;
    let response = Response::builder().header(CONTENT_TYPE, "text/plain; charset=utf-8");
    Ok(response.header(ACCEPT_RANGES, RANGES).body(index).expect("a constant header"))
}

/// The response at `/openapi/v3/{path}`, for a client that may name the wanted version by hash, or a cached one by `ETag`.
///
/// # Errors
/// 504, if the time is up.
pub(super) async fn v3(openapi: &OpenApi, path: &str, request: &OpenApiRequest<'_>) -> ApiResult<Response<Bytes>> {
    let Some(document) = openapi.v3(path, request.deadline).await? else {
        return Ok(empty(Response::builder().status(StatusCode::NOT_FOUND)));
    };
    let mut response = Response::builder().header(VARY, "Accept");
    let Some(media_type) = request.preferences.preferred(&V3) else {
        return Ok(empty(response.status(StatusCode::NOT_ACCEPTABLE)));
    };
    let content_type = V3[media_type.min(1)];
    if request.hash == &*document.hash {
        response = response.header(CACHE_CONTROL, "public, immutable").header(EXPIRES, in_a_year(request.now));
    } else if !request.hash.is_empty() {
        let location = format!("/openapi/v3/{path}?hash={}", document.hash);
        let response = response.status(StatusCode::MOVED_PERMANENTLY).header(CONTENT_TYPE, content_type);
        return Ok(empty(response.header(ETAG, tag(&document)).header(LOCATION, location)));
    }
    answer(response, &document, content_type, request).await
}

/// `/openapi/v2`, with the parts of other servers.
///
/// # Errors
/// 504, if the time is up.
pub(super) async fn v2(openapi: &OpenApi, parts: Parts, request: &OpenApiRequest<'_>) -> ApiResult<Response<Bytes>> {
    let response = Response::builder().header(VARY, "Accept-Encoding").header(VARY, "Accept");
    match request.preferences.preferred(&V2) {
        Some(media_type) => {
            let document = openapi.v2(parts, request.deadline).await?;
            answer(response, &document, V2[media_type.min(1)], request).await
        }
        None => Ok(empty(response.status(StatusCode::NOT_ACCEPTABLE))),
    }
}

/// The parts of a request for a document. Missing ones are empty.
pub(super) struct OpenApiRequest<'r> {
    /// The `hash` parameter of the query.
    pub(super) hash: &'r str,
    /// The `If-None-Match` header.
    pub(super) if_none_match: &'r str,
    /// The encoding that the client prefers.
    pub(super) preferences: Preferences<'r>,
    /// The current time, for `Expires`.
    pub(super) now: Timestamp,
    /// The deadline of making the document.
    pub(super) deadline: &'r Deadline,
}

/// The document, unless the client has it.
async fn answer(
    response: http::response::Builder,
    document: &Hashed<'_>,
    content_type: &str,
    request: &OpenApiRequest<'_>,
) -> ApiResult<Response<Bytes>> {
    let response = response.header(ETAG, tag(document));
    if is_among(&tag(document), request.if_none_match) {
        return Ok(empty(response.status(StatusCode::NOT_MODIFIED)));
    }
    let body = match content_type == V2[0] {
        true => document.json().await?,
        false => match document.protobuf().await? {
            Ok(body) => body,
            Err(why) => {
                tracing::error!("OpenAPI in protobuf: {why}");
                return Ok(empty(Response::builder().status(StatusCode::SERVICE_UNAVAILABLE)));
            }
        },
    };
    let response = response.header(CONTENT_TYPE, content_type).header(ACCEPT_RANGES, RANGES);
    Ok(response.body(body).expect("headers in ASCII"))
}

/// Whether a tag is one of those in an `If-None-Match` (`checkIfNoneMatch` of Go's net/http), weak or not.
fn is_among(tag: &str, tags: &str) -> bool {
    let mut rest = tags;
    loop {
        rest = rest.trim_start_matches([',', ' ', '\t']);
        if rest.starts_with('*') {
            return true;
        }
        let opaque = rest.strip_prefix("W/").unwrap_or(rest);
        let is_tag = |end: &usize| opaque[1..*end].bytes().all(|byte| byte > b' ' && byte != 0x7f);
        let end = opaque.strip_prefix('"').and_then(|text| Some(text.find('"')? + 1)).filter(is_tag);
        let Some(end) = end else { return false };
        if &opaque[..=end] == tag {
            return true;
        }
        rest = &opaque[end + 1..];
    }
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
