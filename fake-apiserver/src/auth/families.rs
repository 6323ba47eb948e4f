//! The metrics of authentication and authorization that are measured as they happen.
//!
//! Follows `pkg/authorization/{cel,metrics}`, `plugin/pkg/authorizer/webhook/metrics` and `plugin/pkg/authenticator/token/oidc/metrics.go` of
//! `k8s.io/apiserver` (v0.37.1).

use crate::measures::Family;

/// The bounds of the durations of calls of webhooks (`DefBuckets`).
const CALLS: &[u64] = &[
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
];
/// The bounds of the durations of match conditions.
const CONDITIONS: &[u64] = &[1_000_000, 5_000_000, 10_000_000, 25_000_000, 100_000_000, 200_000_000, 250_000_000];
/// The bounds of the durations of the verification of tokens.
const TOKENS: &[u64] = &[
    1_000_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
];

/// The time that the verification of a token of another issuer takes.
pub(crate) static TOKEN_DURATION: Family = Family {
    name: "apiserver_authentication_jwt_authenticator_latency_seconds",
    help: "[ALPHA] Latency of jwt authentication operations in seconds. This is the time spent authenticating a token for cache miss only (i.e. when the token is not found in the cache).",
    labels: &["jwt_issuer_hash", "result"],
    bounds: TOKENS,
};

/// The match conditions that failed.
pub(crate) static CONDITION_ERRORS: Family = Family {
    name: "apiserver_authorization_match_condition_evaluation_errors_total",
    help: "[ALPHA] Total number of errors when an authorization webhook encounters a match condition error split by authorizer type and name.",
    labels: &["name", "type"],
    bounds: &[],
};

/// The time that match conditions take.
pub(crate) static CONDITION_DURATION: Family = Family {
    name: "apiserver_authorization_match_condition_evaluation_seconds",
    help: "[ALPHA] Authorization match condition evaluation time in seconds, split by authorizer type and name.",
    labels: &["name", "type"],
    bounds: CONDITIONS,
};

/// The requests that a webhook was not asked about, as a condition is false.
pub(crate) static CONDITION_EXCLUSIONS: Family = Family {
    name: "apiserver_authorization_match_condition_exclusions_total",
    help: "[ALPHA] Total number of exclusions when an authorization webhook is skipped because match conditions exclude it.",
    labels: &["name", "type"],
    bounds: &[],
};

/// The time that calls of webhooks take.
pub(crate) static CALL_DURATION: Family = Family {
    name: "apiserver_authorization_webhook_duration_seconds",
    help: "[ALPHA] Request latency in seconds.",
    labels: &["name", "result"],
    bounds: CALLS,
};

/// The calls that failed, so that others decided.
pub(crate) static CALLS_FAIL_OPEN: Family = Family {
    name: "apiserver_authorization_webhook_evaluations_fail_open_total",
    help: "[ALPHA] NoOpinion results due to webhook timeout or error.",
    labels: &["name", "result"],
    bounds: &[],
};

/// The calls of webhooks.
pub(crate) static CALLS_TOTAL: Family = Family {
    name: "apiserver_authorization_webhook_evaluations_total",
    help: "[ALPHA] Round-trips to authorization webhooks.",
    labels: &["name", "result"],
    bounds: &[],
};

/// All of them.
pub(crate) static FAMILIES: [&Family; 7] = [
    &TOKEN_DURATION,
    &CONDITION_ERRORS,
    &CONDITION_DURATION,
    &CONDITION_EXCLUSIONS,
    &CALL_DURATION,
    &CALLS_FAIL_OPEN,
    &CALLS_TOTAL,
];
