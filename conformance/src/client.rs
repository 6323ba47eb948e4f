//! The HTTP client of the harness: bytes out, bytes in, nothing interpreted. One connection per request unless a caller keeps one, so
//! that every request goes exactly where the scenario sends it.

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// The address of one API server, and how to connect to it.
#[derive(Clone)]
pub struct Endpoint {
    /// The base URL, such as `https://127.0.0.1:6443`.
    pub url: String,
    host: String,
    port: u16,
    tls: Option<TlsConnector>,
}

impl Endpoint {
    /// The server at `url`, verified with the certificates in `ca_pem`.
    pub fn new(url: &str, ca_pem: Option<&str>) -> Result<Endpoint> {
        let uri: http::Uri = url.parse().with_context(|| format!("the server's address {url:?}"))?;
        let host = uri.host().with_context(|| format!("{url:?} has no host"))?.to_owned();
        let https = uri.scheme_str() == Some("https");
        let tls = if https { Some(connector(ca_pem.unwrap_or_default())?) } else { None };
        let port = uri.port_u16().unwrap_or(if https { 443 } else { 80 });
        Ok(Endpoint { url: url.trim_end_matches('/').to_owned(), host, port, tls })
    }

    /// The address that it listens on; its host is an IP address.
    pub(crate) fn address(&self) -> Result<SocketAddr> {
        Ok(SocketAddr::new(self.host.parse().with_context(|| format!("{} is no address", self.host))?, self.port))
    }

    /// Sends a request and returns once the head of the response is here.
    pub async fn send(&self, request: http::Request<Full<Bytes>>) -> Result<http::Response<Incoming>> {
        self.send_over(&mut self.connect().await?, request).await
    }

    /// The same over a connection that is there.
    pub(crate) async fn send_over(
        &self,
        connection: &mut SendRequest<Full<Bytes>>,
        mut request: http::Request<Full<Bytes>>,
    ) -> Result<http::Response<Incoming>> {
        let authority = format!("{}:{}", self.host, self.port);
        request.headers_mut().entry(http::header::HOST).or_insert(authority.parse()?);
        Ok(connection.send_request(request).await?)
    }

    /// A new connection.
    pub(crate) async fn connect(&self) -> Result<SendRequest<Full<Bytes>>> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await.context("connecting")?;
        stream.set_nodelay(true)?;
        match &self.tls {
            None => handshake(stream).await,
            Some(connector) => {
                let name = ServerName::try_from(self.host.clone())?;
                handshake(connector.connect(name, stream).await.context("TLS handshake")?).await
            }
        }
    }

    /// A connection for many requests, in HTTP/2, which has to be known to be spoken.
    ///
    /// # Errors
    /// If the server cannot be reached, or its certificate is not valid.
    pub(crate) async fn http2(&self) -> Result<http2::SendRequest<Full<Bytes>>> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await.context("connecting")?;
        stream.set_nodelay(true)?;
        let Some(connector) = &self.tls else { return multiplexed(stream).await };
        let mut config = (**connector.config()).clone();
        config.alpn_protocols = vec![b"h2".to_vec()];
        let name = ServerName::try_from(self.host.clone())?;
        let connector = TlsConnector::from(Arc::new(config));
        multiplexed(connector.connect(name, stream).await.context("TLS handshake")?).await
    }

    /// Sends JSON (`null` for no body), with a bearer token if there is one, and waits for the whole response.
    ///
    /// # Errors
    /// If the server does not respond, the status is not 2xx, or the body is not JSON.
    pub async fn ask(&self, token: Option<&str>, method: &str, path: &str, body: &Value) -> Result<Value> {
        self.ask_for(token, "application/json", method, path, body).await
    }

    /// The same with an `Accept` header.
    ///
    /// # Errors
    /// If the server does not respond, the status is not 2xx, or the body is not JSON.
    pub async fn ask_for(
        &self,
        token: Option<&str>,
        accept: &str,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<Value> {
        Ok(serde_json::from_slice(&self.bytes_for(token, accept, method, path, body).await?)?)
    }

    /// The body of the response to a request with that `Accept` header; the request has no body if `body` is null.
    ///
    /// # Errors
    /// If the server does not respond, or the status is not 2xx.
    pub async fn bytes_for(
        &self,
        token: Option<&str>,
        accept: &str,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<Bytes> {
        let body = if body.is_null() { Bytes::new() } else { serde_json::to_vec(body)?.into() };
        let mut request = http::Request::builder().method(method).uri(path);
        request = request.header("content-type", "application/json").header("accept", accept);
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let answer = self.send(request.body(Full::new(body))?).await?;
        let status = answer.status();
        let body = answer.into_body().collect().await?.to_bytes();
        ensure!(status.is_success(), "{method} {path}: {status} {}", String::from_utf8_lossy(&body));
        Ok(body)
    }
}

async fn handshake<S>(stream: S) -> Result<SendRequest<Full<Bytes>>>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // Errors of the connection surface where the response or its body is awaited.
    tokio::spawn(connection);
    Ok(sender)
}

async fn multiplexed<S>(stream: S) -> Result<http2::SendRequest<Full<Bytes>>>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
    // Its errors surface where answers are awaited.
    tokio::spawn(connection);
    Ok(sender)
}

/// The certificates in `ca_pem`, as those that are trusted.
pub(crate) fn roots(ca_pem: &str) -> Result<rustls::RootCertStore> {
    let mut roots = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(ca_pem.as_bytes()) {
        roots.add(certificate.context("the certificate authority's PEM")?)?;
    }
    Ok(roots)
}

fn connector(ca_pem: &str) -> Result<TlsConnector> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots(ca_pem)?)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
