//! A lean HTTP client: it shares the machine with the servers that it measures.

use anyhow::{Context, bail, ensure};
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use http::{Method, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ClientConfig;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// The address and the credentials of a server.
#[derive(Clone)]
pub(super) struct Target {
    host: String,
    port: u16,
    authority: HeaderValue,
    authorization: HeaderValue,
    tls: ClientConfig,
}

/// A request to send.
#[derive(Clone)]
pub(super) struct Call {
    pub(super) method: Method,
    /// Path and query.
    pub(super) path: String,
    /// The type of the body.
    pub(super) content_type: &'static str,
    /// The `Accept` header; `None` for JSON.
    pub(super) accept: Option<HeaderValue>,
    /// The body: JSON, or empty.
    pub(super) body: Bytes,
}

impl Call {
    pub(super) fn new(method: Method, path: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Call { method, path: path.into(), content_type: "application/json", accept: None, body: body.into() }
    }

    /// A patch of that type.
    pub(super) fn patch(path: impl Into<String>, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Call { content_type, ..Self::new(Method::PATCH, path, body) }
    }

    /// The same request for an answer in protobuf.
    pub(super) fn in_protobuf(self) -> Self {
        let accept = HeaderValue::from_static("application/vnd.kubernetes.protobuf");
        Call { accept: Some(accept), ..self }
    }

    pub(super) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path, "")
    }
}

impl Target {
    /// The server at an `https` URL, verified with `authority`, a PEM file; without one it is not verified.
    pub(super) fn new(url: &str, token: &str, authority: Option<&Path>) -> anyhow::Result<Self> {
        let uri: Uri = url.parse().with_context(|| format!("{url:?} is no URL"))?;
        ensure!(uri.scheme_str() == Some("https"), "{url}: not an https URL");
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_string();
        let port = uri.port_u16().unwrap_or(443);
        let authority_name = uri.authority().map_or("", |authority| authority.as_str());
        Ok(Target {
            host,
            port,
            authority: HeaderValue::from_str(authority_name)?,
            authorization: HeaderValue::from_str(&format!("Bearer {token}"))?,
            tls: tls(authority)?,
        })
    }

    /// Opens an HTTP/1.1 connection.
    pub(super) async fn connect(&self) -> anyhow::Result<Connection> {
        let stream = TokioIo::new(self.dial(b"http/1.1").await?);
        let (sender, connection) = http1::handshake(stream).await?;
        tokio::spawn(connection);
        Ok(Connection { sender, target: self.clone() })
    }

    /// Opens an HTTP/2 connection.
    pub(super) async fn connect_http2(&self) -> anyhow::Result<Http2Connection> {
        let stream = TokioIo::new(self.dial(b"h2").await?);
        let (sender, connection) = http2::handshake(TokioExecutor::new(), stream).await?;
        tokio::spawn(connection);
        Ok(Http2Connection { sender, target: self.clone() })
    }

    async fn dial(&self, protocol: &[u8]) -> anyhow::Result<TlsStream<TcpStream>> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await.context("unable to connect")?;
        stream.set_nodelay(true)?;
        let mut tls = self.tls.clone();
        tls.alpn_protocols = vec![protocol.to_vec()];
        let name = ServerName::try_from(self.host.clone())?;
        TlsConnector::from(Arc::new(tls)).connect(name, stream).await.context("unable to shake hands")
    }

    fn request(&self, call: Call, uri: Uri) -> anyhow::Result<Request<Full<Bytes>>> {
        let mut request = Request::new(Full::new(call.body));
        *request.method_mut() = call.method;
        *request.uri_mut() = uri;
        request.headers_mut().insert(AUTHORIZATION, self.authorization.clone());
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(call.content_type));
        if let Some(accept) = call.accept {
            request.headers_mut().insert(ACCEPT, accept);
        }
        Ok(request)
    }
}

/// An HTTP/1.1 connection.
pub(super) struct Connection {
    sender: http1::SendRequest<Full<Bytes>>,
    target: Target,
}

impl Connection {
    /// Sends a request, which must succeed, and returns the number of bytes of the response.
    pub(super) async fn exchange(&mut self, call: Call) -> anyhow::Result<usize> {
        let mut response = self.send(call).await?;
        let mut length = 0;
        while let Some(frame) = response.frame().await {
            length += frame?.data_ref().map_or(0, Bytes::len);
        }
        Ok(length)
    }

    /// Sends a request, which must succeed, and returns the response body.
    pub(super) async fn fetch(&mut self, call: Call) -> anyhow::Result<Bytes> {
        Ok(self.send(call).await?.into_body().collect().await?.to_bytes())
    }

    /// Sends a request, which may be refused, reads the response, and returns its status.
    pub(super) async fn answer(&mut self, call: Call) -> anyhow::Result<StatusCode> {
        let response = self.ask(call).await?;
        let status = response.status();
        response.into_body().collect().await?;
        Ok(status)
    }

    async fn send(&mut self, call: Call) -> anyhow::Result<Response<Incoming>> {
        let what = format!("{} {}", call.method, call.path);
        succeeded(&what, self.ask(call).await?).await
    }

    async fn ask(&mut self, call: Call) -> anyhow::Result<Response<Incoming>> {
        let uri = call.path.parse()?;
        let mut request = self.target.request(call, uri)?;
        request.headers_mut().insert(HOST, self.target.authority.clone());
        self.sender.ready().await?;
        Ok(self.sender.send_request(request).await?)
    }
}

/// An HTTP/2 connection.
#[derive(Clone)]
pub(super) struct Http2Connection {
    sender: http2::SendRequest<Full<Bytes>>,
    target: Target,
}

impl Http2Connection {
    /// Sends a request, which must succeed, and returns the response body as a stream.
    pub(super) async fn open(mut self, call: Call) -> anyhow::Result<Incoming> {
        let what = format!("{} {}", call.method, call.path);
        let request = self.request(call)?;
        self.sender.ready().await?;
        Ok(succeeded(&what, self.sender.send_request(request).await?).await?.into_body())
    }

    /// Sends a request, and resets its stream once the connection has sent it.
    pub(super) async fn reset(mut self, call: Call) -> anyhow::Result<()> {
        let request = self.request(call)?;
        self.sender.ready().await?;
        let response = self.sender.send_request(request);
        tokio::task::yield_now().await;
        drop(response);
        Ok(())
    }

    fn request(&self, call: Call) -> anyhow::Result<Request<Full<Bytes>>> {
        let authority = self.target.authority.to_str()?;
        let uri = Uri::builder().scheme("https").authority(authority).path_and_query(&call.path).build()?;
        self.target.request(call, uri)
    }
}

async fn succeeded(what: &str, response: Response<Incoming>) -> anyhow::Result<Response<Incoming>> {
    if response.status().is_success() {
        return Ok(response);
    }
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    bail!("{what}: {status}: {}", String::from_utf8_lossy(&body).trim_end())
}

fn tls(authority: Option<&Path>) -> anyhow::Result<ClientConfig> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
    let Some(path) = authority else {
        let verifier = Arc::new(TrustAnyone(provider));
        return Ok(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth());
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).with_context(|| path.display().to_string())? {
        roots.add(certificate?)?;
    }
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// A verifier that accepts every certificate: for servers started here, and with `--insecure`.
#[derive(Debug)]
struct TrustAnyone(Arc<CryptoProvider>);

impl ServerCertVerifier for TrustAnyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
