//! From answers to responses: forms, headers, bytes.

use super::body::ReplyBody;
use super::json;
use super::list;
use super::negotiate::Output;
use super::replica::Replica;
use super::stream::WatchBody;
use super::table::{ListMeta, Transformation};
use crate::api::{Listing, Reply};
use crate::error::{ApiError, ApiResult};
use crate::registry::Version;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WARNING};
use http::{Response, StatusCode};
use jiff::Timestamp;
use serde::Serialize;
use std::sync::Arc;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// How a resource's answer is to be rendered.
pub(super) struct Rendering<'r> {
    pub(super) replica: &'r Arc<Replica>,
    pub(super) version: &'r Arc<Version>,
    pub(super) output: Output,
    /// The query parameter, which matters for tables only.
    pub(super) include_object: &'r str,
    pub(super) now: Timestamp,
}

impl Rendering<'_> {
    pub(super) fn respond(&self, reply: Reply) -> ApiResult<Response<ReplyBody>> {
        match reply {
            Reply::Object { code, line } => {
                let Some(mut transformation) = self.transformation()? else {
                    return Ok(self.json(code, self.version.converted(&line)?.map_or(line, Bytes::from)));
                };
                Ok(self.json(code, end_line(transformation.object(&line, self.now)?)))
            }
            Reply::List(listing) => self.list(listing),
            Reply::Watch(watch) => {
                let body = WatchBody::new(self.replica, self.version.clone(), self.transformation()?, watch);
                Ok(with_headers(200, ReplyBody::Watch(Box::new(body))))
            }
            Reply::Deleted { name, group, resource, uid } => {
                let details = SuccessDetails { name, group, kind: resource, uid };
                Ok(self.json(200, end_line(json::encode(&Success::new(None, Some(details))))))
            }
            Reply::Success { code } => Ok(self.json(code, end_line(json::encode(&Success::new(Some(code), None))))),
        }
    }

    fn list(&self, listing: Listing) -> ApiResult<Response<ReplyBody>> {
        let Some(transformation) = self.transformation()? else {
            let chunks = list::encode(self.version, &listing)?;
            return Ok(match self.output.pretty {
                true => self.json(200, chunks.concat().into()),
                false => with_headers(200, ReplyBody::chunks(chunks)),
            });
        };
        let metadata = ListMeta {
            resource_version: listing.revision.to_string(),
            r#continue: listing.continue_token.clone().unwrap_or_default(),
            remaining_item_count: listing.remaining.map(|remaining| remaining as u64),
        };
        let objects = listing.items.iter().map(|entry| entry.line());
        Ok(self.json(200, end_line(transformation.list(&metadata, objects, self.now)?)))
    }

    /// None for the plain form.
    fn transformation(&self) -> ApiResult<Option<Transformation>> {
        self.output.form.map(|form| Transformation::new(self.version.clone(), form, self.include_object)).transpose()
    }

    fn json(&self, code: u16, line: Bytes) -> Response<ReplyBody> {
        let bytes = if self.output.pretty { json::indent(&line).into() } else { line };
        with_headers(code, ReplyBody::whole(bytes))
    }
}

/// `metav1.Status` of a success.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Success {
    kind: &'static str,
    api_version: &'static str,
    metadata: serde_json::Map<String, serde_json::Value>,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<SuccessDetails>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u16>,
}

#[derive(Serialize)]
struct SuccessDetails {
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    group: String,
    kind: String,
    uid: String,
}

impl Success {
    fn new(code: Option<u16>, details: Option<SuccessDetails>) -> Self {
        Success { kind: "Status", api_version: "v1", metadata: Default::default(), status: "Success", details, code }
    }
}

/// A refusal as a response.
pub(super) fn refusal(error: &ApiError, pretty: bool) -> Response<ReplyBody> {
    let json = json::encode(error.status());
    let line = if pretty { json::indent(&json).into() } else { end_line(json) };
    let mut response = with_headers(error.code(), ReplyBody::whole(line));
    if let Some(seconds) = error.retry_after_seconds() {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// Adds one `Warning` header for each text, as `k8s.io/apiserver`'s warning recorder writes them.
pub(super) fn add_warnings(response: &mut Response<ReplyBody>, warnings: &[String]) {
    let mut seen: Vec<&String> = Vec::new();
    for warning in warnings {
        if seen.contains(&warning) {
            continue;
        }
        seen.push(warning);
        let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::from_bytes(format!("299 - \"{quoted}\"").as_bytes()) {
            response.headers_mut().append(WARNING, value);
        }
    }
}

fn with_headers(code: u16, body: ReplyBody) -> Response<ReplyBody> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

fn end_line(mut json: Vec<u8>) -> Bytes {
    json.push(b'\n');
    json.into()
}
