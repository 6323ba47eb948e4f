//! `/healthz`, `/livez`, `/readyz` and their checks.
//!
//! Follows `k8s.io/apiserver/pkg/server/healthz/healthz.go` v0.37.1. It has those of upstream's checks that are requested
//! by name in practice. All pass while the server runs; once it shuts down, `shutdown` fails, and `/readyz` with it.

use super::respond::plain_text;
use crate::api::request::Query;
use bytes::Bytes;
use http::header::X_CONTENT_TYPE_OPTIONS;
use http::{Response, StatusCode};
use std::fmt::Write;

const CHECKS: &[&str] = &["ping", "log", "etcd"];
const READY_CHECKS: &[&str] = &["ping", "log", "etcd", "informer-sync", SHUTDOWN];
const SHUTDOWN: &str = "shutdown";

/// The endpoints with their checks.
const ENDPOINTS: &[(&str, &[&str])] = &[("healthz", CHECKS), ("livez", CHECKS), ("readyz", READY_CHECKS)];

/// The paths of all endpoints and checks.
pub(crate) fn paths() -> impl Iterator<Item = String> {
    ENDPOINTS.iter().flat_map(|(endpoint, checks)| {
        let checks = checks.iter().map(move |check| format!("/{endpoint}/{check}"));
        std::iter::once(format!("/{endpoint}")).chain(checks)
    })
}

/// The response at `path`, if it is one of [`paths`].
pub(crate) fn answer(path: &str, query: &Query<'_>, shutting_down: bool) -> Option<Response<Bytes>> {
    let (endpoint, check) = match path.strip_prefix('/')?.split_once('/') {
        Some((endpoint, check)) => (endpoint, Some(check)),
        None => (path.strip_prefix('/')?, None),
    };
    let (endpoint, checks) = ENDPOINTS.iter().find(|(name, _)| *name == endpoint)?;
    let passes = |check: &str| check != SHUTDOWN || !shutting_down;
    match check {
        None => Some(all(endpoint, checks, passes, query)),
        Some(check) if !checks.contains(&check) => None,
        // Upstream sets no type, which is then guessed.
        Some(check) if passes(check) => {
            let mut response = plain_text(StatusCode::OK, "ok");
            response.headers_mut().remove(X_CONTENT_TYPE_OPTIONS);
            Some(response)
        }
        Some(_) => {
            let text = "internal server error: process is shutting down\n";
            Some(plain_text(StatusCode::INTERNAL_SERVER_ERROR, text))
        }
    }
}

/// The response for all checks of an endpoint but the excluded ones; a line for each if verbose, or if one fails.
fn all(endpoint: &str, checks: &[&str], passes: impl Fn(&str) -> bool, query: &Query<'_>) -> Response<Bytes> {
    let is_excluded = |check: &str| query.all("exclude").any(|name| name == check);
    let mut lines = String::new();
    let mut healthy = true;
    for check in checks {
        let (sign, outcome) = match () {
            () if is_excluded(check) => ('+', "excluded: ok"),
            () if passes(check) => ('+', "ok"),
            () => ('-', "failed: reason withheld"),
        };
        healthy &= sign == '+';
        writeln!(lines, "[{sign}]{check} {outcome}").expect("writing to a String cannot fail");
    }
    let mut unknown: Vec<&str> = query.all("exclude").filter(|name| !checks.contains(name)).collect();
    unknown.sort_unstable();
    unknown.dedup();
    if !unknown.is_empty() {
        let names: Vec<String> = unknown.iter().map(|name| format!("{name:?}")).collect();
        let names = names.join(",");
        writeln!(lines, "warn: some health checks cannot be excluded: no matches for {names}")
            .expect("writing to a String cannot fail");
    }
    match healthy {
        false => plain_text(StatusCode::INTERNAL_SERVER_ERROR, format!("{lines}{endpoint} check failed\n")),
        true if query.has("verbose") => plain_text(StatusCode::OK, format!("{lines}{endpoint} check passed\n")),
        true => plain_text(StatusCode::OK, "ok"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(path: &str, query: &str, shutting_down: bool) -> Option<(u16, String)> {
        let response = answer(path, &Query::parse(query), shutting_down)?;
        Some((response.status().as_u16(), String::from_utf8(response.body().to_vec()).unwrap()))
    }

    /// The answers of kube-apiserver 1.37, without the checks that do not exist here.
    #[test]
    fn answers() {
        for (path, query, expected) in [
            ("/healthz", "", "ok"),
            ("/livez", "", "ok"),
            ("/readyz", "exclude=etcd", "ok"),
            ("/livez/ping", "verbose", "ok"),
            ("/healthz", "verbose", "[+]ping ok\n[+]log ok\n[+]etcd ok\nhealthz check passed\n"),
            ("/livez", "exclude=etcd&verbose=", "[+]ping ok\n[+]log ok\n[+]etcd excluded: ok\nlivez check passed\n"),
            (
                "/livez",
                "exclude=nope&exclude=b&verbose=false",
                "[+]ping ok\n[+]log ok\n[+]etcd ok\n\
                 warn: some health checks cannot be excluded: no matches for \"b\",\"nope\"\nlivez check passed\n",
            ),
        ] {
            assert_eq!(ask(path, query, false), Some((200, expected.to_string())), "{path}?{query}");
        }
        for path in ["/healthz/", "/healthz/nope", "/healthz/shutdown", "/nope", "/", ""] {
            assert_eq!(ask(path, "", false), None, "{path}");
        }
        for path in paths() {
            assert_eq!(ask(&path, "", false), Some((200, "ok".to_string())), "{path}");
        }
    }

    #[test]
    fn readiness_ends_with_shutdown() {
        let failed = "[+]ping ok\n[+]log ok\n[+]etcd ok\n[+]informer-sync ok\n\
                      [-]shutdown failed: reason withheld\nreadyz check failed\n";
        assert_eq!(ask("/readyz", "", true), Some((500, failed.to_string())));
        assert_eq!(ask("/readyz", "exclude=shutdown", true).unwrap().0, 200);
        assert_eq!(ask("/readyz/shutdown", "", true).unwrap().0, 500);
        assert_eq!(ask("/livez", "", true), Some((200, "ok".to_string())));
    }
}
