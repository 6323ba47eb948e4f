//! A client's connection: HTTP/2, for many requests.

use crate::client::Endpoint;
use anyhow::Result;
use bytes::Bytes;
use http::HeaderMap;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::SendRequest;
use serde_json::Value;

/// The media type of bodies.
pub(crate) const JSON: &str = "application/json";
/// The media type of merge patches.
pub(crate) const MERGE_PATCH: &str = "application/merge-patch+json";

/// A connection to a server, with a user's token; clones share it.
#[derive(Clone)]
pub(crate) struct Line {
    url: String,
    token: String,
    agent: String,
    connection: SendRequest<Full<Bytes>>,
}

/// A request.
pub(crate) struct Sent<'s> {
    pub(crate) method: &'s str,
    /// The path, with a query if there is one.
    pub(crate) path: &'s str,
    /// The header `Accept`.
    pub(crate) accept: &'s str,
    /// The header `Content-Type`.
    pub(crate) content_type: &'s str,
    /// The body; `null` for none.
    pub(crate) body: &'s Value,
}

/// The answer to a request, as it came.
pub(crate) struct Reply {
    /// The status; 0 if the server gave up the stream instead of answering, as Go does after a panic.
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl<'s> Sent<'s> {
    /// A request in JSON.
    pub(crate) fn json(method: &'s str, path: &'s str, body: &'s Value) -> Sent<'s> {
        let content_type = if method == "PATCH" { MERGE_PATCH } else { JSON };
        Sent { method, path, accept: JSON, content_type, body }
    }
}

impl Line {
    /// Connects with a server; `agent` is the name of the user agent.
    ///
    /// # Errors
    /// If it cannot be reached.
    pub(crate) async fn connect(endpoint: &Endpoint, token: &str, agent: &str) -> Result<Line> {
        let connection = endpoint.http2().await?;
        Ok(Line { url: endpoint.url.clone(), token: token.to_owned(), agent: format!("{agent}/1"), connection })
    }

    /// The name of the user agent.
    pub(crate) fn agent(&self) -> &str {
        &self.agent
    }

    /// Sends a request, once.
    ///
    /// # Errors
    /// If the connection ended.
    pub(crate) async fn send(&self, sent: &Sent<'_>) -> Result<Reply> {
        let Some(answer) = self.open(sent).await? else {
            return Ok(Reply { status: 0, headers: HeaderMap::new(), body: Bytes::new() });
        };
        let (head, body) = answer.into_parts();
        Ok(Reply { status: head.status.as_u16(), headers: head.headers, body: body.collect().await?.to_bytes() })
    }

    /// Sends a request, and returns the answer once its head is here; none if the server gave up the stream.
    ///
    /// # Errors
    /// If the connection ended.
    pub(crate) async fn open(&self, sent: &Sent<'_>) -> Result<Option<http::Response<Incoming>>> {
        let bytes = if sent.body.is_null() { Bytes::new() } else { serde_json::to_vec(sent.body)?.into() };
        let request = http::Request::builder()
            .method(sent.method)
            .uri(format!("{}{}", self.url, sent.path))
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", sent.content_type)
            .header("accept", sent.accept)
            .header("user-agent", &self.agent)
            .body(Full::new(bytes))?;
        match self.connection.clone().send_request(request).await {
            Err(error) if !error.is_closed() && !error.is_canceled() && !self.connection.is_closed() => Ok(None),
            answered => Ok(Some(answered?)),
        }
    }
}
