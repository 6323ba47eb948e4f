//! The conversion between the versions of a definition.
//!
//! Follows `validateCustomResourceConversion` of `pkg/apis/apiextensions/validation/validation.go` of
//! `k8s.io/apiextensions-apiserver`, and `ValidateCABundle` of `pkg/util/webhook/validation.go` of `k8s.io/apiserver`
//! (v0.37.1).
//!
//! GAP: customresourcedefinitions: Go's errors of parsing certificates in well-formed PEM

use super::leniency::Leniency;
use super::visit::word;
use super::{items, text};
use crate::error::{Errors, Path};
use crate::registry::types::{review_versions, webhook_client};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use tree::Value;

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
    match reviews.is_empty() {
        true => errors.required(versions, ""),
        false => review_versions(versions, reviews, leniency.review_versions, errors),
    }
}

/// Rules for the webhook's client configuration.
fn client(at: Path<'_>, client: &Value, leniency: &Leniency, errors: &mut Errors) {
    webhook_client(at, client, errors);
    let certificates = word(client, "caBundle");
    if let Some(error) = bad_certificates(certificates).filter(|_| leniency.certificates) {
        errors.invalid(at.child("caBundle"), certificates, error);
    }
}

/// Whether a definition has certificates that are not well-formed.
pub(crate) fn has_bad_certificates(definition: &Value) -> bool {
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
