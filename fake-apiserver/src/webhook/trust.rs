//! Trust in webhooks: their certificates are verified as Go does.

use crate::x509::{Certificate, Pool, Usage};
use jiff::Timestamp;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    WebPkiSupportedAlgorithms, aws_lc_rs, verify_tls12_signature, verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};
use std::iter;
use std::sync::Arc;

/// The certificates that vouch for a webhook.
#[derive(Debug)]
pub(super) struct Trust {
    /// Them; `None`, if nobody has to.
    pool: Option<Pool>,
    algorithms: WebPkiSupportedAlgorithms,
}

/// The reason that a webhook is not trusted, in Go's words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Untrusted(String);

impl Trust {
    /// Trust in the certificates of a PEM bundle.
    pub(super) fn in_bundle(pem: &[u8]) -> Trust {
        Trust { pool: Some(Pool::from_pem(pem)), ..Trust::in_anyone() }
    }

    /// Trust in any certificate.
    pub(super) fn in_anyone() -> Trust {
        Trust { pool: None, algorithms: aws_lc_rs::default_provider().signature_verification_algorithms }
    }
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(pool) = &self.pool else { return Ok(ServerCertVerified::assertion()) };
        let now = i64::try_from(now.as_secs()).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
        let chain = iter::once(end_entity).chain(intermediates).map(|der| &**der);
        let verified = pool.verify(chain, Some(&server_name.to_str()), Usage::Server, now.unwrap_or_default());
        let untrusted = |why| CertificateError::Other(OtherError(Arc::new(Untrusted(why))));
        verified.map(|()| ServerCertVerified::assertion()).map_err(|why| Error::InvalidCertificate(untrusted(why)))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let parsed = Certificate::parse(certificate).map_err(|_| CertificateError::BadEncoding)?;
        let key = SubjectPublicKeyInfoDer::from(parsed.key_info);
        verify_tls13_signature_with_raw_key(message, &key, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
