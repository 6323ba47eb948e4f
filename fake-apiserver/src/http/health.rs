//! `/healthz`, `/livez`, `/readyz` and their checks.
//!
//! Follows `k8s.io/apiserver/pkg/server/healthz/healthz.go` v0.37.1. The checks are those of a real server with the same flags. All
//! pass while the server runs; once it shuts down, `shutdown` fails, and `/readyz` with it, and so it does while a test says that the server is
//! not ready.

use super::metrics::HealthChecks;
use super::respond::plain_text;
use crate::api::request::Query;
use bytes::Bytes;
use http::header::X_CONTENT_TYPE_OPTIONS;
use http::{Response, StatusCode};
use std::fmt::Write;

const ENDPOINTS: [&str; 3] = ["healthz", "livez", "readyz"];
const LIVE: &[&str] = &["healthz", "livez"];
const READY: &[&str] = &["readyz"];
const SHUTDOWN: &str = "shutdown";
/// The check of a server with RBAC.
const RBAC: &str = "poststarthook/rbac/bootstrap-roles";
/// The checks of a server with priority and fairness, and that of one without.
const FAIRNESS: [&str; 2] =
    ["poststarthook/priority-and-fairness-config-consumer", "poststarthook/priority-and-fairness-filter"];
const IN_FLIGHT: &str = "poststarthook/max-in-flight-filter";

/// The checks with their endpoints, in the order of the verbose answer.
const CHECKS: [(&str, &[&str]); 38] = [
    ("ping", &ENDPOINTS),
    ("log", &ENDPOINTS),
    ("loopback-serving-certificate", LIVE),
    ("etcd", &ENDPOINTS),
    ("etcd-readiness", READY),
    ("informer-sync", READY),
    ("poststarthook/start-apiserver-admission-initializer", &ENDPOINTS),
    ("poststarthook/generic-apiserver-start-informers", &ENDPOINTS),
    (FAIRNESS[0], &ENDPOINTS),
    (FAIRNESS[1], &ENDPOINTS),
    (IN_FLIGHT, &ENDPOINTS),
    ("poststarthook/storage-object-count-tracker-hook", &ENDPOINTS),
    ("poststarthook/start-apiextensions-informers", &ENDPOINTS),
    ("poststarthook/start-apiextensions-controllers", &ENDPOINTS),
    ("poststarthook/crd-informer-synced", &ENDPOINTS),
    ("poststarthook/start-system-namespaces-controller", &ENDPOINTS),
    ("poststarthook/peer-endpoint-reconciler-controller", &ENDPOINTS),
    ("poststarthook/start-cluster-authentication-info-controller", &ENDPOINTS),
    ("poststarthook/start-kube-apiserver-identity-lease-controller", &ENDPOINTS),
    ("poststarthook/start-kube-apiserver-identity-lease-garbage-collector", &ENDPOINTS),
    ("poststarthook/storage-readiness", &ENDPOINTS),
    ("poststarthook/start-legacy-token-tracking-controller", &ENDPOINTS),
    ("poststarthook/start-service-ip-repair-controllers", &ENDPOINTS),
    (RBAC, &ENDPOINTS),
    ("poststarthook/scheduling/bootstrap-system-priority-classes", &ENDPOINTS),
    ("poststarthook/priority-and-fairness-config-producer", &ENDPOINTS),
    ("poststarthook/bootstrap-controller", &ENDPOINTS),
    ("poststarthook/start-kubernetes-service-cidr-controller", &ENDPOINTS),
    ("poststarthook/start-kube-aggregator-informers", &ENDPOINTS),
    ("poststarthook/apiservice-status-local-available-controller", &ENDPOINTS),
    ("poststarthook/apiservice-status-remote-available-controller", &ENDPOINTS),
    ("poststarthook/apiservice-registration-controller", &ENDPOINTS),
    ("poststarthook/apiservice-discovery-controller", &ENDPOINTS),
    ("poststarthook/kube-apiserver-autoregistration", &ENDPOINTS),
    ("autoregister-completion", &ENDPOINTS),
    ("poststarthook/apiservice-openapi-controller", &ENDPOINTS),
    ("poststarthook/apiservice-openapiv3-controller", &ENDPOINTS),
    (SHUTDOWN, READY),
];

/// The state of a server, as far as checks depend on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Health {
    /// Whether RBAC authorizes.
    pub(crate) rbac: bool,
    /// Whether there is priority and fairness.
    pub(crate) is_fair: bool,
    /// Whether it shuts down, or looks as if it did.
    pub(crate) shutting_down: bool,
}

impl Health {
    /// The checks of an endpoint.
    fn checks(self, endpoint: &str) -> Vec<&'static str> {
        let all = CHECKS.into_iter().filter(|(_, endpoints)| endpoints.contains(&endpoint)).map(|(check, _)| check);
        let has = |check: &str| match check {
            RBAC => self.rbac,
            IN_FLIGHT => !self.is_fair,
            check => self.is_fair || !FAIRNESS.contains(&check),
        };
        all.filter(|check| has(check)).collect()
    }

    /// The paths of all endpoints and checks.
    pub(crate) fn paths(self) -> impl Iterator<Item = String> {
        ENDPOINTS.into_iter().flat_map(move |endpoint| {
            let checks = self.checks(endpoint).into_iter().map(move |check| format!("/{endpoint}/{check}"));
            std::iter::once(format!("/{endpoint}")).chain(checks)
        })
    }

    /// The response at `path`, if it is one of [`paths`](Self::paths). The checks of an endpoint are counted.
    pub(crate) fn answer(self, path: &str, query: &Query<'_>, counts: &HealthChecks) -> Option<Response<Bytes>> {
        let (endpoint, check) = match path.strip_prefix('/')?.split_once('/') {
            Some((endpoint, check)) => (endpoint, Some(check)),
            None => (path.strip_prefix('/')?, None),
        };
        let endpoint = ENDPOINTS.into_iter().find(|known| *known == endpoint)?;
        let checks = self.checks(endpoint);
        let passes = |check: &str| check != SHUTDOWN || !self.shutting_down;
        match check {
            None => {
                let passes = |check: &'static str| {
                    let passed = passes(check);
                    counts.note(check, endpoint, passed);
                    passed
                };
                Some(all(endpoint, &checks, passes, query))
            }
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
}

/// The response for all checks of an endpoint but the excluded ones; a line for each if verbose, or if one fails.
fn all(
    endpoint: &str,
    checks: &[&'static str],
    passes: impl Fn(&'static str) -> bool,
    query: &Query<'_>,
) -> Response<Bytes> {
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
    use jiff::Timestamp;

    fn ask(path: &str, query: &str, shutting_down: bool) -> Option<(u16, String)> {
        let counts = HealthChecks::new(Timestamp::UNIX_EPOCH);
        let response =
            Health { rbac: false, is_fair: true, shutting_down }.answer(path, &Query::parse(query), &counts)?;
        Some((response.status().as_u16(), String::from_utf8(response.body().to_vec()).unwrap()))
    }

    #[test]
    fn every_path_has_an_answer_and_others_have_none() {
        for rbac in [false, true] {
            let health = Health { rbac, is_fair: !rbac, shutting_down: false };
            let counts = HealthChecks::new(Timestamp::UNIX_EPOCH);
            for path in health.paths() {
                let response = health.answer(&path, &Query::parse(""), &counts).expect(&path);
                assert_eq!((response.status(), &**response.body()), (StatusCode::OK, &b"ok"[..]), "{path}");
            }
            assert_eq!(health.answer(&format!("/livez/{RBAC}"), &Query::parse(""), &counts).is_some(), rbac);
        }
        for path in ["/healthz/", "/healthz/nope", "/healthz/shutdown", "/livez/poststarthook", "/nope", "/", ""] {
            assert_eq!(ask(path, "", false), None, "{path}");
        }
    }

    #[test]
    fn readiness_ends_with_shutdown() {
        let (code, text) = ask("/readyz", "", true).unwrap();
        assert_eq!(code, 500);
        assert!(text.ends_with("\n[-]shutdown failed: reason withheld\nreadyz check failed\n"), "{text}");
        assert_eq!(ask("/readyz", "exclude=shutdown", true).unwrap().0, 200);
        assert_eq!(ask("/readyz/shutdown", "", true).unwrap().0, 500);
        assert_eq!(ask("/livez", "", true), Some((200, "ok".to_string())));
    }
}
