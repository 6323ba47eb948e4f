//! The administrator of a server that was started to be compared with another one: a connection, over which requests are sent until the
//! server is not too busy for them.

use crate::credentials::ADMINISTRATOR;
use crate::deadline::DEADLINE;
use crate::subject::{Cluster, Setup, Target};
use anyhow::{Context as _, Result};
use bytes::Bytes;
use http::HeaderMap;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2::SendRequest;
use serde_json::Value;
use std::time::{Duration, Instant};

/// The media type of bodies.
pub(crate) const JSON: &str = "application/json";
/// The media type of merge patches.
pub(crate) const MERGE_PATCH: &str = "application/merge-patch+json";
/// The statuses of a server that is too busy, or prepares the storage of a new resource: they say nothing of the request.
const BUSY: [u16; 2] = [429, 503];
/// The pause before a request is sent again.
const PAUSE: Duration = Duration::from_millis(10);

/// A server, and the connection of its administrator.
pub(crate) struct Administrator {
    cluster: Box<dyn Cluster>,
    token: String,
    agent: String,
    connection: SendRequest<Full<Bytes>>,
}

/// The access to a server: its URL, and the administrator's token.
pub(crate) struct Access<'a> {
    pub(crate) url: &'a str,
    pub(crate) token: &'a str,
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

impl Administrator {
    /// Starts a server. `name` is that of its run, and that of the user agent.
    ///
    /// # Errors
    /// If it does not start, or cannot be connected with.
    pub(crate) async fn start(target: &dyn Target, name: &str) -> Result<Administrator> {
        let setup =
            Setup { scenario: name.to_owned(), replicas: 1, flags: Vec::new(), manual_clock: false, tls: false };
        let cluster = target.start(&setup).await?;
        let connection = cluster.endpoints()[0].http2().await?;
        let token = cluster.token(ADMINISTRATOR).context("the administrator has no token")?;
        Ok(Administrator { cluster, token, agent: format!("{name}/1"), connection })
    }

    /// The access to the server, for a program that connects itself.
    pub(crate) fn access(&self) -> Access<'_> {
        Access { url: &self.cluster.endpoints()[0].url, token: &self.token }
    }

    /// Stops the server.
    ///
    /// # Errors
    /// If it ends with an error.
    pub(crate) async fn stop(self) -> Result<()> {
        self.cluster.stop().await.map(drop)
    }

    /// Sends a request, repeatedly while the server is too busy for it. After the deadline the refusal is the answer.
    ///
    /// # Errors
    /// If the server does not answer.
    pub(crate) async fn send(&self, sent: &Sent<'_>) -> Result<Reply> {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let once = tokio::time::timeout(DEADLINE, self.send_once(sent));
            let about = || format!("no answer of {} to {} {} {}", self.agent, sent.method, sent.path, sent.body);
            let reply = once.await.with_context(about)?.with_context(about)?;
            if !BUSY.contains(&reply.status) || Instant::now() > deadline {
                return Ok(reply);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn send_once(&self, sent: &Sent<'_>) -> Result<Reply> {
        let bytes = if sent.body.is_null() { Bytes::new() } else { serde_json::to_vec(sent.body)?.into() };
        let request = http::Request::builder()
            .method(sent.method)
            .uri(format!("{}{}", self.cluster.endpoints()[0].url, sent.path))
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", sent.content_type)
            .header("accept", sent.accept)
            .header("user-agent", &self.agent)
            .body(Full::new(bytes))?;
        let answered = match self.connection.clone().send_request(request).await {
            Err(error) if !error.is_closed() && !error.is_canceled() && !self.connection.is_closed() => {
                return Ok(Reply { status: 0, headers: HeaderMap::new(), body: Bytes::new() });
            }
            answered => answered?,
        };
        let (head, body) = answered.into_parts();
        Ok(Reply { status: head.status.as_u16(), headers: head.headers, body: body.collect().await?.to_bytes() })
    }
}
