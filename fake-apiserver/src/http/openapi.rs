//! OpenAPI v3: as much as `kubectl create`, `apply`, `replace` and `edit` look up before they leave validation to the
//! server, namely that each kind's PATCH takes `fieldValidation` and `dryRun`.
//!
//! There are no schemas, so `kubectl explain` has nothing to show, and no version 2 document.

use super::aggregated_discovery::sha512_hex;
use super::discovery::{Group, Version, groups};
use super::json::encode;
use crate::api::request::media::patch_types;
use crate::registry::Kind;
use crate::version::{MAJOR, MINOR};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, EXPIRES, LOCATION, VARY};
use http::{Response, StatusCode};
use jiff::{Timestamp, ToSpan, tz::TimeZone};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const JSON: &str = "application/json";

/// The documents of one table of kinds.
pub(crate) struct OpenApi {
    /// By what follows `/openapi/v3/` in their path.
    documents: BTreeMap<String, Document>,
    index: Bytes,
}

struct Document {
    json: Bytes,
    hash: String,
}

impl OpenApi {
    /// Describes `kinds`.
    pub(crate) fn new(kinds: &[Kind]) -> Self {
        let mut documents = BTreeMap::new();
        for group in groups(kinds) {
            for version in &group.versions {
                let json = encode(&document(&group, version));
                documents.insert(group.path(version.name), Document { hash: sha512_hex(&json), json: json.into() });
            }
        }
        let paths: Map<String, Value> = documents
            .iter()
            .map(|(path, document)| {
                (path.clone(), json!({"serverRelativeURL": format!("/openapi/v3/{path}?hash={}", document.hash)}))
            })
            .collect();
        OpenApi { documents, index: encode(&json!({ "paths": paths })).into() }
    }

    /// `/openapi/v3`: where the documents are. Its type is what upstream's file server makes of it.
    pub(crate) fn index(&self) -> Response<Bytes> {
        let response = Response::builder().header(CONTENT_TYPE, "text/plain; charset=utf-8");
        response.body(self.index.clone()).expect("a constant header")
    }

    /// `/openapi/v3/{path}`, for a client that names the version it wants by its hash, or the one it has by its tag.
    pub(crate) fn answer(&self, path: &str, request: &OpenApiRequest<'_>) -> Response<Bytes> {
        let Some(document) = self.documents.get(path) else {
            return empty(Response::builder().status(StatusCode::NOT_FOUND));
        };
        let response = Response::builder().header(VARY, "Accept");
        if !request.takes_json {
            return empty(response.status(StatusCode::NOT_ACCEPTABLE));
        }
        let etag = format!("\"{}\"", document.hash);
        let mut response = response.header(ETAG, &etag);
        if request.hash == document.hash {
            response = response.header(CACHE_CONTROL, "public, immutable").header(EXPIRES, in_a_year(request.now));
        } else if !request.hash.is_empty() {
            let location = format!("/openapi/v3/{path}?hash={}", document.hash);
            let response = response.status(StatusCode::MOVED_PERMANENTLY).header(CONTENT_TYPE, JSON);
            return empty(response.header(LOCATION, location));
        }
        if request.if_none_match == etag {
            return empty(response.status(StatusCode::NOT_MODIFIED));
        }
        response.header(CONTENT_TYPE, JSON).body(document.json.clone()).expect("headers in ASCII")
    }
}

/// What of a request for a document matters. What is absent is empty.
pub(crate) struct OpenApiRequest<'r> {
    /// The `hash` parameter of the query.
    pub(crate) hash: &'r str,
    /// The `If-None-Match` header.
    pub(crate) if_none_match: &'r str,
    /// Whether the client accepts JSON.
    pub(crate) takes_json: bool,
    /// For `Expires`.
    pub(crate) now: Timestamp,
}

fn empty(response: http::response::Builder) -> Response<Bytes> {
    response.body(Bytes::new()).expect("headers in ASCII")
}

fn in_a_year(now: Timestamp) -> String {
    let now = now.to_zoned(TimeZone::UTC);
    now.saturating_add(1.year()).strftime("%a, %d %b %Y %H:%M:%S UTC").to_string()
}

fn document(group: &Group<'_>, version: &Version<'_>) -> Value {
    let prefix = group.path(version.name);
    let paths: Map<String, Value> = version
        .kinds
        .iter()
        .filter(|kind| kind.verbs.contains(&"patch"))
        .map(|kind| {
            let scope = if kind.namespaced { "/namespaces/{namespace}" } else { "" };
            (format!("/{prefix}{scope}/{}/{{name}}", kind.resource), json!({ "patch": patch(kind) }))
        })
        .collect();
    json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": format!("{MAJOR}.{MINOR}")},
        "paths": paths,
        "components": {"schemas": {}},
    })
}

/// The operation by which kubectl judges what a kind can do.
fn patch(kind: &Kind) -> Value {
    let parameters = ["dryRun", "fieldManager", "fieldValidation"]
        .map(|name| json!({"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": true}}));
    let content: Map<String, Value> = patch_types().map(|media_type| (media_type.to_string(), json!({}))).collect();
    json!({
        "description": format!("partially update the specified {}", kind.kind),
        "parameters": parameters,
        "requestBody": {"content": content, "required": true},
        "responses": {"200": {"description": "OK", "content": {"application/json": {}}}},
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": {"group": kind.group, "version": kind.version, "kind": kind.kind},
    })
}
