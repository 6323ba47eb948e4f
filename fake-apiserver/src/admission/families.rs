//! The metrics of admission.
//!
//! Follows `pkg/admission/metrics/metrics.go` and `pkg/admission/plugin/policy/{validating,mutating}/metrics/metrics.go` of
//! `k8s.io/apiserver` (v0.37.1).
//!
//! GAP: metrics: those of the phases of admission, of its plugins, and of match conditions

use crate::measures::Family;

/// The bounds of the durations of calls of webhooks.
const CALLS: &[u64] =
    &[5_000_000, 25_000_000, 100_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 10_000_000_000, 25_000_000_000];
/// The bounds of the durations of expressions of policies.
const CHECKS: &[u64] = &[500, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// The durations of calls of webhooks.
pub(crate) static CALL_DURATION: Family = Family {
    name: "apiserver_admission_webhook_admission_duration_seconds",
    help: "[STABLE] Admission webhook latency histogram in seconds, identified by name and broken out for each operation and API resource and type (validate or admit).",
    labels: &["name", "operation", "rejected", "type"],
    bounds: CALLS,
};

/// The webhooks that failed and were passed over.
pub(crate) static FAIL_OPEN: Family = Family {
    name: "apiserver_admission_webhook_fail_open_count",
    help: "[ALPHA] Admission webhook fail open count, identified by name and broken out for each admission type (validating or admit).",
    labels: &["name", "type"],
    bounds: &[],
};

/// The writes that were refused because of a webhook.
pub(crate) static REJECTIONS: Family = Family {
    name: "apiserver_admission_webhook_rejection_count",
    help: "[ALPHA] Admission webhook rejection count, identified by name and broken out for each admission type (validating or admit) and operation. Additional labels specify an error type (calling_webhook_error or apiserver_internal_error if an error occurred; no_error otherwise) and optionally a non-zero rejection code if the webhook rejects the request with an HTTP status code (honored by the apiserver when the code is greater or equal to 400). Codes greater than 600 are truncated to 600, to keep the metrics cardinality bounded.",
    labels: &["error_type", "name", "operation", "rejection_code", "type"],
    bounds: &[],
};

/// The calls of webhooks.
pub(crate) static CALLS_TOTAL: Family = Family {
    name: "apiserver_admission_webhook_request_total",
    help: "[ALPHA] Admission webhook request total, identified by name and broken out for each admission type (validating or admit) and operation. Additional labels specify whether the request was rejected or not and an HTTP status code. Codes greater than 600 are truncated to 600, to keep the metrics cardinality bounded.",
    labels: &["code", "name", "operation", "rejected", "type"],
    bounds: &[],
};

/// The durations of mutations by policies.
pub(crate) static MUTATION_DURATION: Family = Family {
    name: "apiserver_mutating_admission_policy_check_duration_seconds",
    help: "[ALPHA] Mutation admission latency for individual mutation expressions in seconds, labeled by policy and binding.",
    labels: &["error_type", "policy", "policy_binding"],
    bounds: CHECKS,
};

/// The mutations by policies.
pub(crate) static MUTATIONS_TOTAL: Family = Family {
    name: "apiserver_mutating_admission_policy_check_total",
    help: "[ALPHA] Mutation admission policy check total, labeled by policy and further identified by binding.",
    labels: &["error_type", "policy", "policy_binding"],
    bounds: &[],
};

/// The durations of validations by policies that failed.
pub(crate) static VALIDATION_DURATION: Family = Family {
    name: "apiserver_validating_admission_policy_check_duration_seconds",
    help: "[BETA] Validation admission latency for individual validation expressions in seconds, labeled by policy and further including binding and enforcement action taken.",
    labels: &["enforcement_action", "error_type", "policy", "policy_binding"],
    bounds: CHECKS,
};

/// The validations by policies that failed.
pub(crate) static VALIDATIONS_TOTAL: Family = Family {
    name: "apiserver_validating_admission_policy_check_total",
    help: "[BETA] Validation admission policy check total, labeled by policy and further identified by binding and enforcement action taken.",
    labels: &["enforcement_action", "error_type", "policy", "policy_binding"],
    bounds: &[],
};

/// All of them.
pub(crate) static FAMILIES: [&Family; 8] = [
    &CALL_DURATION,
    &FAIL_OPEN,
    &REJECTIONS,
    &CALLS_TOTAL,
    &MUTATION_DURATION,
    &MUTATIONS_TOTAL,
    &VALIDATION_DURATION,
    &VALIDATIONS_TOTAL,
];
