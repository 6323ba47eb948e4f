//! Requests for certificates, read and signed for loops.

use crate::registry::request_der;
use crate::x509::{Authority, CertificateRequest, Issue, ORGANIZATION};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use loops::{Asked, Certificates, SigningOrder};
use std::fmt;
use std::sync::Arc;

/// The authority that signs, if there is one.
#[derive(Clone, Default)]
pub(crate) struct Signing(Option<Arc<Authority>>);

impl Signing {
    /// The authority with that certificate and key, both PEM.
    ///
    /// # Errors
    /// The error in them.
    pub(crate) fn from_pem(certificate: &str, key: &str) -> Result<Signing, String> {
        Ok(Signing(Some(Arc::new(Authority::from_pem(certificate, key)?))))
    }

    /// Whether there is one.
    pub(crate) fn is_given(&self) -> bool {
        self.0.is_some()
    }
}

impl Certificates for Signing {
    fn read(&self, request: &str) -> Result<Asked, String> {
        let der = request_der(request)?;
        let request = CertificateRequest::parse(&der)?;
        let names = &request.names;
        Ok(Asked {
            common_name: request.subject.common_name().to_owned(),
            organizations: request.subject.all(ORGANIZATION).map(str::to_owned).collect(),
            has_dns_names: !names.dns_names.is_empty(),
            has_addresses: !names.addresses.is_empty(),
            has_emails: !names.emails.is_empty(),
            has_uris: !names.uris.is_empty(),
        })
    }

    fn sign(&self, order: &SigningOrder<'_>) -> Result<String, String> {
        let authority = self.0.as_ref().ok_or("there is no authority")?;
        let der = request_der(order.request)?;
        let request = CertificateRequest::parse(&der)?;
        let SigningOrder { usages, lifetime, now, salt, .. } = *order;
        let issued = authority.issue(&Issue { request: &request, usages, lifetime, now, salt })?;
        Ok(STANDARD.encode(pem("CERTIFICATE", &issued)))
    }
}

/// A block, as `pem.EncodeToMemory` writes it.
fn pem(label: &str, content: &[u8]) -> String {
    let text = STANDARD.encode(content);
    let lines = text.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line));
    let lines: Vec<_> = lines.collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

impl fmt::Debug for Signing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Signing").finish_non_exhaustive()
    }
}
