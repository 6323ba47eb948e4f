//! WebSocket: watches, of which each event is a message, and streams to pods (`ServeWS` of `k8s.io/apiserver/pkg/endpoints/handlers/watch.go`, v0.37.1, and
//! `hybiServerHandshaker` of `golang.org/x/net/websocket`).
//!
//! ```text
//!   an answered watch ──▶ switched: 101 ──▶ its connection is not HTTP any more ──▶ Switched::serve, until the watch ends or the client leaves
//! ```

use super::body::ReplyBody;
use super::ports::{self, Socket};
use super::stream::WatchBody;
use crate::api::{Channels, Content};
use crate::audit::Audited;
use crate::object::url;
use aws_lc_rs::digest::{self, SHA1_FOR_LEGACY_USE_ONLY};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use futures::{SinkExt, StreamExt};
use http::header::{
    CONNECTION, CONTENT_LENGTH, HeaderMap, HeaderValue, ORIGIN, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::request::Parts;
use http::{Response, StatusCode};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncWrite, copy_bidirectional};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

/// The version of the protocol: that of RFC 6455.
const VERSION: &str = "13";
/// The maximum length of a client's message, in bytes. Clients have no reason to send any, but to ports.
const MAX_RECEIVED: usize = 64 * 1024;
/// That of a message to a port.
const MAX_FORWARDED: usize = 4 * 1024 * 1024;
/// The receive buffer of a connection, in bytes.
const READ_BUFFER: usize = 1024;
/// The text that RFC 6455 appends to a client's key.
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// A watch that is served once its connection has switched, an extension of the response. Clones share it.
#[derive(Clone)]
pub(crate) struct Switched(Arc<Mutex<Option<Switching>>>);

enum Switching {
    Session(Session),
    /// A conversation of another server and the client.
    Tunnel {
        client: OnUpgrade,
        server: OnUpgrade,
    },
}

/// Messages to the client.
struct Session {
    /// The connection, once it has switched.
    upgrade: OnUpgrade,
    what: What,
    /// The audit of a request that is not a watch, which ends with this.
    audited: Option<Box<Audited>>,
}

/// The messages over a connection that has switched.
enum What {
    Watch(Box<WatchBody>),
    Channels(Box<Channels>),
}

impl Switched {
    /// Lets the audit of the request go on until the watch ends.
    pub(super) fn audit(&self, audited: Box<Audited>) {
        let mut session = self.0.lock().expect("no code that runs under this lock panics");
        match &mut *session {
            Some(Switching::Session(Session { what: What::Watch(watch), .. })) => watch.audited = Some(audited),
            Some(Switching::Session(session)) => session.audited = Some(audited),
            Some(Switching::Tunnel { .. }) | None => {}
        }
    }

    /// A connection that switches to whatever another server and the client say to each other.
    pub(super) fn tunnel(client: OnUpgrade, server: OnUpgrade) -> Self {
        Switched(Arc::new(Mutex::new(Some(Switching::Tunnel { client, server }))))
    }
}

/// The response to a request: one with a watch becomes one that switches to WebSocket, if the request asks for that.
pub(super) fn switched(parts: &Parts, response: Response<ReplyBody>) -> Response<ReplyBody> {
    if !asks(&parts.headers) {
        return response;
    }
    let (head, body) = response.into_parts();
    let what = match body {
        ReplyBody::Watch(watch) => What::Watch(watch),
        ReplyBody::Channels(channels) => What::Channels(channels),
        body => return Response::from_parts(head, body),
    };
    match parts.extensions.get::<OnUpgrade>() {
        Some(upgrade) => accepted(&parts.headers, Session { upgrade: upgrade.clone(), what, audited: None }),
        None => refusal(StatusCode::BAD_REQUEST, "not a websocket protocol"),
    }
}

/// Whether a request asks for WebSocket (`IsWebSocketRequest` of `k8s.io/streaming/pkg/httpstream/wsstream`).
fn asks(headers: &HeaderMap) -> bool {
    let is_upgrade = |option: &str| option.trim().eq_ignore_ascii_case("upgrade");
    text(headers.get(UPGRADE)).eq_ignore_ascii_case("websocket")
        && text(headers.get(CONNECTION)).split(',').any(is_upgrade)
}

/// The handshake, with the refusals of Go's server.
fn accepted(headers: &HeaderMap, session: Session) -> Response<ReplyBody> {
    let key = text(headers.get(SEC_WEBSOCKET_KEY));
    if key.is_empty() {
        return refusal(StatusCode::BAD_REQUEST, "mismatch challenge/response");
    }
    if text(headers.get(SEC_WEBSOCKET_VERSION)) != VERSION {
        let mut response = refusal(StatusCode::BAD_REQUEST, "missing or bad WebSocket Version");
        response.headers_mut().insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static(VERSION));
        return response;
    }
    let is_watch = matches!(session.what, What::Watch(_));
    if is_watch && url::parse_request_uri(text(headers.get(ORIGIN))).is_err() {
        return refusal(StatusCode::FORBIDDEN, "");
    }
    let protocol = match &session.what {
        What::Channels(channels) => {
            Some(channels.protocol).filter(|name| !name.is_empty()).map(HeaderValue::from_static)
        }
        What::Watch(_) => headers.get(SEC_WEBSOCKET_PROTOCOL).filter(|protocol| !protocol.is_empty()).cloned(),
    };
    if text(protocol.as_ref()).contains(',') {
        return refusal(StatusCode::BAD_REQUEST, "");
    }
    let mut response = Response::new(ReplyBody::whole(Bytes::new()));
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept(key));
    headers.extend(protocol.map(|protocol| (SEC_WEBSOCKET_PROTOCOL, protocol)));
    response.extensions_mut().insert(Switched(Arc::new(Mutex::new(Some(Switching::Session(session))))));
    response
}

/// The answer to a client's key.
fn accept(key: &str) -> HeaderValue {
    let digest = digest::digest(&SHA1_FOR_LEGACY_USE_ONLY, format!("{key}{GUID}").as_bytes());
    HeaderValue::try_from(BASE64_STANDARD.encode(digest)).expect("base64 is ASCII")
}

fn refusal(status: StatusCode, why: &'static str) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::whole(Bytes::from_static(why.as_bytes())));
    *response.status_mut() = status;
    // It comes first, so that no refusal looks like hyper's own, which are given bodies (`server/refusals.rs`).
    response.headers_mut().insert(CONTENT_LENGTH, why.len().into());
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

fn text(header: Option<&HeaderValue>) -> &str {
    header.and_then(|value| value.to_str().ok()).unwrap_or_default()
}

impl Switched {
    /// Sends what there is to send until it ends, the client closes, or the connection breaks.
    pub(crate) async fn serve(self) {
        let taken = self.0.lock().expect("no holder of this lock can panic").take();
        let Session { upgrade, what, audited } = match taken {
            None => return,
            Some(Switching::Tunnel { client, server }) => return tunnel(client, server).await,
            Some(Switching::Session(session)) => session,
        };
        let stream = match upgrade.await {
            Ok(stream) => TokioIo::new(stream),
            Err(error) => return tracing::debug!(%error, "unable to switch to WebSocket"),
        };
        let most = match &what {
            What::Channels(channels) if matches!(channels.content, Content::Ports(_)) => MAX_FORWARDED,
            _ => MAX_RECEIVED,
        };
        let limits = WebSocketConfig::default()
            .max_message_size(Some(most))
            .max_frame_size(Some(most))
            .read_buffer_size(READ_BUFFER)
            .write_buffer_size(0);
        let mut socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(limits)).await;
        let sent = match what {
            What::Watch(watch) => send_watch(&mut socket, watch).await,
            What::Channels(channels) => match channels.content {
                Content::Messages(messages) => send_all(&mut socket, messages).await,
                Content::Ports(all) => ports::forward(&mut socket, all).await,
            },
        };
        drop(audited);
        if let Err(error) = sent {
            return tracing::debug!(%error, "a stream over WebSocket ended early");
        }
        let normal = CloseFrame { code: CloseCode::Normal, reason: Utf8Bytes::default() };
        // The client may be gone.
        drop(socket.close(Some(normal)).await);
        let mut stream = socket.into_inner();
        drop(poll_fn(|context| Pin::new(&mut stream).poll_shutdown(context)).await);
    }
}

/// Carries the bytes of two connections from one to the other, until both have ended.
async fn tunnel(client: OnUpgrade, server: OnUpgrade) {
    match tokio::try_join!(client, server) {
        Ok((client, server)) => {
            let (mut client, mut server) = (TokioIo::new(client), TokioIo::new(server));
            if let Err(error) = copy_bidirectional(&mut client, &mut server).await {
                tracing::debug!(%error, "a tunnel ended early");
            }
        }
        Err(error) => tracing::debug!(%error, "unable to switch to another server's protocol"),
    }
}

/// Sends a watch until it ends.
async fn send_watch(socket: &mut Socket, mut watch: Box<WatchBody>) -> Result<(), Error> {
    loop {
        tokio::select! {
            event = poll_fn(|context| watch.poll_one(context)) => match event {
                Some(event) => socket.send(message(&watch, event)).await?,
                None => return Ok(()),
            },
            // Messages from the client are read and ignored; pings are answered.
            received = socket.next() => match received {
                Some(Err(_)) | None => return Ok(()),
                // A closing message is answered, and nothing more is received.
                Some(Ok(_)) => socket.flush().await?,
            },
        }
    }
}

/// Sends messages.
async fn send_all(socket: &mut Socket, messages: Vec<Bytes>) -> Result<(), Error> {
    for message in messages {
        socket.send(Message::Binary(message)).await?;
    }
    Ok(())
}

/// An event as a message: JSON as text, protobuf without the length that a stream needs.
fn message(watch: &WatchBody, event: Bytes) -> Message {
    match Utf8Bytes::try_from(event.clone()) {
        Ok(text) if watch.is_text() => Message::Text(text),
        _ => Message::Binary(event.slice(super::protobuf::LENGTH..)),
    }
}
