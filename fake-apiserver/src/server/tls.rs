//! The server's certificate: made at start together with an authority of its own, or read from files.
//!
//! Client certificates are requested if there are authorities for them, and any or none is accepted: it is verified with
//! each request (`auth/certificates.rs`).
//!
//! Generated certificates are valid from 1975 to 4096 (rcgen's defaults), as tests move clocks. Keys are ECDSA P-256, which
//! take well under a millisecond to make.

use super::p521;
use crate::auth::ClientAuthorities;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, ServerConfig, SignatureScheme};
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// The names in a generated certificate, besides addresses: those that clients on the host and in a cluster use, and those of clusters that are
/// reached by a name.
const NAMES: &[&str] = &[
    "*.clusters.fake",
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
];

/// An error of the serving certificate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// A certificate could not be made.
    #[error("unable to create a serving certificate: {0}")]
    Generate(#[from] rcgen::Error),
    /// The certificate is not PEM.
    #[error("invalid certificate: {0}")]
    Certificate(rustls::pki_types::pem::Error),
    /// The PEM has no certificate.
    #[error("invalid certificate: no CERTIFICATE block found")]
    NoCertificate,
    /// The private key is not PEM, or not a private key.
    #[error("invalid private key: {0}")]
    Key(rustls::pki_types::pem::Error),
    /// The certificate and the key do not match, or TLS cannot use them.
    #[error("the certificate and the private key cannot be used: {0}")]
    Unusable(#[from] rustls::Error),
    /// The folder of the pair has one file of it, but not this one.
    #[error("error reading {path}, certificate and key must be supplied as a pair")]
    NoPair {
        /// The missing file.
        path: PathBuf,
    },
    /// The folder for the pair cannot be written to.
    #[error("unable to write the serving certificate to {path}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

/// A certificate, its authority behind it, and its key, both PEM.
pub(super) struct Pair {
    pub(super) certificate: String,
    pub(super) key: String,
}

/// A serving certificate, its key, and the certificates for clients to trust.
#[derive(Clone)]
pub(super) struct Identity {
    authority_pem: String,
    config: Arc<ServerConfig>,
}

impl Identity {
    /// A new authority and a certificate signed by it, for this host under all its usual names, for `bind_address` and for `others`; and
    /// both as a pair of files.
    ///
    /// # Errors
    /// If the operating system has no randomness.
    pub(super) fn generate(
        bind_address: IpAddr,
        others: &[String],
        clients: Option<&ClientAuthorities>,
    ) -> Result<(Self, Pair), IdentityError> {
        let authority = issuer("fake-apiserver-ca")?;

        let mut names: Vec<String> = NAMES.iter().map(ToString::to_string).collect();
        names.extend(["127.0.0.1".to_string(), "::1".to_string()]);
        names.push(bind_address.to_string());
        names.extend_from_slice(others);
        names.sort();
        names.dedup();
        let mut params = CertificateParams::new(names)?;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        params.distinguished_name.push(DnType::CommonName, "fake-apiserver");
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &authority)?;

        let pair = Pair { certificate: certificate.pem() + &authority.pem(), key: key.serialize_pem() };
        let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(|what| rustls::Error::General(what.into()))?;
        let config = server_config(vec![certificate.der().clone()], key, clients)?;
        Ok((Identity { authority_pem: authority.pem(), config }, pair))
    }

    /// A certificate (with its chain, if any, behind it) and its key, both PEM. Clients are to trust the same PEM, which
    /// suits a self-signed certificate and one that comes with its authority.
    ///
    /// # Errors
    /// If one is malformed, or they do not match.
    pub(super) fn from_pem(
        certificate: &str,
        key: &str,
        clients: Option<&ClientAuthorities>,
    ) -> Result<Self, IdentityError> {
        let chain: Vec<_> = CertificateDer::pem_slice_iter(certificate.as_bytes())
            .collect::<Result<_, _>>()
            .map_err(IdentityError::Certificate)?;
        if chain.is_empty() {
            return Err(IdentityError::NoCertificate);
        }
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(IdentityError::Key)?;
        Ok(Identity { authority_pem: certificate.to_string(), config: server_config(chain, key, clients)? })
    }

    /// The certificates for clients to trust, as PEM.
    pub(super) fn authority_pem(&self) -> &str {
        &self.authority_pem
    }

    /// The TLS configuration: TLS 1.2 and 1.3, with HTTP/2 before HTTP/1.1.
    pub(super) fn server_config(&self) -> Arc<ServerConfig> {
        self.config.clone()
    }
}

/// A new authority of that name.
///
/// # Errors
/// If the operating system has no randomness.
pub(super) fn authority(name: &str) -> Result<Pair, IdentityError> {
    let authority = issuer(name)?;
    Ok(Pair { certificate: authority.pem(), key: authority.key().serialize_pem() })
}

fn issuer(name: &str) -> Result<CertifiedIssuer<'static, KeyPair>, rcgen::Error> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.distinguished_name.push(DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate()?)
}

fn server_config(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    clients: Option<&ClientAuthorities>,
) -> Result<Arc<ServerConfig>, rustls::Error> {
    let provider = Arc::new(p521::provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(clients) => builder.with_client_cert_verifier(Arc::new(Requested(clients.verifier().clone()))),
    };
    let mut config = builder.with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// A verifier that requests a certificate and accepts any whose key the client has, or none: Go's `tls.RequestClientCert`.
#[derive(Debug)]
struct Requested(Arc<dyn ClientCertVerifier>);

impl ClientCertVerifier for Requested {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

/// The certificates of a PEM bundle, as DER.
#[cfg(feature = "kube")]
pub(super) fn certificates_der(pem: &str) -> Vec<Vec<u8>> {
    CertificateDer::pem_slice_iter(pem.as_bytes()).flatten().map(|der| der.to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::crypto::CryptoProvider;
    use rustls::pki_types::ServerName;
    use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConnection};

    /// Does a handshake with `identity` under `name`, and returns the negotiated protocol.
    fn handshake(identity: &Identity, name: &str) -> Result<Vec<u8>, rustls::Error> {
        handshake_by(rustls::crypto::aws_lc_rs::default_provider(), identity, name)
    }

    fn handshake_by(provider: CryptoProvider, identity: &Identity, name: &str) -> Result<Vec<u8>, rustls::Error> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(identity.authority_pem().as_bytes()).expect("a certificate"))?;
        let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec(), b"h2".to_vec()];
        let name = ServerName::try_from(name.to_string()).expect("a name");
        let mut client = ClientConnection::new(Arc::new(config), name)?;
        let mut server = ServerConnection::new(identity.server_config())?;
        while client.is_handshaking() || server.is_handshaking() {
            let mut wire = Vec::new();
            client.write_tls(&mut wire).expect("memory");
            server.read_tls(&mut wire.as_slice()).expect("memory");
            server.process_new_packets()?;
            let mut wire = Vec::new();
            server.write_tls(&mut wire).expect("memory");
            client.read_tls(&mut wire.as_slice()).expect("memory");
            client.process_new_packets()?;
        }
        Ok(client.alpn_protocol().unwrap_or_default().to_vec())
    }

    #[test]
    fn a_made_certificate_serves_every_name() {
        let (identity, _) = Identity::generate("192.0.2.7".parse().unwrap(), &["test.example".into()], None).unwrap();
        for name in ["localhost", "127.0.0.1", "::1", "192.0.2.7", "kubernetes.default.svc", "test.example"] {
            assert_eq!(handshake(&identity, name), Ok(b"h2".to_vec()), "{name}");
        }
        assert!(handshake(&identity, "example.com").is_err());
    }

    #[test]
    fn clients_may_know_one_curve_alone() {
        let (identity, _) = Identity::generate("127.0.0.1".parse().unwrap(), &[], None).unwrap();
        for group in p521::provider().kx_groups {
            let mut provider = p521::provider();
            provider.kx_groups = vec![group];
            assert_eq!(handshake_by(provider, &identity, "localhost"), Ok(b"h2".to_vec()), "{group:?}");
        }
    }

    #[test]
    fn given_certificates() {
        let authority = rcgen::generate_simple_self_signed(["localhost".to_string()]).unwrap();
        let (certificate, key) = (authority.cert.pem(), authority.signing_key.serialize_pem());
        let other = KeyPair::generate().unwrap().serialize_pem();
        let error =
            |certificate: &str, key: &str| Identity::from_pem(certificate, key, None).err().map(|e| e.to_string());
        assert_eq!(error(&certificate, &key), None);
        assert_eq!(error("", &key).as_deref(), Some("invalid certificate: no CERTIFICATE block found"));
        assert_eq!(error(&certificate, "").as_deref(), Some("invalid private key: no items found"));
        let mismatch = error(&certificate, &other).unwrap();
        assert!(mismatch.starts_with("the certificate and the private key cannot be used: "), "{mismatch}");
    }
}
