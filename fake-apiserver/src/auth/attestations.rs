//! Static rules of `spec.attestations` in token requests, which only tokens for admission webhooks may carry.
//!
//! Ports `pkg/apis/authentication/validation` (v1.37.1). The tokens themselves need a feature gate that is off.

use crate::error::FieldError;
use crate::user::is_subdomain;
use tree::Value;

const PATH: &str = "spec.attestations";
/// `AttestationAdmissionReviewAPIGroups`.
const API_GROUPS: &str = "admissionReviewAPIGroups";

/// Whether a bound object reference is to a webhook configuration.
pub(super) fn is_webhook(reference: &Value) -> bool {
    matches!(reference["kind"].as_str(), Some("ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration"))
        && reference["apiVersion"] == "admissionregistration.k8s.io/v1"
}

/// Whether a request has attestations.
pub(super) fn any(attestations: &Value) -> bool {
    attestations.as_object().is_some_and(|attestations| !attestations.is_empty())
}

/// The finding about attestations of a token without a webhook, which must not have any.
pub(super) fn misplaced(attestations: &Value) -> FieldError {
    let detail = "attestations may only be specified with a webhook bound object reference";
    FieldError::invalid(PATH, attestations, detail)
}

/// Findings about the attestations of a webhook's token.
pub(super) fn validate(attestations: &Value) -> Vec<FieldError> {
    let one = attestations.as_object().filter(|attestations| attestations.len() == 1);
    let Some((key, values)) = one.and_then(|attestations| attestations.iter().next()) else {
        let detail = "webhook bound requests require exactly one admissionReviewAPIGroups attestation";
        return vec![FieldError::invalid(PATH, attestations, detail)];
    };
    let path = format!("{PATH}[{key}]");
    if key != API_GROUPS {
        return vec![FieldError::unsupported(path, &Value::from(key.as_str()), &[API_GROUPS])];
    }
    let [group] = values.as_array().map(Vec::as_slice).unwrap_or_default() else {
        return vec![FieldError::invalid(path, values, "must specify a single value")];
    };
    let path = format!("{path}[0]");
    match group.as_str().unwrap_or_default() {
        "" => vec![FieldError::invalid(path, group, "may not be an empty string")],
        "*" => Vec::new(),
        text if is_subdomain(text) => Vec::new(),
        _ => vec![FieldError::invalid(path, group, format!("must specify a valid API Group: {SUBDOMAIN}"))],
    }
}

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
    '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
