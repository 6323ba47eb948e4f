//! A client that sends requests exactly as given, over HTTP/1.1 or HTTP/2, plain or TLS; and helpers for JSON.

use bytes::{Buf, Bytes, BytesMut};
use fake_apiserver::internals::schema;
use fake_apiserver::{Builder, FakeApiServer};
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// The time limit of every wait. Nothing takes this long unless it is broken, also on a machine that is busy with other work.
const WAIT_TIMEOUT: Duration = Duration::from_secs(120);

pub(crate) const MERGE_PATCH: &str = "application/merge-patch+json";
pub(crate) const JSON_PATCH: &str = "application/json-patch+json";
pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
pub(crate) const SECRETS: &str = "/api/v1/namespaces/default/secrets";

/// Waits for `future` with a time limit.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(WAIT_TIMEOUT, future).await.expect("nothing takes that long")
}

/// A server on plain HTTP.
pub(crate) async fn start() -> FakeApiServer {
    start_with(FakeApiServer::builder()).await
}

/// A server of `builder` on plain HTTP.
pub(crate) async fn start_with(builder: Builder) -> FakeApiServer {
    builder.insecure().start().await.expect("a server starts")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    Http2,
}

pub(crate) const PROTOCOLS: [Protocol; 2] = [Protocol::Http1, Protocol::Http2];

enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

/// One connection.
pub(crate) struct Client {
    sender: Sender,
    origin: String,
    /// The bearer token; empty for none.
    pub(crate) token: String,
}

impl Client {
    /// A connection to the first replica, as the administrator, over HTTP/1.1.
    pub(crate) async fn new(server: &FakeApiServer) -> Client {
        Client::over(server, Protocol::Http1).await
    }

    pub(crate) async fn over(server: &FakeApiServer, protocol: Protocol) -> Client {
        Client::to_replica(server, 0, protocol).await
    }

    pub(crate) async fn to_replica(server: &FakeApiServer, index: usize, protocol: Protocol) -> Client {
        Client::connect(server, index, protocol, None).await
    }

    /// A connection with a client certificate, if there is one.
    pub(crate) async fn connect(
        server: &FakeApiServer,
        index: usize,
        protocol: Protocol,
        certificate: Option<Certificate>,
    ) -> Client {
        let address = server.replica(index).address();
        let stream = TcpStream::connect(address).await.expect("the server listens");
        stream.set_nodelay(true).expect("an open connection");
        let sender = match server.ca_pem() {
            None => handshake(TokioIo::new(stream), protocol).await,
            Some(authority) => {
                let name = ServerName::from(address.ip());
                let connector = connector(authority, protocol, certificate);
                let tls = connector.connect(name, stream).await.expect("a TLS connection");
                let negotiated = tls.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
                assert_eq!(negotiated.as_deref(), Some(alpn(protocol)));
                handshake(TokioIo::new(tls), protocol).await
            }
        };
        Client { sender, origin: server.replica(index).url(), token: server.admin_token().into() }
    }

    /// Sends a request with the headers that every request has.
    pub(crate) async fn send(&mut self, request: Request<Full<Bytes>>) -> Response<Incoming> {
        self.try_send(request).await.expect("an answer")
    }

    /// Whether a request is answered by nothing but the end of its stream or connection.
    pub(crate) async fn loses(&mut self, method: &str, path: &str, body: &Value) -> bool {
        let request = Request::builder().method(method).uri(path).header(JSON.0, JSON.1);
        self.try_send(request.body(Full::new(body.to_string().into())).expect("a request")).await.is_err()
    }

    /// The beginning of a body that breaks off.
    pub(crate) async fn breaks_off(&mut self, method: &str, path: &str) -> Bytes {
        let request = Request::builder().method(method).uri(path).body(Full::default()).expect("a request");
        let mut body = self.send(request).await.into_body();
        let mut bytes = BytesMut::new();
        while let Ok(frame) = soon(body.frame()).await.expect("a body that breaks off") {
            bytes.extend_from_slice(frame.data_ref().expect("no trailers"));
        }
        bytes.freeze()
    }

    /// Whether the answer to a request breaks off, in its head or its body.
    pub(crate) async fn is_cut(&mut self, method: &str, path: &str) -> bool {
        let request = Request::builder().method(method).uri(path).body(Full::default()).expect("a request");
        match self.try_send(request).await {
            Ok(answer) => soon(answer.into_body().collect()).await.is_err(),
            Err(_) => true,
        }
    }

    async fn try_send(&mut self, mut request: Request<Full<Bytes>>) -> hyper::Result<Response<Incoming>> {
        if !self.token.is_empty() {
            let value = format!("Bearer {}", self.token).parse().expect("a token is ASCII");
            request.headers_mut().entry(AUTHORIZATION).or_insert(value);
        }
        match &mut self.sender {
            Sender::Http1(sender) => {
                let host = self.origin.split("//").nth(1).expect("a URL has a host");
                request.headers_mut().insert(HOST, host.parse().expect("a host is ASCII"));
                soon(async {
                    sender.ready().await.expect("the connection is open");
                    sender.send_request(request).await
                })
                .await
            }
            Sender::Http2(sender) => {
                let uri = format!("{}{}", self.origin, request.uri());
                *request.uri_mut() = uri.parse().expect("a path makes a URL");
                soon(sender.send_request(request)).await
            }
        }
    }

    /// Sends a request with headers and a body, and reads the whole response.
    pub(crate) async fn ask(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body.into())).expect("a request");
        let (head, body) = self.send(request).await.into_parts();
        let body = soon(body.collect()).await.expect("a whole body").to_bytes();
        Answer { code: head.status.as_u16(), headers: head.headers, body }
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.ask("GET", path, &[], Bytes::new()).await
    }

    pub(crate) async fn delete(&mut self, path: &str) -> Answer {
        self.ask("DELETE", path, &[], Bytes::new()).await
    }

    pub(crate) async fn post(&mut self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path, &[JSON], body.to_string()).await
    }

    pub(crate) async fn put(&mut self, path: &str, body: &Value) -> Answer {
        self.ask("PUT", path, &[JSON], body.to_string()).await
    }

    pub(crate) async fn patch(&mut self, content_type: &str, path: &str, body: &Value) -> Answer {
        self.ask("PATCH", path, &[(CONTENT_TYPE.as_str(), content_type)], body.to_string()).await
    }

    /// Opens a stream, which must begin with 200.
    pub(crate) async fn watch(mut self, path: &str, headers: &[(&str, &str)]) -> Events {
        let mut request = Request::builder().method(Method::GET).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self.send(request.body(Full::default()).expect("a request")).await;
        assert_eq!(response.status().as_u16(), 200, "{path}");
        Events { _client: self, body: response.into_body(), buffer: BytesMut::new() }
    }
}

pub(crate) const JSON: (&str, &str) = ("content-type", "application/json");

async fn handshake<I>(io: I, protocol: Protocol) -> Sender
where
    I: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    match protocol {
        Protocol::Http1 => {
            let (sender, connection) = http1::handshake(io).await.expect("a connection");
            tokio::spawn(connection);
            Sender::Http1(sender)
        }
        Protocol::Http2 => {
            let mut builder = http2::Builder::new(TokioExecutor::new());
            // Small windows, so that a client that does not read blocks its streams soon.
            builder.initial_stream_window_size(65_535).initial_connection_window_size(1_000_000);
            let (sender, connection) = builder.handshake(io).await.expect("a connection");
            tokio::spawn(connection);
            Sender::Http2(sender)
        }
    }
}

fn alpn(protocol: Protocol) -> &'static [u8] {
    match protocol {
        Protocol::Http1 => b"http/1.1",
        Protocol::Http2 => b"h2",
    }
}

/// A client's certificate chain and its key.
pub(crate) type Certificate = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn connector(authority_pem: &str, protocol: Protocol, certificate: Option<Certificate>) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(authority_pem.as_bytes()) {
        roots.add(certificate.expect("PEM")).expect("a certificate");
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.expect("versions").with_root_certificates(roots);
    let mut config = match certificate {
        None => builder.with_no_client_auth(),
        Some((chain, key)) => builder.with_client_auth_cert(chain, key).expect("a key that belongs to it"),
    };
    config.alpn_protocols = vec![alpn(protocol).to_vec()];
    TlsConnector::from(Arc::new(config))
}

/// A whole response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }

    pub(crate) fn json(&self) -> Value {
        if self.header("content-type").starts_with(PROTOBUF) {
            return document(&self.body);
        }
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("JSON, not {:?}", self.text()))
    }

    /// The object of a response, which must have that status code.
    #[track_caller]
    pub(crate) fn expect(&self, code: u16) -> Value {
        assert_eq!(self.code, code, "{}", self.text());
        self.json()
    }

    /// The `reason` and `message` of a refusal, which must have that status code.
    #[track_caller]
    pub(crate) fn refusal(&self, code: u16) -> (String, String) {
        let status = self.expect(code);
        assert_eq!((&status["kind"], &status["status"]), (&json!("Status"), &json!("Failure")));
        (text(&status, "/reason").into(), text(&status, "/message").into())
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().expect("ASCII")).unwrap_or_default()
    }
}

/// The media type of protobuf.
pub(crate) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// The object in a protobuf body.
pub(crate) fn document(body: &[u8]) -> Value {
    let envelope = schema::decode_protobuf(body).expect("an envelope");
    let ty = schema::lookup(&envelope.api_version, &envelope.kind).expect("a known kind");
    let mut object = schema::decode_protobuf_message(envelope.raw, ty).expect("a message");
    object["apiVersion"] = envelope.api_version.into();
    object["kind"] = envelope.kind.into();
    object.into()
}

/// The events of a watch. Dropping it closes the connection.
pub(crate) struct Events {
    _client: Client,
    body: Incoming,
    buffer: BytesMut,
}

impl Events {
    /// The next event; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line = self.buffer.split_to(end);
                self.buffer.advance(1);
                return Some(serde_json::from_slice(&line).expect("an event is JSON"));
            }
            let frame = soon(self.body.frame()).await?.expect("a stream that does not break");
            self.buffer.extend_from_slice(frame.data_ref().expect("no trailers"));
        }
    }

    /// The next event, in short: type, name, resourceVersion.
    pub(crate) async fn next_short(&mut self) -> (String, String, u64) {
        let event = self.next().await.expect("an event");
        let object = &event["object"];
        (text(&event, "/type").into(), text(object, "/metadata/name").into(), revision(object))
    }

    /// Reads to the end.
    pub(crate) async fn rest(&mut self) -> Vec<Value> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

/// The text at a JSON pointer, "" if there is none.
pub(crate) fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// `metadata.resourceVersion`, which must be a number.
#[track_caller]
pub(crate) fn revision(object: &Value) -> u64 {
    text(object, "/metadata/resourceVersion").parse().unwrap_or_else(|_| panic!("no revision: {object}"))
}

/// The names of a list's items.
pub(crate) fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().expect("a list").iter().map(|item| text(item, "/metadata/name")).collect()
}

pub(crate) fn named(name: &str) -> Value {
    json!({"metadata": {"name": name}})
}

pub(crate) fn with_data(name: &str, key: &str, value: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {key: value}})
}

pub(crate) fn address(server: &FakeApiServer) -> SocketAddr {
    server.replica(0).address()
}
