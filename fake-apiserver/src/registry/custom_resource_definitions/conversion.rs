//! The conversion between the versions of a definition.
//!
//! Follows `validateCustomResourceConversion` of `pkg/apis/apiextensions/validation/validation.go` of
//! `k8s.io/apiextensions-apiserver`, and `pkg/util/webhook/validation.go` of `k8s.io/apiserver` (v0.37.1). Not ported: Go's
//! errors of parsing certificates in well-formed PEM.

use super::leniency::Leniency;
use super::visit::word;
use super::{items, text};
use crate::error::{Errors, FieldError, Path};
use crate::object::{name, url};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use std::collections::HashSet;
use tree::Value;

/// `acceptedConversionReviewVersions`, sorted.
const REVIEWS: [&str; 2] = ["v1", "v1beta1"];

pub(super) fn is_known_review(version: &Value) -> bool {
    REVIEWS.iter().any(|known| version == known)
}

/// `validateCustomResourceConversion`, with the field names of the internal version.
pub(super) fn conversion(at: Path<'_>, conversion: &Value, leniency: &Leniency, errors: &mut Errors) {
    if conversion.is_null() {
        return;
    }
    let strategy = word(conversion, "strategy");
    errors.one_of(at.child("strategy"), strategy, &["None", "Webhook"]);
    let client = conversion.get("webhook").and_then(|webhook| webhook.get("clientConfig"));
    let reviews = items(conversion, "/webhook/conversionReviewVersions");
    let (here, versions) = (at.child("webhookClientConfig"), at.child("conversionReviewVersions"));
    if strategy != "Webhook" {
        let detail = "should not be set when strategy is not set to Webhook";
        if client.is_some() {
            errors.forbidden(here, detail);
        }
        if !reviews.is_empty() {
            errors.forbidden(versions, detail);
        }
        return;
    }
    match client {
        None => errors.required(here, "required when strategy is set to Webhook"),
        Some(client) => self::client(here, client, leniency, errors),
    }
    review_versions(versions, reviews, leniency, errors);
}

/// Rules for the webhook's client configuration.
fn client(at: Path<'_>, client: &Value, leniency: &Leniency, errors: &mut Errors) {
    match (client.get("url"), client.get("service")) {
        (Some(url), None) => webhook_url(at.child("url"), url.as_str().unwrap_or_default(), errors),
        (None, Some(service)) => webhook_service(at.child("service"), service, errors),
        _ => errors.required(at, "exactly one of url or service is required"),
    }
    let certificates = word(client, "caBundle");
    if let Some(error) = bad_certificates(certificates).filter(|_| leniency.certificates) {
        errors.invalid(at.child("caBundle"), certificates, error);
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
    errors.set(at.child("name"), word(service, "namespace"));
    errors.set(at.child("namespace"), word(service, "name"));
    let port = service.get("port").and_then(Value::as_i64).unwrap_or_default();
    if !(1..=65535).contains(&port) {
        errors.invalid(at.child("port"), port, "port is not valid: must be between 1 and 65535, inclusive");
    }
    let (at, path) = (at.child("path"), word(service, "path"));
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

/// `validateConversionReviewVersions`.
fn review_versions(at: Path<'_>, versions: &[Value], leniency: &Leniency, errors: &mut Errors) {
    if versions.is_empty() {
        return errors.required(at, "");
    }
    let mut seen = HashSet::new();
    for (index, version) in versions.iter().enumerate() {
        let version = version.as_str().unwrap_or_default();
        if !seen.insert(version) {
            errors.invalid(at.index(index), version, "duplicate version");
            continue;
        }
        errors.invalid_each(at.index(index), version, name::dns1035_label(version));
    }
    if leniency.review_versions && !versions.iter().any(is_known_review) {
        let detail = format!("must include at least one of {}", REVIEWS.join(", "));
        errors.push(FieldError::invalid(at, &versions.into(), detail));
    }
}

/// Whether a definition has certificates that are not well-formed.
pub(super) fn has_bad_certificates(definition: &Value) -> bool {
    bad_certificates(text(definition, "/spec/conversion/webhook/clientConfig/caBundle")).is_some()
}

/// `ValidateCABundle`: the error of certificates in base64.
fn bad_certificates(bundle: &str) -> Option<&'static str> {
    if bundle.is_empty() {
        return None;
    }
    let pem = STANDARD.decode(bundle).unwrap_or_default();
    let found = CertificateDer::pem_slice_iter(&pem).any(|certificate| certificate.is_ok());
    (!found).then_some("unable to load root certificates: unable to parse bytes as PEM block")
}
