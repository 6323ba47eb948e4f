//! Connections to webhooks: made when one is needed, kept when an answer is read.
//!
//! With a webhook on this machine calls share an HTTP/2 connection, and another one while that has many under way; with others each call
//! under way has an HTTP/1.1 connection to itself, so that a load balancer can spread them. Webhooks behind a service are connected to
//! where it leads at that time.

use super::alerts::{Alert, Alerting};
use super::answer::Answer;
use super::call::Call;
use super::client_certificate::ClientCertificate;
use super::document::Document;
use super::gzip;
use super::services::Address;
use super::trust::Trust;
use super::url::Url;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HOST, LOCATION, REFERER, RETRY_AFTER,
    USER_AGENT,
};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::ServerName;
use rustls::{AlertDescription, CertificateError, ClientConfig};
use std::collections::BTreeMap;
use std::error::Error as _;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::{env, fs, io};
use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// The names of Go's library for itself, by its protocol (`defaultUserAgent` of `net/http`, Go 1.26).
const GO_HTTP1: &str = "Go-http-client/1.1";
const GO_HTTP2: &str = "Go-http-client/2.0";
/// Connections that are kept idle (`MaxIdleConnsPerHost` of client-go).
const IDLE: usize = 25;
/// The calls under way on a shared connection when another one is made, as Go's client does where the server allows no more streams. Servers
/// allow at least so many.
const CALLS: usize = 100;
/// The length of the longest answer, in bytes, both as sent and decompressed.
///
/// GAP: webhooks: answers of more than 64 MiB
const LONGEST_ANSWER: usize = 64 * 1024 * 1024;
/// The files in which systems keep the certificates that they trust (`root_linux.go` of Go's `crypto/x509`).
const SYSTEM_ROOTS: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The reason that there is no response, in Go's words.
pub(super) type Failed = String;

/// The settings that webhooks have in common that share connections (`tlsCacheKey`).
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// The certificates that vouch for the webhooks, as PEM; if empty, those of the system do.
    pub(super) bundle: Vec<u8>,
    /// Whether any certificate will do.
    pub(super) is_unchecked: bool,
    /// The certificate that the webhooks are shown if they ask.
    pub(super) certificate: Option<ClientCertificate>,
    /// The name that certificates must have; `None`, if it is the host's.
    pub(super) server_name: Option<String>,
    /// Whether HTTP/2 may be spoken.
    pub(super) is_local: bool,
}

/// A way to webhooks.
pub(super) struct Transport {
    /// Without the certificate of this server, which may be in files.
    tls: Arc<ClientConfig>,
    certificate: Option<ClientCertificate>,
    server_name: Option<String>,
    pools: Mutex<BTreeMap<Origin, Pool>>,
}

/// The end of a connection. Errors while an answer is awaited are reported there.
type End = JoinHandle<hyper::Result<()>>;

/// Whether TLS is spoken, and where.
type Origin = (bool, Address);

/// The connections to one address.
#[derive(Default)]
struct Pool {
    idle: Vec<Idle>,
    /// The connections that calls share.
    shared: Vec<Shared>,
}

/// A connection that waits for a call.
struct Idle {
    sender: http1::SendRequest<Document>,
    alert: Alert,
}

/// A connection that calls share.
struct Shared {
    sender: http2::SendRequest<Document>,
    alert: Alert,
    /// The number of its streams so far.
    streams: u32,
    /// Each call under way holds it, too.
    calls: Arc<()>,
}

/// A connection for a call, and the alert by which it was refused, if it was.
struct Connection {
    kind: Kind,
    alert: Alert,
}

enum Kind {
    Own(http1::SendRequest<Document>),
    /// With the number of the stream, and what the call holds.
    Shared(http2::SendRequest<Document>, u32, Arc<()>),
}

impl Shared {
    fn has_room(&self) -> bool {
        // One is held by the pool.
        Arc::strong_count(&self.calls) <= CALLS
    }

    fn connection(&mut self) -> Connection {
        self.streams += 1;
        let kind = Kind::Shared(self.sender.clone(), self.streams, self.calls.clone());
        Connection { kind, alert: self.alert.clone() }
    }
}

impl Pool {
    fn take(&mut self) -> Option<Connection> {
        self.forget_closed();
        if let Some(shared) = self.shared.iter_mut().find(|shared| shared.has_room()) {
            return Some(shared.connection());
        }
        self.idle.pop().map(|Idle { sender, alert }| Connection { kind: Kind::Own(sender), alert })
    }

    /// Shares a new connection, unless there is room on others.
    fn share(&mut self, sender: http2::SendRequest<Document>, alert: Alert) -> Connection {
        let mut shared = Shared { sender, alert, streams: 0, calls: Arc::default() };
        let connection = shared.connection();
        if self.shared.len() < IDLE && !self.shared.iter().any(Shared::has_room) {
            self.shared.push(shared);
        }
        connection
    }

    fn forget_closed(&mut self) {
        self.shared.retain(|shared| !shared.sender.is_closed());
        self.idle.retain(|idle| !idle.sender.is_closed());
    }

    fn is_empty(&self) -> bool {
        self.shared.is_empty() && self.idle.is_empty()
    }
}

impl Transport {
    /// A transport without connections yet.
    pub(super) fn new(key: &Key) -> Result<Transport, String> {
        let trust = match key.bundle.trim_ascii() {
            _ if key.is_unchecked => Trust::in_anyone(),
            b"" => Trust::in_bundle(&system_roots()),
            _ => Trust::in_bundle(&key.bundle),
        };
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(trust))
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        if key.is_local {
            config.alpn_protocols.insert(0, b"h2".to_vec());
        }
        Ok(Transport {
            tls: Arc::new(config),
            certificate: key.certificate.clone(),
            server_name: key.server_name.clone(),
            pools: Mutex::default(),
        })
    }

    /// Sends a request to an address and reads the response. If an idle connection does not accept it any more, it is sent on a new one.
    pub(super) async fn send(&self, address: &Address, call: Call<'_>) -> Result<Answer, Failed> {
        let origin = (call.url.is_secure, address.clone());
        while let Some(connection) = self.pool(&origin, Pool::take) {
            if let Some(answer) = self.exchange(&origin, connection, call).await? {
                return Ok(answer);
            }
        }
        let (connection, end) = self.connect(&origin, call.url).await?;
        let alert = connection.alert.clone();
        match self.exchange(&origin, connection, call).await? {
            Some(answer) => Ok(answer),
            // The webhook has ended the connection before the request was sent, and may have said why.
            None => {
                let error = end.await.ok().and_then(Result::err);
                let error = || error.map_or_else(|| "EOF".into(), |why| exchange_error(&why, 1));
                Err(alert.received().map_or_else(error, alert_error))
            }
        }
    }

    /// Does something with the connections to an address.
    fn pool<T>(&self, origin: &Origin, act: impl FnOnce(&mut Pool) -> T) -> T {
        let mut pools = self.pools.lock().expect("no code that runs under this lock panics");
        let done = act(pools.entry(origin.clone()).or_default());
        pools.retain(|_, pool| !pool.is_empty());
        done
    }

    /// A new connection, and its end.
    async fn connect(&self, origin: &Origin, url: &Url) -> Result<(Connection, End), Failed> {
        let (is_secure, address) = origin;
        let stream = dial(address).await?;
        stream.set_nodelay(true).ok();
        let failed = |error: hyper::Error| error.to_string();
        if !is_secure {
            let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
            let connected = Connection { kind: Kind::Own(sender), alert: Alert::default() };
            return Ok((connected, tokio::spawn(connection)));
        }
        let stream = self.secured(stream, &url.host).await?;
        let is_shared = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let alert = Alert::default();
        let io = TokioIo::new(Alerting::new(stream, alert.clone()));
        if !is_shared {
            let (sender, connection) = http1::handshake(io).await.map_err(failed)?;
            return Ok((Connection { kind: Kind::Own(sender), alert }, tokio::spawn(connection)));
        }
        let (sender, connection) = http2::handshake(TokioExecutor::new(), io).await.map_err(failed)?;
        let end = tokio::spawn(connection);
        Ok((self.pool(origin, |pool| pool.share(sender, alert)), end))
    }

    /// A connection to an address on which TLS is spoken with the host of that name, unless another name is known.
    pub(super) async fn secure(&self, address: &Address, host: &str) -> Result<TlsStream<TcpStream>, Failed> {
        let stream = dial(address).await?;
        stream.set_nodelay(true).ok();
        self.secured(stream, host).await
    }

    async fn secured(&self, stream: TcpStream, host: &str) -> Result<TlsStream<TcpStream>, Failed> {
        let name = self.server_name.as_deref().unwrap_or(host).to_owned();
        let name = ServerName::try_from(name).map_err(|error| error.to_string())?;
        self.tls()?.connect(name, stream).await.map_err(|error| tls_error(&error))
    }

    fn tls(&self) -> Result<TlsConnector, Failed> {
        let Some(certificate) = &self.certificate else { return Ok(self.tls.clone().into()) };
        let mut config = (*self.tls).clone();
        config.client_auth_cert_resolver = certificate.resolver()?;
        Ok(Arc::new(config).into())
    }

    /// None, if nothing of the request was sent.
    async fn exchange(
        &self,
        origin: &Origin,
        connection: Connection,
        call: Call<'_>,
    ) -> Result<Option<Answer>, Failed> {
        let Connection { kind, alert } = connection;
        let (sent, stream) = match kind {
            Kind::Own(mut sender) => {
                match sender.try_send_request(request(call, &call.url.target(), GO_HTTP1)?).await {
                    Ok(response) => {
                        let answer = read(response).await;
                        self.pool(origin, |pool| {
                            if !sender.is_closed() && pool.idle.len() < IDLE {
                                pool.idle.push(Idle { sender, alert });
                            }
                        });
                        return Ok(Some(answer));
                    }
                    Err(error) => (error, 0),
                }
            }
            Kind::Shared(mut sender, stream, _under_way) => {
                let uri = format!("https://{}{}", call.url.authority, call.url.target());
                match sender.try_send_request(request(call, &uri, GO_HTTP2)?).await {
                    Ok(response) => return Ok(Some(read(response).await)),
                    Err(error) => (error, stream),
                }
            }
        };
        match sent.message() {
            Some(_) => Ok(None),
            None => Err(alert.received().map_or_else(|| exchange_error(sent.error(), stream), alert_error)),
        }
    }
}

/// The request of a call; `library` is the name of Go's library.
fn request(call: Call<'_>, uri: &str, library: &'static str) -> Result<Request<Document>, Failed> {
    let request = if call.document.is_some() { Request::post(uri) } else { Request::get(uri) };
    let own = [(CONTENT_TYPE, if call.document.is_some() { "application/json" } else { "" }), (REFERER, call.referer)];
    let own = own.into_iter().filter(|(_, value)| !value.is_empty());
    let request = own.fold(request, |request, (name, value)| request.header(name, value));
    let request = call.headers.iter().fold(request, |request, (name, value)| request.header(name, value));
    // Who fetches a document takes any.
    let takes_any = call.agent.is_none() && call.document.is_none();
    let request = if takes_any { request } else { request.header(ACCEPT, "application/json, */*") };
    request
        .header(ACCEPT_ENCODING, "gzip")
        .header(USER_AGENT, call.agent.unwrap_or(library))
        .header(HOST, &call.url.authority)
        .body(call.document.cloned().unwrap_or_default())
        .map_err(|error| error.to_string())
}

async fn read(response: Response<Incoming>) -> Answer {
    let (parts, body) = response.into_parts();
    let header = |name| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let body = match Limited::new(body, LONGEST_ANSWER).collect().await {
        Ok(body) if header(CONTENT_ENCODING).eq_ignore_ascii_case("gzip") => {
            gzip::decompressed(&body.to_bytes(), LONGEST_ANSWER)
        }
        Ok(body) => Ok(body.to_bytes()),
        Err(error) => Err(error.to_string()),
    };
    Answer {
        status: parts.status.as_u16(),
        status_text: parts.status.canonical_reason().unwrap_or_default(),
        content_type: header(CONTENT_TYPE),
        cache_control: header(CACHE_CONTROL),
        retry_after: header(RETRY_AFTER),
        location: header(LOCATION),
        body: body.map_err(|error| {
            format!("unexpected error when reading response body. Please retry. Original error: {error}")
        }),
    }
}

/// The certificates that the system trusts, as PEM; empty if none are found.
fn system_roots() -> Vec<u8> {
    match env::var_os("SSL_CERT_FILE") {
        Some(file) => fs::read(file).unwrap_or_default(),
        None => SYSTEM_ROOTS.into_iter().find_map(|file| fs::read(file).ok()).unwrap_or_default(),
    }
}

/// A connection to the first address of the host that accepts one.
async fn dial(Address { host, port }: &Address) -> Result<TcpStream, Failed> {
    let unknown = |_| format!("dial tcp: lookup {host}: no such host");
    let mut first = None;
    for address in lookup_host((&**host, *port)).await.map_err(unknown)? {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => first = first.or_else(|| Some(dial_error(address, &error))),
        }
    }
    Err(first.unwrap_or_else(|| format!("dial tcp: lookup {host}: no such host")))
}

fn dial_error(address: SocketAddr, error: &io::Error) -> Failed {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => format!("dial tcp {address}: connect: connection refused"),
        _ => format!("dial tcp {address}: {error}"),
    }
}

fn tls_error(error: &io::Error) -> Failed {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let why = match inner {
        // Go's words, as `Trust` has them.
        Some(rustls::Error::InvalidCertificate(CertificateError::Other(why))) => why,
        Some(rustls::Error::AlertReceived(alert)) => return alert_error(*alert),
        _ if error.kind() == io::ErrorKind::UnexpectedEof => return "EOF".into(),
        _ => return error.to_string(),
    };
    format!("tls: failed to verify certificate: {why}")
}

/// The alerts about certificates, in Go's words (`alert.go` of `crypto/tls`, Go 1.26).
fn alert_error(alert: AlertDescription) -> Failed {
    let text = match alert {
        AlertDescription::HandshakeFailure => "handshake failure",
        AlertDescription::BadCertificate => "bad certificate",
        AlertDescription::UnsupportedCertificate => "unsupported certificate",
        AlertDescription::CertificateRevoked => "revoked certificate",
        AlertDescription::CertificateExpired => "expired certificate",
        AlertDescription::CertificateUnknown => "unknown certificate",
        AlertDescription::UnknownCA => "unknown certificate authority",
        AlertDescription::AccessDenied => "access denied",
        AlertDescription::DecryptError => "error decrypting message",
        AlertDescription::InternalError => "internal error",
        AlertDescription::CertificateRequired => "certificate required",
        other => return format!("remote error: tls: alert({})", u8::from(other)),
    };
    format!("remote error: tls: {text}")
}

/// The reasons for which the peer resets a stream, in hyper's words and in Go's.
const RESETS: [(&str, &str); 4] = [
    ("unexpected internal error encountered", "INTERNAL_ERROR"),
    ("detected unspecific protocol error", "PROTOCOL_ERROR"),
    ("refused stream before processing any application logic", "REFUSED_STREAM"),
    ("stream no longer needed", "CANCEL"),
];

/// The error of an exchange, on the stream of that number if the connection has several.
fn exchange_error(error: &hyper::Error, stream: u32) -> Failed {
    if error.is_incomplete_message() || error.is_closed() {
        return "EOF".into();
    }
    let Some(source) = error.source() else { return error.to_string() };
    let own = source.downcast_ref::<io::Error>();
    match own.map(io::Error::kind) {
        Some(io::ErrorKind::UnexpectedEof) => "unexpected EOF".into(),
        _ => {
            let text = source.to_string();
            let reason = text.strip_prefix("stream error received: ");
            let reset = RESETS.iter().find(|(own, _)| reason == Some(own));
            reset.map_or(text, |(_, reset)| {
                // The streams of clients have odd numbers.
                let id = 2 * stream - 1;
                format!("stream error: stream ID {id}; {reset}; received from peer")
            })
        }
    }
}
