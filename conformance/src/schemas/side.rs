//! One of the two servers that are compared.

use super::answer::Answer;
use super::case::{Action, Verb};
use super::names::Names;
use crate::administrator::Administrator;
use crate::deadline::DEADLINE;
use crate::line::{JSON, MERGE_PATCH, Reply, Sent};
use crate::subject::Target;
use anyhow::{Result, bail};
use http::HeaderValue;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The pause between two looks whether a definition is served.
const PACE: Duration = Duration::from_millis(10);
/// A media type for tables, whose columns say which state of a definition is served.
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// A server.
pub(super) struct Side(Administrator);

/// An answer, as JSON.
struct Read {
    status: u16,
    warnings: Vec<String>,
    body: Value,
}

impl Side {
    /// Starts a server.
    pub(super) async fn start(target: &dyn Target) -> Result<Side> {
        Ok(Side(Administrator::start(target, "schemas").await?))
    }

    /// Stops the server.
    pub(super) async fn stop(self) -> Result<()> {
        self.0.stop().await
    }

    /// Creates a definition.
    pub(super) async fn define(&self, definition: &Value, query: &str) -> Result<Answer> {
        let path = format!("{}{query}", Names::definitions());
        let reply = self.send("POST", &path, JSON, definition).await?;
        Ok(Answer::new(reply.status, &reply.warnings, reply.body, None))
    }

    /// Changes a definition with a merge patch.
    pub(super) async fn redefine(&self, names: &Names, patch: &Value) -> Result<Answer> {
        let reply = self.send("PATCH", &names.definition(), JSON, patch).await?;
        Ok(Answer::new(reply.status, &reply.warnings, reply.body, None))
    }

    /// Deletes a definition, without waiting until it is gone.
    pub(super) async fn undefine(&self, names: &Names) -> Result<()> {
        let reply = self.send("DELETE", &names.definition(), JSON, &Value::Null).await?;
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
            let reply = self.send("GET", &path, TABLE, &Value::Null).await?;
            if reply.status == 200 && reply.body["columnDefinitions"][1]["name"] == column {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("{} is not served with the column {column}: {} {}", names.plural(), reply.status, reply.body);
            }
            tokio::time::sleep(PACE).await;
        }
    }

    /// Carries out an action on the object of that name. `seen` is the object as last seen, and is replaced by the answer.
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
        let reply = self.send(method, &path, JSON, &body).await?;
        let moved = seen.as_ref().map(|seen| is_moved(seen, &reply.body));
        if reply.status < 300 {
            *seen = Some(reply.body.clone());
        }
        Ok(Answer::new(reply.status, &reply.warnings, reply.body, moved))
    }

    async fn send(&self, method: &str, path: &str, accept: &str, body: &Value) -> Result<Read> {
        let content_type = if method == "PATCH" { MERGE_PATCH } else { JSON };
        let Reply { status, headers, body } = self.0.send(&Sent { method, path, accept, content_type, body }).await?;
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let warnings = headers.get_all("warning").iter().map(text).collect();
        let body = serde_json::from_slice(&body).unwrap_or_else(|_| json!({"text": String::from_utf8_lossy(&body)}));
        Ok(Read { status, warnings, body })
    }
}

/// Whether an object has another revision than before.
fn is_moved(before: &Value, after: &Value) -> bool {
    before["metadata"]["resourceVersion"] != after["metadata"]["resourceVersion"]
}

/// The query with that `fieldValidation`.
pub(super) fn query(validation: Option<&str>) -> String {
    validation.map_or_else(String::new, |validation| format!("?fieldValidation={validation}"))
}
