//! The address of a webhook, which is a URL or a service, and the versions of reviews that it accepts.
//!
//! Follows `pkg/util/webhook/validation.go` of `k8s.io/apiserver` (v0.37.1), and `validateAdmissionReviewVersions` of
//! `pkg/apis/admissionregistration/validation/validation.go` (v1.37.1).

use crate::error::{Errors, FieldError, Path};
use crate::object::{name, url};
use std::collections::HashSet;
use tree::Value;

/// The versions of reviews that the server sends, of admission and of conversion alike, sorted.
pub(in crate::registry) const REVIEWS: [&str; 2] = ["v1", "v1beta1"];

/// Whether the server sends reviews of a version.
pub(in crate::registry) fn is_known_review(version: &Value) -> bool {
    REVIEWS.iter().any(|known| version == known)
}

/// Rules for the versions of reviews, if there are any; `strict`: one of them must be known.
pub(in crate::registry) fn review_versions(at: Path<'_>, versions: &[Value], strict: bool, errors: &mut Errors) {
    let mut seen = HashSet::new();
    for (index, version) in versions.iter().enumerate() {
        let version = version.as_str().unwrap_or_default();
        match seen.insert(version) {
            true => errors.invalid_each(at.index(index), version, name::dns1035_label(version)),
            false => errors.invalid(at.index(index), version, "duplicate version"),
        }
    }
    if strict && !versions.iter().any(is_known_review) {
        let detail = format!("must include at least one of {}", REVIEWS.join(", "));
        errors.push(FieldError::invalid(at, &versions.into(), detail));
    }
}

/// Rules for a `WebhookClientConfig`, the certificates excepted: either a URL or a service.
pub(in crate::registry) fn webhook_client(at: Path<'_>, client: &Value, errors: &mut Errors) {
    match (client.get("url"), client.get("service")) {
        (Some(url), None) => webhook_url(at.child("url"), url.as_str().unwrap_or_default(), errors),
        (None, Some(service)) => webhook_service(at.child("service"), service, errors),
        _ => errors.required(at, "exactly one of url or service is required"),
    }
}

/// `ValidateWebhookURL`.
fn webhook_url(at: Path<'_>, text: &str, errors: &mut Errors) {
    const FORM: &str = "; desired format: https://host[/path]";
    let url = match url::parse(text) {
        Ok(url) => url,
        Err(error) => return errors.required(at, &format!("url must be a valid URL: {error}{FORM}")),
    };
    if url.scheme != "https" {
        errors.invalid(at, url.scheme, format!("'https' is the only allowed URL scheme{FORM}"));
    }
    if url.host.is_empty() {
        errors.invalid(at, "", format!("host must be specified{FORM}"));
    }
    if let Some(user) = url.user {
        errors.invalid(at, user, "user information is not permitted in the URL");
    }
    if !url.fragment.is_empty() {
        errors.invalid(at, url.fragment, "fragments are not permitted in the URL");
    }
    if !url.query.is_empty() {
        errors.invalid(at, url.query, "query parameters are not permitted in the URL");
    }
}

/// `ValidateWebhookService`, which upstream calls with name and namespace swapped.
fn webhook_service(at: Path<'_>, service: &Value, errors: &mut Errors) {
    let text = |field: &str| service[field].as_str().unwrap_or_default();
    errors.set(at.child("name"), text("namespace"));
    errors.set(at.child("namespace"), text("name"));
    let port = service.get("port").and_then(Value::as_i64).unwrap_or_default();
    if !(1..=65535).contains(&port) {
        errors.invalid(at.child("port"), port, "port is not valid: must be between 1 and 65535, inclusive");
    }
    let (at, path) = (at.child("path"), text("path"));
    match path {
        "" | "/" => return,
        "//" => return errors.invalid(at, path, "segment[0] may not be empty"),
        _ if !path.starts_with('/') => errors.invalid(at, path, "must start with a '/'"),
        _ => {}
    }
    // The first byte is skipped as the slash, whatever it is.
    let rest = path.get(1..).unwrap_or_default();
    for (index, step) in rest.strip_suffix('/').unwrap_or(rest).split('/').enumerate() {
        if step.is_empty() {
            errors.invalid(at, path, format!("segment[{index}] may not be empty"));
            continue;
        }
        for objection in name::dns_subdomain(step) {
            errors.invalid(at, path, format!("segment[{index}]: {objection}"));
        }
    }
}
