//! The endpoint `/healthz` and its checks.
//!
//! Follows apiserver v0.37.1 `pkg/server/healthz/healthz.go` (`handleRootHealth`). As in kube-controller-manager single checks
//! have no paths of their own. Names are compared with the raw query; none of them needs escaping.

use super::reply::text;
use http::{Response, StatusCode};
use http_body_util::Full;
use hyper::body::Bytes;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A health check with its result.
pub(super) struct Check<'a> {
    pub(super) name: &'a str,
    pub(super) passes: bool,
}

/// The response about all `checks` but those that the query excludes; a line for each with `verbose` or if one fails.
pub(super) fn answer(checks: &[Check<'_>], query: &str) -> Response<Full<Bytes>> {
    let pairs = || query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let excluded: BTreeSet<&str> = pairs().filter(|(key, _)| *key == "exclude").map(|(_, name)| name).collect();
    let mut lines = String::new();
    let mut healthy = true;
    for Check { name, passes } in checks {
        let (sign, outcome) = match () {
            () if excluded.contains(name) => ('+', "excluded: ok"),
            () if *passes => ('+', "ok"),
            () => ('-', "failed: reason withheld"),
        };
        healthy &= sign == '+';
        writeln!(lines, "[{sign}]{name} {outcome}").expect("writing to a String cannot fail");
    }
    let unknown = excluded.iter().filter(|name| checks.iter().all(|check| check.name != **name));
    let unknown: Vec<String> = unknown.map(|name| format!("{name:?}")).collect();
    if !unknown.is_empty() {
        let names = unknown.join(",");
        writeln!(lines, "warn: some health checks cannot be excluded: no matches for {names}")
            .expect("writing to a String cannot fail");
    }
    match healthy {
        false => text(StatusCode::INTERNAL_SERVER_ERROR, lines + "healthz check failed\n"),
        true if pairs().any(|(key, _)| key == "verbose") => text(StatusCode::OK, lines + "healthz check passed\n"),
        true => text(StatusCode::OK, "ok".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;

    async fn ask(leader_is_well: bool, query: &str) -> (u16, String) {
        let leader = Check { name: "leaderElection", passes: leader_is_well };
        let response = answer(&[leader, Check { name: "a-controller", passes: true }], query);
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.expect("it is whole").to_bytes();
        (status, String::from_utf8(body.to_vec()).expect("text"))
    }

    #[tokio::test]
    async fn what_is_excluded_is_well_and_what_is_not_known_is_named() {
        let ill = "[-]leaderElection failed: reason withheld\n[+]a-controller ok\n";
        for (well, query, code, expected) in [
            (true, "", 200, "ok".to_owned()),
            (true, "exclude=nope", 200, "ok".to_owned()),
            (true, "verbose", 200, "[+]leaderElection ok\n[+]a-controller ok\nhealthz check passed\n".to_owned()),
            (
                true,
                "verbose=false&exclude=nope&exclude=a-controller&exclude=b",
                200,
                "[+]leaderElection ok\n[+]a-controller excluded: ok\n\
                 warn: some health checks cannot be excluded: no matches for \"b\",\"nope\"\nhealthz check passed\n"
                    .to_owned(),
            ),
            (false, "", 500, format!("{ill}healthz check failed\n")),
            (
                false,
                "exclude=leader",
                500,
                format!(
                    "{ill}warn: some health checks cannot be excluded: no matches for \"leader\"\nhealthz check failed\n"
                ),
            ),
            (false, "exclude=leaderElection", 200, "ok".to_owned()),
        ] {
            assert_eq!(ask(well, query).await, (code, expected), "{well} {query}");
        }
    }
}
