//! The certificate authorities of client certificates.

use crate::x509::{Pool, Usage};
use jiff::Timestamp;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use std::sync::Arc;

/// The error of an unusable bundle of authorities.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorityError {
    /// Not a PEM file with certificates.
    #[error("data does not contain any valid RSA or ECDSA certificates")]
    NoCertificate,
    /// A certificate that cannot be an authority.
    #[error("the client certificate authorities cannot be used: {0}")]
    Unusable(String),
}

/// The certificate authorities of client certificates: `--client-ca-file`. A certificate among them that is not an authority's is trusted itself.
#[derive(Debug, Clone)]
pub struct ClientAuthorities {
    pool: Pool,
    verifier: Arc<dyn ClientCertVerifier>,
}

impl ClientAuthorities {
    /// The certificates of a PEM bundle.
    ///
    /// # Errors
    /// If there are none, or one cannot be used.
    pub fn from_pem(pem: &str) -> Result<Self, AuthorityError> {
        let pool = Pool::from_pem(pem.as_bytes());
        if pool.certificates().is_empty() {
            return Err(AuthorityError::NoCertificate);
        }
        Self::of(pool)
    }

    /// These and others.
    ///
    /// # Errors
    /// If they cannot be used together.
    pub(crate) fn and(&self, others: &ClientAuthorities) -> Result<Self, AuthorityError> {
        Self::of(self.pool.and(&others.pool))
    }

    fn of(pool: Pool) -> Result<Self, AuthorityError> {
        let verifier = verifier(pool.certificates()).map_err(AuthorityError::Unusable)?;
        Ok(ClientAuthorities { pool, verifier })
    }

    /// The certificates.
    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The verifier with which TLS asks for certificates.
    pub(crate) fn verifier(&self) -> &Arc<dyn ClientCertVerifier> {
        &self.verifier
    }

    /// Verifies at that time a certificate, which comes first, by way of the intermediate ones behind it.
    pub(super) fn verify(&self, chain: &[CertificateDer<'_>], now: Timestamp) -> Result<(), String> {
        self.pool.verify(chain.iter().map(|der| &**der), None, Usage::Client, now)
    }
}

fn verifier(all: &[CertificateDer<'static>]) -> Result<Arc<dyn ClientCertVerifier>, String> {
    let mut roots = RootCertStore::empty();
    for authority in all {
        roots.add(authority.clone()).map_err(|error| error.to_string())?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    verifier.build().map_err(|error| error.to_string())
}
