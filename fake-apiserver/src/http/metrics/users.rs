//! The metrics about authorizers, and about issuers of tokens.

use super::families::{Families, Kind};
use crate::http::replica::Replica;
use crate::reconcile::server_id;
use crate::reloads::hash_of;

/// Adds the decisions of authorizers (`pkg/authorization/metrics` of `k8s.io/apiserver`, v0.37.1).
pub(super) fn decisions(families: &mut Families, replica: &Replica) {
    families.family(
        "apiserver_authorization_decisions_total",
        "[ALPHA] Total number of terminal decisions made by an authorizer split by authorizer type, name, and decision.",
        Kind::Counter,
    );
    let mut all: Vec<(&str, String, &str, u64)> = Vec::new();
    for ((kind, name), counts) in replica.cluster.policy.authorizer.decisions() {
        let some = counts.into_iter().filter(|(_, count)| *count > 0);
        all.extend(some.map(|(decision, count)| (decision, name.clone(), kind, count)));
    }
    all.sort_unstable();
    for (decision, name, kind, count) in all {
        families.sample(&[("decision", decision), ("name", &name), ("type", kind)], count as f64);
    }
}

/// Adds the fetches of issuers' keys (`plugin/pkg/authenticator/token/oidc/metrics.go` there).
pub(super) fn fetches(families: &mut Families, replica: &Replica) {
    let server = hash_of(server_id(replica.index).as_bytes());
    let fetches = replica.cluster.policy.others.issuers().fetches();
    let mut all: Vec<_> = fetches.into_iter().map(|(url, told)| (hash_of(url.as_bytes()), told)).collect();
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    families.family(
        "apiserver_authentication_jwt_authenticator_jwks_fetch_last_key_set_info",
        "[ALPHA] Information about the last JWKS fetched by the JWT authenticator with hash as label, split by api server identity and jwt issuer.",
        Kind::Gauge,
    );
    for (issuer, told) in &all {
        if let Some(hash) = &told.hash {
            families.sample(&[("apiserver_id_hash", &server), ("hash", hash), ("jwt_issuer_hash", issuer)], 1.0);
        }
    }
    families.family(
        "apiserver_authentication_jwt_authenticator_jwks_fetch_last_timestamp_seconds",
        "[ALPHA] Timestamp of the last successful or failed JWKS fetch split by result, api server identity and jwt issuer for the JWT authenticator.",
        Kind::Gauge,
    );
    for (issuer, told) in &all {
        for (result, time) in [("failure", told.failed), ("success", told.succeeded)] {
            if let Some(time) = time {
                let labels = [("apiserver_id_hash", &*server), ("jwt_issuer_hash", issuer), ("result", result)];
                families.sample(&labels, time.as_duration().as_secs_f64());
            }
        }
    }
}
