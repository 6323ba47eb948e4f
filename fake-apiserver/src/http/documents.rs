//! Paths that are not of resources: discovery, OpenAPI, version, health, and the list of all paths.

use super::health::Health;
use super::json::{encode, indent};
use super::metrics::{self, HealthChecks};
use super::negotiate::{Encoding, Endpoint, JSON, Preferences};
use super::openapi::{self, OpenApiRequest};
use super::pages::Pages;
use super::respond::plain_text;
use super::respond::{content, content_type};
use super::version;
use crate::api::request::Query;
use crate::deadline::Deadline;
use crate::discovery::{AGGREGATED, Aggregated, Catalog, Merged, api_versions};
use crate::error::{ApiError, ApiResult};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use http::{HeaderMap, HeaderName, Method, Response, StatusCode};
use jiff::Timestamp;
use tree::json;

/// Paths that are neither discovery nor health.
const OTHER_PATHS: &[&str] = &[
    "/.well-known/openid-configuration",
    "/api",
    "/apis/",
    metrics::PATH,
    metrics::SLIS,
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/",
    "/openid/v1/jwks",
    "/version",
];

/// A request whose path is not that of a resource.
pub(crate) struct DocumentRequest<'r> {
    pub(crate) method: &'r Method,
    pub(crate) path: &'r str,
    pub(crate) query: &'r Query<'r>,
    pub(crate) headers: &'r HeaderMap,
    /// `host:port` of the server, as clients reach it.
    pub(crate) server_address: &'r str,
    pub(crate) now: Timestamp,
    pub(crate) health: Health,
    /// The pages about the process.
    pub(crate) pages: &'r Pages,
    /// The count of the health checks.
    pub(crate) checks: &'r HealthChecks,
    /// Discovery with the servers that extend this one, if there are any.
    pub(crate) merged: Option<&'r Merged>,
    /// The deadline of making a document.
    pub(crate) deadline: &'r Deadline,
}

/// Answers a request. The caller adds the headers that every response has.
///
/// # Errors
/// 404, 405 and 406, where the real server sends them as a `Status`; 504, if the time is up.
pub(super) async fn answer(catalog: &Catalog, request: &DocumentRequest<'_>) -> ApiResult<Response<Bytes>> {
    match request.path {
        "/" => Ok(json_text(root(catalog, request))),
        "/openapi/v2" => {
            let parts = request.merged.map(|merged| merged.parts.clone()).unwrap_or_default();
            openapi::v2(catalog.openapi(), parts, &openapi_request(request)).await
        }
        "/openapi/v3" => {
            let index = openapi::index(catalog.openapi(), request.deadline).await?;
            Ok(index.map(|own| request.merged.map_or(own.clone(), |merged| merged.index(own))))
        }
        path => match (path.strip_prefix("/openapi/v3/"), request.health.answer(path, request.query, request.checks)) {
            (Some(document), _) => openapi::v3(catalog.openapi(), document, &openapi_request(request)).await,
            (None, Some(response)) => Ok(response),
            (None, None) => api_document(catalog, path.strip_suffix('/').unwrap_or(path), request),
        },
    }
}

fn openapi_request<'r>(request: &'r DocumentRequest<'_>) -> OpenApiRequest<'r> {
    OpenApiRequest {
        hash: request.query.get("hash"),
        if_none_match: request.header(IF_NONE_MATCH),
        preferences: request.preferences(),
        now: request.now,
        deadline: request.deadline,
    }
}

/// Discovery and version: negotiated, read-only documents.
fn api_document(catalog: &Catalog, path: &str, request: &DocumentRequest<'_>) -> ApiResult<Response<Bytes>> {
    let preferences = request.preferences();
    let json = match path {
        "/api" => api_versions(request.server_address).into(),
        "/version" => version::document().into(),
        path => match request.merged.and_then(|merged| merged.plain(path)).or_else(|| catalog.plain().document(path)) {
            Some(json) => json.clone(),
            None => return not_found(catalog, path),
        },
    };
    let is_list_of_groups = path.starts_with("/apis") && path.split('/').count() <= 3;
    let endpoint = if is_list_of_groups { Endpoint::Unrouted } else { Endpoint::Document };
    if endpoint == Endpoint::Document && request.method != Method::GET {
        return Err(ApiError::method_not_routed());
    }
    let aggregated = match path {
        "/api" => Some(catalog.core()),
        "/apis" => Some(request.merged.map_or_else(|| catalog.groups(), |merged| &merged.groups)),
        _ => None,
    };
    if let Some(aggregated) = aggregated
        && let Some(encoding) = preferences.aggregated_discovery()
    {
        return aggregated_response(aggregated, encoding, request);
    }
    // The version is always indented.
    let encoding = match path {
        "/version" => preferences.routed(&[JSON]).map(|()| Encoding::Json { pretty: true })?,
        _ => preferences.output(endpoint, true)?.encoding,
    };
    let body = content(line(&json), encoding)?;
    Ok(Response::builder().header(CONTENT_TYPE, content_type(encoding)).body(body).expect("a constant header"))
}

/// 404: a `Status` below a group with other than custom resources, plain text elsewhere.
fn not_found(catalog: &Catalog, path: &str) -> ApiResult<Response<Bytes>> {
    let mut elements = path.split('/').skip(1);
    let is_routed = match (elements.next(), elements.next()) {
        (Some("api" | "version"), Some(_)) => true,
        (Some("apis"), Some(group)) => catalog.plain().is_routed(group),
        _ => false,
    };
    match is_routed {
        true => Err(ApiError::no_such_path()),
        false => Ok(plain_text(StatusCode::NOT_FOUND, "404 page not found\n")),
    }
}

/// The document at `/`: all paths.
fn root(catalog: &Catalog, request: &DocumentRequest<'_>) -> Bytes {
    let mut paths: Vec<String> = catalog.plain().paths().map(str::to_string).chain(request.health.paths()).collect();
    paths.extend(request.pages.paths().chain(OTHER_PATHS.iter().copied()).map(str::to_string));
    paths.sort_unstable();
    indent(&encode(&json!({ "paths": paths }))).into()
}

impl DocumentRequest<'_> {
    fn preferences(&self) -> Preferences<'_> {
        Preferences::of(self.headers, self.query)
    }

    /// The text of a header, or "".
    fn header(&self, name: HeaderName) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

fn aggregated_response(
    document: &Aggregated,
    encoding: Encoding,
    request: &DocumentRequest<'_>,
) -> ApiResult<Response<Bytes>> {
    let response =
        Response::builder().header(CACHE_CONTROL, "public").header(ETAG, &document.etag).header(VARY, "Accept");
    let response = match request.header(IF_NONE_MATCH) == document.etag {
        true => response.status(StatusCode::NOT_MODIFIED).body(Bytes::new()),
        false => {
            let body = content(line(&document.json), encoding)?;
            let content_type = content_type(encoding);
            let content_type = content_type.to_str().unwrap_or_default();
            response.header(CONTENT_TYPE, format!("{content_type};{AGGREGATED}")).body(body)
        }
    };
    Ok(response.expect("headers in ASCII"))
}

/// A response 200 with a JSON document.
fn json_text(json: Bytes) -> Response<Bytes> {
    Response::builder().header(CONTENT_TYPE, "application/json").body(json).expect("a constant header")
}

fn line(json: &[u8]) -> Bytes {
    [json, b"\n"].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::{Catalog, samples};
    use crate::http::negotiate::YAML;
    use futures::FutureExt;
    use http::HeaderValue;
    use http::header::{ACCEPT, EXPIRES, LOCATION};

    const AGGREGATED_TYPE: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    const AGGREGATED: (HeaderName, &str) = (ACCEPT, AGGREGATED_TYPE);

    /// Requests `target`, a path with a query.
    fn ask(method: Method, target: &str, headers: &[(HeaderName, &str)]) -> ApiResult<Response<Bytes>> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let headers = headers
            .iter()
            .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).expect("a header")))
            .collect();
        let request = DocumentRequest {
            method: &method,
            path,
            query: &Query::parse(query),
            headers: &headers,
            server_address: "192.0.2.1:6443",
            now: "2026-11-21T04:24:34Z".parse().expect("a time"),
            health: Health { rbac: false, is_fair: true, shutting_down: false },
            pages: &Pages::default(),
            checks: &HealthChecks::new(Timestamp::UNIX_EPOCH),
            merged: None,
            deadline: &Deadline::default(),
        };
        let catalog = Catalog::new(samples::registry());
        let answer = answer(&catalog, &request);
        answer.now_or_never().expect("nobody else makes the document")
    }

    fn get(target: &str, headers: &[(HeaderName, &str)]) -> Response<Bytes> {
        ask(Method::GET, target, headers).expect("an answer")
    }

    fn header(response: &Response<Bytes>, name: HeaderName) -> &str {
        response.headers().get(name).map(|value| value.to_str().expect("text")).unwrap_or_default()
    }

    /// The status codes and types of kube-apiserver 1.37.
    #[test]
    fn paths() {
        const JSON: &str = "application/json";
        const TEXT: &str = "text/plain; charset=utf-8";
        for (target, expected) in [
            ("/", (200, JSON)),
            ("/api", (200, JSON)),
            ("/api/", (200, JSON)),
            ("/api/v1", (200, JSON)),
            ("/api/v1/", (200, JSON)),
            ("/apis", (200, JSON)),
            ("/apis/", (200, JSON)),
            ("/apis/coordination.k8s.io", (200, JSON)),
            ("/apis/coordination.k8s.io/v1", (200, JSON)),
            ("/version", (200, JSON)),
            ("/version/", (200, JSON)),
            ("/healthz", (200, TEXT)),
            ("/readyz/ping", (200, TEXT)),
            ("/openapi/v3", (200, TEXT)),
            ("/openapi/v3/apis/coordination.k8s.io/v1", (200, JSON)),
            ("/openapi/v3/", (404, "")),
            ("/openapi/v3/apis/nope/v1", (404, "")),
            ("/openapi/v2", (200, JSON)),
            ("/openapi/v2/", (404, TEXT)),
            ("/openapi", (404, TEXT)),
            ("/nope", (404, TEXT)),
            ("/healthz/", (404, TEXT)),
            ("/healthz/nope", (404, TEXT)),
            ("//healthz", (404, TEXT)),
            ("/apis/nope", (404, TEXT)),
            ("/apis/nope/v1", (404, TEXT)),
            ("/api/v2", (404, "Status")),
            ("/apis/coordination.k8s.io/v9", (404, "Status")),
            ("/version/x", (404, "Status")),
        ] {
            let actual = match ask(Method::GET, target, &[]) {
                Ok(response) => (response.status().as_u16(), header(&response, CONTENT_TYPE).to_string()),
                Err(error) => (error.code(), "Status".to_string()),
            };
            assert_eq!((actual.0, actual.1.as_str()), expected, "{target}");
        }
        assert_eq!(get("/nope", &[]).body(), "404 page not found\n");
        for target in ["/api", "/api/v1", "/version"] {
            assert_eq!(ask(Method::POST, target, &[]).unwrap_err().code(), 405, "{target}");
        }
    }

    #[test]
    fn root_lists_what_answers() {
        let root: tree::Value = serde_json::from_slice(get("/", &[]).body()).unwrap();
        let paths: Vec<&str> = root["paths"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
        assert!(paths.is_sorted(), "{paths:?}");
        for path in paths
            .iter()
            .filter(|path| !path.contains("openid") && !["/openapi/v3/", metrics::PATH, metrics::SLIS].contains(path))
        {
            assert_eq!(get(path, &[]).status(), 200, "{path}");
        }
    }

    #[test]
    fn aggregated_discovery_is_revalidated() {
        let first = get("/apis", &[AGGREGATED]);
        assert_eq!(header(&first, CONTENT_TYPE), AGGREGATED_TYPE);
        assert_eq!((header(&first, VARY), header(&first, CACHE_CONTROL)), ("Accept", "public"));
        let etag = header(&first, ETAG);
        let second = get("/apis", &[AGGREGATED, (IF_NONE_MATCH, etag)]);
        assert_eq!((second.status().as_u16(), second.body().len(), header(&second, ETAG)), (304, 0, etag));
        assert_eq!(get("/api", &[AGGREGATED, (IF_NONE_MATCH, etag)]).status(), 200, "another document");
        assert_eq!(get("/apis", &[AGGREGATED, (IF_NONE_MATCH, "*")]).status(), 200);
        assert_eq!(ask(Method::GET, "/api/v1", &[AGGREGATED]).unwrap_err().code(), 406);
    }

    /// The types of kube-apiserver 1.37.
    #[test]
    fn discovery_in_protobuf() {
        const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
        let aggregated = AGGREGATED_TYPE.replace(JSON, PROTOBUF);
        for (target, accept, expected) in [
            ("/apis", PROTOBUF, Ok((PROTOBUF, "APIGroupList"))),
            ("/api", PROTOBUF, Ok((PROTOBUF, "APIVersions"))),
            ("/api/v1", PROTOBUF, Ok((PROTOBUF, "APIResourceList"))),
            ("/apis/coordination.k8s.io", PROTOBUF, Ok((PROTOBUF, "APIGroup"))),
            ("/api", &*aggregated, Ok((&*aggregated, "APIGroupDiscoveryList"))),
            ("/version", "application/vnd.kubernetes.protobuf,application/json", Ok((JSON, "gitVersion"))),
            ("/version", PROTOBUF, Err("406: Not Acceptable\n\nAvailable representations: application/json")),
        ] {
            let answer = ask(Method::GET, target, &[(ACCEPT, accept)]);
            let found = answer.as_ref().map_err(ToString::to_string).map(|response| {
                let body = String::from_utf8_lossy(response.body());
                (header(response, CONTENT_TYPE), expected.is_ok_and(|(_, kind)| body.contains(kind)))
            });
            assert_eq!(
                found,
                expected.map(|(content_type, _)| (content_type, true)).map_err(str::to_owned),
                "{target}"
            );
        }
    }

    /// The types of kube-apiserver 1.37.
    #[test]
    fn discovery_in_yaml() {
        let aggregated = AGGREGATED_TYPE.replace(JSON, YAML);
        for (target, accept, begin) in [
            ("/apis", YAML, "apiVersion: v1\ngroups:\n- name: "),
            ("/apis", &*aggregated, "apiVersion: apidiscovery.k8s.io/v2\nitems:\n- metadata:\n    name: "),
            ("/api", &*aggregated, "apiVersion: apidiscovery.k8s.io/v2\nitems:\n- metadata: {}\n"),
        ] {
            let answer = get(target, &[(ACCEPT, accept)]);
            assert_eq!(header(&answer, CONTENT_TYPE), accept);
            assert!(answer.body().starts_with(begin.as_bytes()), "{:?}", answer.body());
        }
    }

    #[test]
    fn openapi_documents_are_named_by_hash() {
        let index: tree::Value = serde_json::from_slice(get("/openapi/v3", &[]).body()).unwrap();
        let current = index["paths"]["api/v1"]["serverRelativeURL"].as_str().unwrap();
        let document = get(current, &[]);
        assert_eq!(header(&document, CACHE_CONTROL), "public, immutable");
        assert_eq!(header(&document, EXPIRES), "Sun, 21 Nov 2027 04:24:34 UTC");
        let openapi: tree::Value = serde_json::from_slice(document.body()).unwrap();
        let patch = &openapi["paths"]["/api/v1/namespaces/{namespace}/serviceaccounts/{name}"]["patch"];
        assert_eq!(patch["x-kubernetes-group-version-kind"]["kind"], "ServiceAccount");

        let etag = header(&document, ETAG);
        assert_eq!(get(current, &[(IF_NONE_MATCH, etag)]).status(), 304);
        assert_eq!(get("/openapi/v3/api/v1", &[(IF_NONE_MATCH, etag)]).status(), 304);
        for (tags, expected) in [
            ("*".to_owned(), 304),
            (format!("\"a,b\" ,, W/{etag}"), 304),
            (format!("\"a b\", {etag}"), 200),
            (format!("a, {etag}"), 200),
            ("\"".to_owned(), 200),
        ] {
            assert_eq!(get("/openapi/v3/api/v1", &[(IF_NONE_MATCH, &tags)]).status(), expected, "{tags}");
        }
        assert_eq!(header(&get("/openapi/v3/api/v1", &[]), CACHE_CONTROL), "");
        let moved = get("/openapi/v3/api/v1?hash=AB", &[]);
        assert_eq!((moved.status().as_u16(), header(&moved, LOCATION)), (301, current));
        assert_eq!(get(current, &[(ACCEPT, "text/plain")]).status(), 406);
    }

    #[test]
    fn people_get_indented_documents() {
        let curl = [(http::header::USER_AGENT, "curl/8.5.0")];
        for path in ["/api", "/apis", "/version", "/"] {
            assert!(get(path, &curl).body().starts_with(b"{\n  \""), "{path}");
        }
        assert!(get("/api?pretty=1", &[AGGREGATED]).body().starts_with(b"{\n  \""));
    }
}
