//! Counts of the certificates that are issued to requests with a duration, and of those that last about as long.
//!
//! Follows `pkg/registry/certificates/certificates/storage/metrics.go` (v1.37.1).

use super::{number, text};
use crate::measures::{Family, Measures};
use crate::x509::{Certificate, pem};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tree::Value;

const CERTIFICATE: &str = "/status/certificate";

static REQUESTED: Family = Family {
    name: "apiserver_certificates_registry_csr_requested_duration_total",
    help: "[ALPHA] Total number of issued CSRs with a requested duration, sliced by signer (only kubernetes.io signer names are specifically identified)",
    labels: &["signerName"],
    bounds: &[],
};

static HONORED: Family = Family {
    name: "apiserver_certificates_registry_csr_honored_duration_total",
    help: "[ALPHA] Total number of issued CSRs with a requested duration that was honored, sliced by signer (only kubernetes.io signer names are specifically identified)",
    labels: &["signerName"],
    bounds: &[],
};

/// All of them.
pub(crate) static FAMILIES: [&Family; 2] = [&HONORED, &REQUESTED];

/// Counts the certificate that a request has got, if it asked for a duration.
pub(super) fn count(measures: &Measures, new: &Value, old: &Value) {
    let Some(seconds) = number(old, "/spec/expirationSeconds") else { return };
    let issued = text(new, CERTIFICATE);
    if issued.is_empty() || !text(old, CERTIFICATE).is_empty() {
        return;
    }
    let signer = text(old, "/spec/signerName");
    let signer = if signer.starts_with("kubernetes.io/") { signer } else { "other" };
    measures.count(&REQUESTED, &[signer]);
    if lifetime(issued).is_some_and(|got| is_honored(seconds, got)) {
        measures.count(&HONORED, &[signer]);
    }
}

/// The seconds for which the first of the issued certificates is valid.
fn lifetime(issued: &str) -> Option<i64> {
    let blocks = STANDARD.decode(issued).ok()?;
    let first = pem::blocks(&blocks).find(|block| block.label == "CERTIFICATE")?;
    let certificate = Certificate::parse(&first.content).ok()?;
    Some(certificate.not_after.duration_since(certificate.not_before).as_secs())
}

/// Whether a certificate lasts for as many seconds as are wanted, but for five minutes and a twentieth.
fn is_honored(want: i64, got: i64) -> bool {
    want.abs_diff(got).saturating_mul(20) < want.unsigned_abs().saturating_add(20 * 5 * 60)
}
