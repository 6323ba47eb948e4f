//! The requests of a case.

use super::file::File;
use super::{Case, kept};
use crate::administrator::Administrator;
use crate::deadline::DEADLINE;
use crate::line::{JSON, MERGE_PATCH, Reply, Sent};
use crate::resources::{self, Resource};
use anyhow::{Context as _, Result, ensure};
use http::StatusCode;
use serde_json::{Value, json};
use std::time::Instant;

/// The namespace of all namespaced objects; answers have it.
const NAMESPACE: &str = "kinds-x";

/// A server, and the paths of the objects of a resource.
struct Player<'p> {
    administrator: &'p Administrator,
    resource: &'p Resource,
    collection: String,
}

/// Plays the cases of a file; they come back with the answers.
///
/// # Errors
/// If there is no answer, or an object that a case needs cannot be created or deleted.
pub(super) async fn play(administrator: &Administrator, file: &File) -> Result<File> {
    let namespaces =
        resources::stored().find(|resource| resource.kind == "Namespace").context("namespaces are stored")?;
    let namespaces = Player::new(administrator, namespaces);
    let player = Player::new(administrator, file.resource);
    if file.resource.namespaced {
        namespaces.create(&json!({"metadata": {"name": NAMESPACE}})).await?;
    }
    let mut cases = Vec::new();
    for (index, case) in file.cases.iter().enumerate() {
        cases.push(player.play(case).await.with_context(|| file.place(index))?);
    }
    if file.resource.namespaced {
        namespaces.remove(NAMESPACE).await?;
    }
    Ok(file.with(cases))
}

impl<'p> Player<'p> {
    fn new(administrator: &'p Administrator, resource: &'p Resource) -> Player<'p> {
        Player { administrator, resource, collection: resource.collection(Some(NAMESPACE)) }
    }

    async fn play(&self, case: &Case) -> Result<Case> {
        let reply = match &case.old {
            None => self.send("POST", &format!("{}?dryRun=All", self.collection), &case.body).await?,
            Some(old) => self.update(case, old).await?,
        };
        Ok(Case { answer: kept::answer(&reply)?, warnings: kept::warnings(&reply)?, ..case.clone() })
    }

    /// Updates the object `old`, which is there for this case alone.
    async fn update(&self, case: &Case, old: &Value) -> Result<Reply> {
        let name = old["metadata"]["name"].as_str().context("the old object has no name")?;
        let one = format!("{}/{name}", self.collection);
        let mut stored = self.create(old).await?;
        if old.get("status").is_some() {
            stored = document(&self.send("PUT", &format!("{one}/status"), &unidentified(old)).await?)?;
        }
        let subresource = case.subresource.iter().map(|name| format!("/{name}")).collect::<String>();
        let path = format!("{one}{subresource}?dryRun=All");
        let mut body = unidentified(&case.body);
        let reply = loop {
            // Some kinds require the revision that was read.
            let revision = &stored["metadata"]["resourceVersion"];
            body["metadata"]["resourceVersion"] = revision.clone();
            let reply = self.send("PUT", &path, &body).await?;
            // A controller may have written, too.
            let now = document(&self.send("GET", &one, &Value::Null).await?)?;
            if reply.status != StatusCode::CONFLICT || now["metadata"]["resourceVersion"] == *revision {
                break reply;
            }
            stored = now;
        };
        self.remove(name).await?;
        Ok(reply)
    }

    async fn create(&self, object: &Value) -> Result<Value> {
        document(&self.send("POST", &self.collection, &unidentified(object)).await?)
    }

    /// Deletes an object, whatever its finalizers, and waits until it is gone.
    async fn remove(&self, name: &str) -> Result<()> {
        let one = format!("{}/{name}", self.collection);
        let deadline = Instant::now() + DEADLINE;
        loop {
            self.send("DELETE", &one, &json!({"gracePeriodSeconds": 0})).await?;
            let left = self.send("GET", &one, &Value::Null).await?;
            if left.status == StatusCode::NOT_FOUND {
                return Ok(());
            }
            let about = || format!("{one} is still there: {}", String::from_utf8_lossy(&left.body));
            ensure!(Instant::now() < deadline, about());
            // A controller may have added one since.
            self.send("PATCH", &one, &json!({"metadata": {"finalizers": null}})).await?;
            if self.resource.kind == "Namespace" {
                self.send("PUT", &format!("{one}/finalize"), &json!({"metadata": {"name": name}})).await?;
            }
        }
    }

    async fn send(&self, method: &str, path: &str, body: &Value) -> Result<Reply> {
        let content_type = if method == "PATCH" { MERGE_PATCH } else { JSON };
        self.administrator.send(&Sent { method, path, accept: JSON, content_type, body }).await
    }
}

/// The document of a success.
fn document(reply: &Reply) -> Result<Value> {
    ensure!(reply.status < 400, "{}", String::from_utf8_lossy(&reply.body));
    Ok(serde_json::from_slice(&reply.body)?)
}

/// An object without the fields that differ from server to server.
fn unidentified(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|key, _| !["uid", "resourceVersion"].contains(&key.as_str()));
    }
    object
}
