//! Responses: the form, the headers and the bytes of a reply.

use super::body::ReplyBody;
use super::computation::Computation;
use super::items::ListForm;
use super::json;
use super::list::{self, ListBody, SMALL_BYTES};
use super::negotiate::{self, Encoding, Form, Output};
use super::protobuf;
use super::replica::Replica;
use super::stream::WatchBody;
use super::table::{ListMeta, Transformation};
use crate::api::request::Query;
use crate::api::{Listing, Reply};
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult};
use crate::registry::{Subresource, Version};
use crate::yaml;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, LOCATION, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS};
use http::{Response, StatusCode};
use jiff::Timestamp;
use serde::Serialize;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain");
const YAML: HeaderValue = HeaderValue::from_static(negotiate::YAML);
const PROTOBUF: HeaderValue = HeaderValue::from_static(negotiate::PROTOBUF);
const PROTOBUF_STREAM: HeaderValue = HeaderValue::from_static("application/vnd.kubernetes.protobuf;stream=watch");

/// The content of an answer, as far as the log of requests tells of it: an extension of the response.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shown {
    /// A watch that has an error of that code in place of events.
    Refused(u16),
    /// A list with that number of objects.
    Listed(u64),
}

/// The rendering of a resource's reply.
pub(super) struct Rendering<'r> {
    pub(super) replica: &'r Arc<Replica>,
    pub(super) version: &'r Arc<Version>,
    pub(super) subresource: Option<&'r Subresource>,
    pub(super) output: Output,
    pub(super) query: &'r Query<'r>,
    pub(super) now: Timestamp,
    /// The computation of the request.
    pub(super) computation: &'r Computation,
    /// The deadline of the request.
    pub(super) deadline: &'r Deadline,
}

impl Rendering<'_> {
    pub(super) fn respond(&self, reply: Reply) -> ApiResult<Response<ReplyBody>> {
        match reply {
            Reply::Stored(entry) => {
                let read =
                    || content(self.object(entry.line().clone(), entry.meta.complete_under)?, self.output.encoding);
                let body = match self.output.id_of_single(self.version) {
                    Some(form) => self.replica.cluster.store.rendered(&entry, form, read)?,
                    None => read()?,
                };
                Ok(with_headers(200, content_type(self.output.encoding), ReplyBody::whole(body)))
            }
            Reply::Object { code, line, complete_under } => self.document(code, self.object(line, complete_under)?),
            Reply::Other { code, line } => {
                let transformed =
                    self.transformation(self.deadline)?.map(|mut to| to.object(&line, 0, self.now)).transpose()?;
                self.document(code, transformed.map_or(line, end_line))
            }
            Reply::List(listing) => self.list(listing),
            Reply::Computed(lines) => self.document(200, self.computed(&lines, &ListMeta::default())?),
            Reply::Watch(_) if self.output.encoding == Encoding::Yaml => Err(negotiate::no_stream()),
            Reply::Watch(watch) => {
                // Its frames are shared with the watches of other replicas, so that none may be left undone.
                let computation = self.computation.of_body(CancellationToken::new());
                let version = self.version.clone();
                let transformation = self.transformation(&computation.deadline())?;
                let body = WatchBody::new(self.replica, version, self.output, transformation, computation, watch);
                let content_type = match self.output.encoding {
                    Encoding::Json { .. } | Encoding::Yaml => JSON,
                    Encoding::Protobuf => PROTOBUF_STREAM,
                };
                Ok(with_headers(200, content_type, ReplyBody::Watch(Box::new(body))))
            }
            Reply::Deleted { name, group, resource, uid } => {
                let details = SuccessDetails { name, group, kind: resource, uid };
                self.document(200, end_line(json::encode(&Success::new(None, Some(details)))))
            }
            Reply::Text(text) => Ok(with_headers(200, TEXT, ReplyBody::whole(text))),
            Reply::Channels(channels) => Ok(Response::new(ReplyBody::Channels(Box::new(channels)))),
            Reply::Empty => {
                let mut response = Response::new(ReplyBody::whole(Bytes::new()));
                *response.status_mut() = StatusCode::NO_CONTENT;
                Ok(response)
            }
            Reply::Moved { location } => {
                let mut response = Response::new(ReplyBody::whole(Bytes::new()));
                *response.status_mut() = StatusCode::MOVED_PERMANENTLY;
                let location = HeaderValue::try_from(location).map_err(ApiError::internal)?;
                response.headers_mut().insert(LOCATION, location);
                Ok(response)
            }
            Reply::Success { code } => self.document(code, end_line(json::encode(&Success::new(Some(code), None)))),
        }
    }

    fn list(&self, listing: Listing) -> ApiResult<Response<ReplyBody>> {
        let metadata = ListMeta::of(&listing);
        let number = listing.items.number().filter(|_| self.replica.cluster.log.is_on());
        if let (Some(order), Some(Form::Table(_))) = (self.version.row_order, self.output.form) {
            let mut entries: Vec<_> =
                listing.items.map(|entry| (order(&entry.object()), entry.line().clone())).collect();
            entries.sort_by_key(|(order, _)| *order);
            let lines: Vec<Bytes> = entries.into_iter().map(|(_, line)| line).collect();
            return self.document(200, self.computed(&lines, &metadata)?);
        }
        let form = |deadline: Deadline| {
            let transformation = self.transformation(&deadline)?;
            ListForm::new(self.version, self.output, transformation, self.now, deadline, &metadata)
        };
        let body = match self.output.encoding {
            Encoding::Yaml => ReplyBody::whole(list::yaml(&form(self.deadline.clone())?, listing.items)?),
            _ => {
                let computation = self.computation.of_body(self.replica.shutdown.clone());
                let list = ListBody::begun(form(computation.deadline())?, listing.items, computation)?;
                ReplyBody::of_list(list.into(), SMALL_BYTES)
            }
        };
        let mut response = with_headers(200, content_type(self.output.encoding), body);
        if let Some(number) = number {
            response.extensions_mut().insert(Shown::Listed(number as u64));
        }
        Ok(response)
    }

    /// A list of objects that are not stored, or not in that order.
    fn computed(&self, lines: &[Bytes], metadata: &ListMeta) -> ApiResult<Bytes> {
        let (empty, items) = match self.transformation(self.deadline)? {
            Some(form) => {
                let items = lines.iter().map(|line| form.item(line, 0, self.now)).collect::<ApiResult<Vec<_>>>()?;
                (form.empty_list(metadata)?, items)
            }
            None => {
                let head = self.version.head.len();
                let items = lines.iter().map(|line| [b"{", &line[head..line.len() - 1]].concat()).collect();
                let (kind, api_version) = (&self.version.list_kind, &self.version.api_version);
                let list = format!(r#"{{"kind":"{kind}","apiVersion":"{api_version}","metadata":{{}},"items":[]}}"#);
                (list.into_bytes(), items)
            }
        };
        // The items are last, an empty list or, in Go, none.
        let start = empty.iter().rposition(|byte| *byte == b':').map_or(0, |colon| colon + 1);
        Ok([&empty[..start], b"[", &items.join(&b','), b"]}\n"].concat().into())
    }

    /// The transformation, until a deadline. `None` for the plain form.
    fn transformation(&self, deadline: &Deadline) -> ApiResult<Option<Transformation>> {
        let Some(form) = self.output.form else { return Ok(None) };
        let transformation =
            Transformation::new(self.version.clone(), form, self.query.get("includeObject"), deadline)?;
        let scales = self.subresource.is_some_and(|subresource| subresource.name == "scale");
        Ok(Some(if scales { transformation.of_scales() } else { transformation }))
    }

    /// An object of the resource in the requested form, from the stored one: JSON and a line feed.
    fn object(&self, line: Bytes, complete_under: u64) -> ApiResult<Bytes> {
        Ok(match self.transformation(self.deadline)? {
            Some(mut transformation) => end_line(transformation.object(&line, complete_under, self.now)?),
            None => self.version.json_from_storage(&line, complete_under, self.deadline)?.map_or(line, Bytes::from),
        })
    }

    /// A response with a document, which `line` has in JSON.
    fn document(&self, code: u16, line: Bytes) -> ApiResult<Response<ReplyBody>> {
        let body = content(line, self.output.encoding)?;
        Ok(with_headers(code, content_type(self.output.encoding), ReplyBody::whole(body)))
    }
}

/// A `metav1.Status` of success.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Success {
    kind: &'static str,
    api_version: &'static str,
    metadata: tree::Map,
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

/// The `Content-Type` of documents.
pub(super) fn content_type(encoding: Encoding) -> HeaderValue {
    match encoding {
        Encoding::Json { .. } => JSON,
        Encoding::Yaml => YAML,
        Encoding::Protobuf => PROTOBUF,
    }
}

/// The bytes of a document, which `line` has in JSON. Indented JSON does not end with a line feed.
///
/// # Errors
/// 500, if its kind is not in the schema, or its characters not in YAML.
pub(super) fn content(line: Bytes, encoding: Encoding) -> ApiResult<Bytes> {
    Ok(match encoding {
        Encoding::Json { pretty: false } => line,
        Encoding::Json { pretty: true } => json::indent(&line).into(),
        Encoding::Yaml => yaml::print(&line).map_err(ApiError::untyped)?.into(),
        Encoding::Protobuf => protobuf::body(&line)?,
    })
}

/// A refusal as a response.
pub(super) fn refusal(error: &ApiError, encoding: Encoding) -> Response<ReplyBody> {
    let content = |error: &ApiError| content(end_line(json::encode(error.status())), encoding);
    // An error that YAML cannot represent is replaced by the error that says so.
    let told = content(error).or_else(|why| content(&why));
    let body = told.expect("the schema knows `Status`, and YAML its own refusals");
    let mut response = with_headers(error.code(), content_type(encoding), ReplyBody::whole(body));
    if let Some(seconds) = error.retry_after_seconds() {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

fn with_headers(code: u16, content_type: HeaderValue, body: ReplyBody) -> Response<ReplyBody> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

fn end_line(mut json: Vec<u8>) -> Bytes {
    json.push(b'\n');
    json.into()
}

/// A response in plain text, with `nosniff`.
pub(crate) fn plain_text(status: StatusCode, text: impl Into<Bytes>) -> Response<Bytes> {
    Response::builder()
        .status(status)
        .header(CONTENT_TYPE, "text/plain; charset=utf-8")
        .header(X_CONTENT_TYPE_OPTIONS, "nosniff")
        .body(text.into())
        .expect("constant headers")
}

/// The response to a client that asked TLS for the name of a cluster that there is not.
pub(crate) fn misdirected(server_name: &str) -> Response<ReplyBody> {
    plain_text(StatusCode::MISDIRECTED_REQUEST, format!("there is no cluster behind {server_name:?}\n"))
        .map(ReplyBody::whole)
}

/// The response beyond the limits on requests in flight, with the seconds after which to try again.
pub(super) fn too_many(retry_after: u64) -> Response<ReplyBody> {
    Response::builder()
        .status(StatusCode::TOO_MANY_REQUESTS)
        .header(CONTENT_TYPE, "text/plain; charset=utf-8")
        .header(X_CONTENT_TYPE_OPTIONS, "nosniff")
        .header(RETRY_AFTER, retry_after)
        .body(ReplyBody::whole("Too many requests, please try again later.\n".into()))
        .expect("constants make a response")
}
