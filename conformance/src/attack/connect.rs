//! Connections of attackers: with or without TLS, and with client certificates of any kind.

use super::data::{Certificate, Over};
use crate::client::roots;
use anyhow::{Context as _, Result};
use rcgen::string::Ia5String;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, SanType, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// A stream of bytes both ways.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// The number of certificates in an overlong chain.
const LONG_CHAIN: usize = 100;
/// The length of an overlong name, in bytes.
const HUGE_NAME: usize = 300_000;

/// The authority of client certificates that the server trusts, and a foreign one.
pub struct Authorities {
    trusted: CertifiedIssuer<'static, KeyPair>,
    foreign: CertifiedIssuer<'static, KeyPair>,
}

impl Authorities {
    /// New authorities.
    ///
    /// # Errors
    /// If the operating system has no randomness.
    pub fn new() -> Result<Authorities> {
        let authority = || -> Result<_> {
            let mut params = CertificateParams::default();
            params.distinguished_name = name("clients", None);
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            Ok(CertifiedIssuer::self_signed(params, KeyPair::generate()?)?)
        };
        Ok(Authorities { trusted: authority()?, foreign: authority()? })
    }

    /// The authority that the server trusts, PEM.
    pub fn trusted_pem(&self) -> String {
        self.trusted.pem()
    }

    /// A certificate chain and its key.
    fn certificate(&self, certificate: Certificate) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)> {
        let mut params = CertificateParams::default();
        let group = (certificate == Certificate::SelfSignedMaster).then_some("system:masters");
        params.distinguished_name = name("cert-user", group);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        match certificate {
            Certificate::Expired => params.not_after = date_time_ymd(2020, 1, 1),
            Certificate::Future => params.not_before = date_time_ymd(2090, 1, 1),
            Certificate::ForServers => params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth],
            Certificate::Huge => {
                let long = Ia5String::try_from("a".repeat(HUGE_NAME))?;
                params.subject_alt_names = vec![SanType::DnsName(long)];
            }
            _ => {}
        }
        let key = KeyPair::generate()?;
        let signed = match certificate {
            Certificate::SelfSigned | Certificate::SelfSignedMaster => params.self_signed(&key)?,
            Certificate::Foreign => params.signed_by(&key, &self.foreign)?,
            _ => params.signed_by(&key, &self.trusted)?,
        };
        let mut chain = vec![signed.der().clone()];
        if certificate == Certificate::LongChain {
            chain.resize(LONG_CHAIN, self.foreign.der().clone());
        }
        let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(anyhow::Error::msg)?;
        Ok((chain, key))
    }
}

fn name(common: &str, group: Option<&str>) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    if let Some(group) = group {
        name.push(DnType::OrganizationName, group);
    }
    name
}

/// A connector to one server.
pub struct Connector {
    /// The server's address.
    pub address: SocketAddr,
    ca_pem: String,
    authorities: Arc<Authorities>,
}

impl Connector {
    /// A connector to the server at `address`, whose certificate is verified with `ca_pem`.
    pub fn new(address: SocketAddr, ca_pem: String, authorities: Arc<Authorities>) -> Connector {
        Connector { address, ca_pem, authorities }
    }

    /// A connection.
    ///
    /// # Errors
    /// If the server does not listen, or the handshake fails.
    pub async fn connect(&self, over: Over, certificate: Option<Certificate>) -> Result<Box<dyn Stream>> {
        let stream = TcpStream::connect(self.address).await.context("connecting")?;
        stream.set_nodelay(true)?;
        let protocols: &[&[u8]] = match over {
            Over::Tcp => return Ok(Box::new(stream)),
            Over::Tls => &[],
            Over::Http1 => &[b"http/1.1"],
            Over::Http2 => &[b"h2"],
        };
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots(&self.ca_pem)?);
        let mut config = match certificate {
            None => builder.with_no_client_auth(),
            Some(certificate) => {
                let (chain, key) = self.authorities.certificate(certificate)?;
                builder.with_client_auth_cert(chain, key)?
            }
        };
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        let name = ServerName::from(self.address.ip());
        Ok(Box::new(TlsConnector::from(Arc::new(config)).connect(name, stream).await.context("TLS handshake")?))
    }
}
