//! A client's connection: HTTP/2, to one replica after the other.

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http::{Method, Request, Response, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Mutex;

/// The pause between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(20);

/// A connection; clones share it.
#[derive(Clone)]
pub(super) struct Link(Arc<Shared>);

/// The number of responses by status code, of all links that share it.
#[derive(Default)]
pub(super) struct Responses(std::sync::Mutex<BTreeMap<u16, u64>>);

impl Responses {
    fn add(&self, status: u16) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(status).or_default() += 1;
    }

    /// The responses up to now.
    pub(super) fn all(&self) -> BTreeMap<u16, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

struct Shared {
    /// The addresses of all replicas.
    addresses: Vec<String>,
    token: String,
    responses: Arc<Responses>,
    state: Mutex<State>,
}

struct State {
    /// The replica to connect to.
    next: usize,
    sender: Option<http2::SendRequest<Full<Bytes>>>,
}

impl Link {
    /// A connection that begins with the replica of that number.
    pub(super) fn new(addresses: Vec<String>, token: String, first: usize, responses: Arc<Responses>) -> Link {
        let state = Mutex::new(State { next: first, sender: None });
        Link(Arc::new(Shared { addresses, token, responses, state }))
    }

    /// Sends a request; once it is written, nothing tells whether an error came before or after it was carried out.
    ///
    /// # Errors
    /// If the connection ended.
    pub(super) async fn send(&self, method: Method, path: &str, body: &Value) -> Result<Response<Incoming>> {
        let content_type = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
        let bytes = if body.is_null() { Bytes::new() } else { serde_json::to_vec(body)?.into() };
        self.send_as(method, path, [content_type, "application/json"], bytes).await
    }

    /// The same with any body: the types of the request and of the answer, and the bytes.
    ///
    /// # Errors
    /// If the connection ended.
    pub(super) async fn send_as(
        &self,
        method: Method,
        path: &str,
        [content_type, accept]: [&str; 2],
        bytes: Bytes,
    ) -> Result<Response<Incoming>> {
        let mut sender = self.sender().await;
        let uri: Uri = format!("http://server{path}").parse()?;
        let request = Request::builder()
            .method(method)
            .uri(uri)
            .header("authorization", format!("Bearer {}", self.0.token))
            .header("content-type", content_type)
            .header("accept", accept)
            .header("user-agent", "endurance/1")
            .body(Full::new(bytes))?;
        let response = sender.send_request(request).await?;
        self.0.responses.add(response.status().as_u16());
        Ok(response)
    }

    /// The status of the answer, and its body.
    ///
    /// # Errors
    /// If the connection ended.
    pub(super) async fn ask(&self, method: Method, path: &str, body: &Value) -> Result<(u16, Value)> {
        let answer = self.send(method, path, body).await?;
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await?.to_bytes();
        Ok((status, serde_json::from_slice(&body).context("an answer is JSON")?))
    }

    async fn sender(&self) -> http2::SendRequest<Full<Bytes>> {
        let mut state = self.0.state.lock().await;
        loop {
            if let Some(sender) = state.sender.as_mut().filter(|sender| !sender.is_closed())
                && sender.ready().await.is_ok()
            {
                return sender.clone();
            }
            let address = &self.0.addresses[state.next % self.0.addresses.len()];
            state.next += 1;
            match connect(address).await {
                Ok(sender) => state.sender = Some(sender),
                // It is stopped; others are not.
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}

async fn connect(address: &str) -> Result<http2::SendRequest<Full<Bytes>>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
    // Errors of the connection surface where its answers are awaited.
    tokio::spawn(connection);
    Ok(sender)
}
