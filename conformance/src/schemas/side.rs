//! One of the two servers that are compared.

use super::answer::Answer;
use super::case::{Action, Verb};
use super::names::Names;
use crate::credentials::ADMINISTRATOR;
use crate::deadline::DEADLINE;
use crate::subject::{Cluster, Setup, Target};
use anyhow::{Context as _, Result, bail};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2::SendRequest;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Statuses of a server that is too busy, which say nothing of the object.
const BUSY: [u16; 2] = [429, 503];
/// The pause between two looks whether a definition is served, and before a request is sent again.
const PACE: Duration = Duration::from_millis(10);
/// A media type for tables, whose columns say which state of a definition is served.
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// A server and a connection to it.
pub(super) struct Side {
    cluster: Box<dyn Cluster>,
    token: String,
    sender: SendRequest<Full<Bytes>>,
}

/// A request.
#[derive(Default)]
struct Sent<'a> {
    method: &'a str,
    path: String,
    accept: &'a str,
    body: Value,
}

/// The answer to a request, as it came.
struct Reply {
    status: u16,
    warnings: Vec<String>,
    body: Value,
}

impl Side {
    /// Starts a server.
    pub(super) async fn start(target: &dyn Target) -> Result<Side> {
        let setup =
            Setup { scenario: "schemas".to_owned(), replicas: 1, flags: Vec::new(), manual_clock: false, tls: false };
        let cluster = target.start(&setup).await?;
        let sender = cluster.endpoints()[0].http2().await?;
        let token = cluster.token(ADMINISTRATOR).context("the administrator has no token")?;
        Ok(Side { cluster, token, sender })
    }

    /// Stops the server.
    pub(super) async fn stop(self) -> Result<()> {
        self.cluster.stop().await?;
        Ok(())
    }

    /// Creates a definition.
    pub(super) async fn define(&self, definition: &Value, query: &str) -> Result<Answer> {
        let path = format!("{}{query}", Names::definitions());
        let sent = Sent { method: "POST", path, body: definition.clone(), ..Sent::default() };
        let reply = self.send(sent).await?;
        Ok(Answer::new(reply.status, &reply.warnings, reply.body, None))
    }

    /// Changes a definition with a merge patch.
    pub(super) async fn redefine(&self, names: &Names, patch: &Value) -> Result<Answer> {
        let reply =
            self.send(Sent { method: "PATCH", path: names.definition(), body: patch.clone(), ..Sent::default() });
        let reply = reply.await?;
        Ok(Answer::new(reply.status, &reply.warnings, reply.body, None))
    }

    /// Deletes a definition, without waiting until it is gone.
    pub(super) async fn undefine(&self, names: &Names) -> Result<()> {
        let reply = self.send(Sent { method: "DELETE", path: names.definition(), ..Sent::default() }).await?;
        match reply.status {
            200 | 404 => Ok(()),
            status => bail!("a definition is not deleted: {status} {}", reply.body),
        }
    }

    /// Waits until the resource is served as the definition says that has a column of that name.
    pub(super) async fn served(&self, names: &Names, column: &str) -> Result<()> {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let path = format!("{}?limit=1", names.collection());
            let reply = self.send(Sent { method: "GET", path, accept: TABLE, ..Sent::default() }).await?;
            if reply.status == 200 && reply.body["columnDefinitions"][1]["name"] == column {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("{} is not served with the column {column}: {} {}", names.plural(), reply.status, reply.body);
            }
            tokio::time::sleep(PACE).await;
        }
    }

    /// Carries out an action on the object of that name, which was seen last as `seen`; the answer becomes what was seen last.
    pub(super) async fn act(
        &self,
        names: &Names,
        name: &str,
        action: &Action,
        seen: &mut Option<Value>,
    ) -> Result<Answer> {
        let object = format!("{}/{name}", names.collection());
        let (method, path) = match action.verb {
            Verb::Create => ("POST", names.collection()),
            Verb::Get => ("GET", object),
            Verb::Update => ("PUT", object),
            Verb::UpdateStatus => ("PUT", object + "/status"),
            Verb::Patch => ("PATCH", object),
        };
        let revision = seen.as_ref().map_or(Value::Null, |seen| seen["metadata"]["resourceVersion"].clone());
        let body = names.body(name, action, revision);
        let path = path + &query(action.validation);
        let reply = self.send(Sent { method, path, body, ..Sent::default() }).await?;
        let moved = seen.as_ref().and_then(|seen| is_moved(seen, &reply.body));
        if reply.status < 300 {
            *seen = Some(reply.body.clone());
        }
        Ok(Answer::new(reply.status, &reply.warnings, reply.body, moved))
    }

    /// Sends a request, again and again as long as the server is too busy for it.
    async fn send(&self, sent: Sent<'_>) -> Result<Reply> {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let reply = self.send_once(&sent).await?;
            if !BUSY.contains(&reply.status) || Instant::now() > deadline {
                return Ok(reply);
            }
            tokio::time::sleep(PACE).await;
        }
    }

    async fn send_once(&self, sent: &Sent<'_>) -> Result<Reply> {
        let Sent { method, path, accept, body } = sent;
        let method = *method;
        let content_type = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let bytes = if body.is_null() { Bytes::new() } else { serde_json::to_vec(body)?.into() };
        let request = http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.cluster.endpoints()[0].url))
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", content_type)
            .header("accept", if accept.is_empty() { "application/json" } else { accept })
            .header("user-agent", "schemas/1")
            .body(Full::new(bytes))?;
        let answer = self.sender.clone().send_request(request).await?;
        let status = answer.status().as_u16();
        let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let warnings = answer.headers().get_all("warning").iter().map(text).collect();
        let body = answer.into_body().collect().await?.to_bytes();
        let body = serde_json::from_slice(&body).unwrap_or_else(|_| json!({"text": String::from_utf8_lossy(&body)}));
        Ok(Reply { status, warnings, body })
    }
}

/// Whether an object has another revision than before; `None` if nothing but its managed fields can be seen to have changed.
fn is_moved(before: &Value, after: &Value) -> Option<bool> {
    let of = |object: &Value, name: &str| object["metadata"][name].clone();
    let another = of(before, "resourceVersion") != of(after, "resourceVersion");
    (of(before, "managedFields") == of(after, "managedFields") || !another).then_some(another)
}

/// The query with that `fieldValidation`.
pub(super) fn query(validation: Option<&str>) -> String {
    validation.map_or_else(String::new, |validation| format!("?fieldValidation={validation}"))
}
