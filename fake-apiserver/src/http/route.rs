//! Routing by method and path: `RequestInfo` of `k8s.io/apiserver` (pkg/endpoints/request). Pure.

use http::Method;
use percent_encoding::percent_decode_str;
use std::borrow::Cow;

/// The parsed path of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route<'p> {
    /// A resource: `/api/{version}/…` or `/apis/{group}/{version}/…`.
    Resource(ResourcePath<'p>),
    /// Any other path: discovery, health, documents.
    Other,
}

/// The parts of a resource path; missing ones are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ResourcePath<'p> {
    pub(crate) group: &'p str,
    pub(crate) version: &'p str,
    pub(crate) namespace: &'p str,
    pub(crate) resource: &'p str,
    pub(crate) name: &'p str,
    pub(crate) subresource: &'p str,
    /// Whether it is in a namespace, even if that is empty.
    pub(crate) in_namespace: bool,
    /// Whether it has more elements than any resource's path.
    pub(crate) overlong: bool,
    /// Whether it has the deprecated prefix `/watch/`.
    pub(crate) watch_prefix: bool,
}

impl ResourcePath<'_> {
    /// The namespace for authorizers and auditors: a namespace is in itself.
    pub(crate) fn namespace(&self) -> &str {
        if self.group.is_empty() && self.resource == "namespaces" { self.name } else { self.namespace }
    }
}

/// A path without its escapes; invalid UTF-8 is replaced.
pub(super) fn decoded(path: &str) -> Cow<'_, str> {
    if path.contains('%') { percent_decode_str(path).decode_utf8_lossy() } else { path.into() }
}

/// Splits a path whose escapes are decoded.
pub(crate) fn route(path: &str) -> Route<'_> {
    let mut parts = path.trim_start_matches('/').trim_end_matches('/').split('/');
    let (group, version) = match parts.next() {
        Some("api") => ("", parts.next()),
        Some("apis") => (parts.next().unwrap_or_default(), parts.next()),
        _ => return Route::Other,
    };
    let (Some(version), Some(mut resource)) = (version, parts.next()) else { return Route::Other };
    let mut found = ResourcePath { group, version, ..ResourcePath::default() };
    if resource == "watch" {
        let Some(next) = parts.next() else { return Route::Other };
        found.watch_prefix = true;
        resource = next;
    }
    let mut rest: Vec<&str> = parts.collect();
    // `namespaces/{ns}/{resource}/…`, unless it is an object `namespaces/{name}` or one of its subresources.
    found.in_namespace = resource == "namespaces" && rest.len() >= 2 && !matches!(rest[1], "status" | "finalize");
    if found.in_namespace {
        found.namespace = rest[0];
        resource = rest[1];
        rest.drain(..2);
    }
    found.resource = resource;
    found.name = rest.first().copied().unwrap_or_default();
    found.subresource = rest.get(1).copied().unwrap_or_default();
    found.overlong = rest.len() > 2;
    Route::Resource(found)
}

/// The verb for authorization, auditing and faults.
pub(crate) fn verb(method: &Method, has_name: bool, watch: bool) -> &'static str {
    match *method {
        Method::GET | Method::HEAD if has_name => "get",
        Method::GET | Method::HEAD if watch => "watch",
        Method::GET | Method::HEAD => "list",
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE if has_name => "delete",
        Method::DELETE => "deletecollection",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The group/version, namespace, resource, name and subresource of a path; "-" if it is not a resource's.
    fn describe(path: &str) -> String {
        match route(path) {
            Route::Other => "-".into(),
            Route::Resource(found) => format!(
                "{}/{} {} {} {} {}{}{}{}",
                found.group,
                found.version,
                found.namespace,
                found.resource,
                found.name,
                found.subresource,
                if found.overlong { " overlong" } else { "" },
                if found.watch_prefix { " watch" } else { "" },
                if found.in_namespace && found.namespace.is_empty() { " namespaced" } else { "" },
            ),
        }
    }

    #[test]
    fn paths() {
        let cases = [
            ("/", "-"),
            ("/api", "-"),
            ("/api/v1", "-"),
            ("/apis/apps", "-"),
            ("/apis/apps/v1/", "-"),
            ("/healthz", "-"),
            ("//api/v1/pods", "/v1  pods  "),
            ("/api/v1/pods", "/v1  pods  "),
            ("/api/v1/pods/", "/v1  pods  "),
            ("/api/v1/nodes/n", "/v1  nodes n "),
            ("/api/v1/namespaces", "/v1  namespaces  "),
            ("/api/v1/namespaces/a", "/v1  namespaces a "),
            ("/api/v1/namespaces/a/finalize", "/v1  namespaces a finalize"),
            ("/api/v1/namespaces/a/pods", "/v1 a pods  "),
            ("/api/v1/namespaces/a/pods/p", "/v1 a pods p "),
            ("/api/v1/namespaces/a/pods/p/status", "/v1 a pods p status"),
            ("/api/v1/namespaces/a/pods/p/x/y", "/v1 a pods p x overlong"),
            ("/api/v1/namespaces/a/pods//q", "/v1 a pods  q"),
            ("/api/v1/namespaces//pods/p", "/v1  pods p  namespaced"),
            ("/api/v1/watch/namespaces/a/pods", "/v1 a pods   watch"),
            ("/apis/g/v1/namespaces/a/leases/l", "g/v1 a leases l "),
        ];
        for (path, expected) in cases {
            assert_eq!(describe(path), expected, "{path}");
        }
    }
}
