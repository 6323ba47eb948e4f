//! The order to seed: objects are applied as a client applies them, over a connection inside of the process.
//!
//! ```text
//!   stream ──▶ documents ──▶ round: each is applied ──▶ some fail, some do not ──▶ the next round ──▶ none fails
//!                                                                             └─▶ no progress: all is put back
//! ```
//! Rounds bring them into an order: custom resources wait for their definition, and objects for their namespace. What a server writes itself
//! (uids, revisions, managers of fields) is left out, so that objects of another cluster can be given; a status is applied as one.

use crate::deadline::Deadline;
use crate::http::Peer;
use crate::registry::Served;
use crate::server::{FakeApiServer, listener};
use crate::threads;
use bytes::Bytes;
use control::{Answer, Cause, Refusal};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tokio_util::sync::CancellationToken;
use tree::Value;

/// The manager of the fields.
const MANAGER: &str = "seed";
/// The bytes between the two ends of the connection.
const PIPE: usize = 64 * 1024;
/// The members of metadata that a server writes.
const OWN: [&str; 6] = ["creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"];

/// An object to apply.
struct Seedling {
    /// Its place in the stream, from 1 on.
    number: usize,
    object: Value,
}

/// A connection to the server that does not leave the process.
struct Line {
    sender: SendRequest<Full<Bytes>>,
    token: String,
    /// Ends the connection.
    stop: CancellationToken,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl FakeApiServer {
    pub(super) async fn seed(&self, stream: &str) -> Result<Answer, Refusal> {
        let mut waiting = seedlings(stream)?;
        let _replacing = self.control.replacing.lock().await;
        let (before, first) = (self.before(), self.cluster.store.revision());
        let mut line = self.line().await?;
        while !waiting.is_empty() {
            let (mut failed, mut why) = (Vec::new(), None);
            let number = waiting.len();
            for seedling in waiting {
                if let Err(refusal) = self.apply(&mut line, &seedling).await {
                    why.get_or_insert(refusal);
                    failed.push(seedling);
                }
            }
            if let Some(refusal) = why.filter(|_| failed.len() == number) {
                self.put_back(&before).await;
                return Err(refusal);
            }
            waiting = failed;
        }
        let revision = self.cluster.store.revision();
        Ok(Answer::Written { writes: revision.saturating_sub(first), revision: revision.to_string() })
    }

    /// A connection to the first replica, also if that is stopped.
    async fn line(&self) -> Result<Line, Refusal> {
        let (near, far) = tokio::io::duplex(PIPE);
        let stop = CancellationToken::new();
        let peer = Peer { is_own: true, ..Peer::default() };
        let serving = listener::serve_connection(far, peer, self.first().inner().clone(), stop.clone());
        threads::runtime().map_err(Refusal::internal)?.spawn(serving);
        let (sender, connection) = handshake(TokioIo::new(near)).await.map_err(Refusal::internal)?;
        tokio::spawn(connection);
        Ok(Line { sender, token: self.admin_token.clone(), stop })
    }

    /// Applies an object, and its status if it has one.
    async fn apply(&self, line: &mut Line, seedling: &Seedling) -> Result<(), Refusal> {
        let object = &seedling.object;
        let text = |field: &str| object[field].as_str().unwrap_or_default();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let catalog = self.cluster.catalog();
        let Some(served) = catalog.registry.kind(api_version, kind) else {
            let kinds: Vec<&str> = catalog.registry.versions().map(|served| &*served.version.kind).collect();
            let why = format!("no served resource has it in {api_version:?}{}", control::near::hint(kind, kinds));
            return Err(invalid(seedling.number, "kind", kind, why));
        };
        let path = path(served, object);
        let has_status = served.version.subresources.iter().any(|sub| &*sub.name == "status");
        line.apply(&path, object, seedling.number).await?;
        match object.get("status") {
            Some(_) if has_status => line.apply(&format!("{path}/status"), object, seedling.number).await,
            _ => Ok(()),
        }
    }
}

impl Line {
    async fn apply(&mut self, path: &str, object: &Value, number: usize) -> Result<(), Refusal> {
        let request = http::Request::patch(format!("{path}?fieldManager={MANAGER}&force=true"))
            .header("host", "localhost")
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", "application/apply-patch+yaml")
            .header("accept", "application/json")
            .body(Full::new(Bytes::from(object.to_string())))
            .map_err(Refusal::internal)?;
        self.sender.ready().await.map_err(Refusal::internal)?;
        let response = self.sender.send_request(request).await.map_err(Refusal::internal)?;
        let succeeds = response.status().is_success();
        let body = response.into_body().collect().await.map_err(Refusal::internal)?.to_bytes();
        if succeeds {
            return Ok(());
        }
        let status: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
        let why = status["message"].as_str().unwrap_or("the server refuses it");
        Err(invalid(number, "", object["metadata"]["name"].as_str().unwrap_or_default(), why))
    }
}

/// The path of an object.
fn path(served: Served<'_>, object: &Value) -> String {
    let version = &served.version;
    let root = if version.group.is_empty() { "api" } else { "apis" };
    let metadata = &object["metadata"];
    let segment =
        |field: &str| utf8_percent_encode(metadata[field].as_str().unwrap_or_default(), NON_ALPHANUMERIC).to_string();
    let namespace = match (served.resource.meta.namespaced, segment("namespace").as_str()) {
        (false, _) => String::new(),
        (true, "") => "namespaces/default/".into(),
        (true, namespace) => format!("namespaces/{namespace}/"),
    };
    format!("/{root}/{}/{namespace}{}/{}", version.api_version, version.plural, segment("name"))
}

/// The objects of a stream.
fn seedlings(stream: &str) -> Result<Vec<Seedling>, Refusal> {
    let mut found = Vec::new();
    for (index, document) in documents(stream).into_iter().enumerate() {
        let number = index + 1;
        let read = crate::yaml::parse(document.as_bytes(), &Deadline::default());
        let read = read.map_err(|why| invalid(number, "", "...", why))?;
        if let Some(finding) = read.finding() {
            return Err(invalid(number, "", "...", finding));
        }
        let objects = match read.value {
            Value::Null => continue,
            list if list["kind"].as_str() == Some("List") => list["items"].as_array().cloned().unwrap_or_default(),
            object => vec![object],
        };
        for mut object in objects {
            for field in ["apiVersion", "kind"] {
                if object[field].as_str().is_none_or(str::is_empty) {
                    return Err(invalid(number, field, "", "an object has it"));
                }
            }
            if object["metadata"]["name"].as_str().is_none_or(str::is_empty) {
                return Err(invalid(number, "metadata.name", "", "an object that is applied has a name"));
            }
            if let Some(metadata) = object["metadata"].as_object_mut() {
                for field in OWN {
                    metadata.remove(field);
                }
            }
            found.push(Seedling { number, object });
        }
    }
    if found.is_empty() {
        return Err(invalid(0, "", "", "it has no objects"));
    }
    Ok(found)
}

/// The documents of a stream: between lines that begin with `---`.
fn documents(stream: &str) -> Vec<String> {
    let mut documents = vec![String::new()];
    for line in stream.lines() {
        match line.strip_prefix("---") {
            Some(rest) if rest.is_empty() || rest.starts_with([' ', '\t', '\r']) => {
                // What stands behind the mark belongs to the document.
                let rest = rest.trim();
                documents.push(if rest.is_empty() { String::new() } else { format!("{rest}\n") });
            }
            _ => {
                let last = documents.last_mut().expect("there is one from the start");
                last.push_str(line);
                last.push('\n');
            }
        }
    }
    documents.retain(|document| !document.trim().is_empty());
    documents
}

fn invalid(number: usize, field: &str, value: &str, why: impl std::fmt::Display) -> Refusal {
    let dot = if field.is_empty() { "" } else { "." };
    let cause = Cause::invalid(format_args!("objects[{number}]{dot}{field}"), value, why);
    Refusal::invalid("seed", "", vec![cause])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_has_documents() {
        let stream = "# a comment\n---\na: 1\n--- # two\nb: |\n  ---x\n---\n\n---\nc: 3\n";
        assert_eq!(documents(stream), ["# a comment\n", "a: 1\n", "# two\nb: |\n  ---x\n", "c: 3\n"]);
    }

    #[test]
    fn a_list_is_its_items_and_what_a_server_writes_is_left_out() {
        let stream = r#"{"kind": "List", "apiVersion": "v1", "items": [
            {"kind": "A", "apiVersion": "v1", "metadata": {"name": "a", "uid": "1", "labels": {"k": "v"}}}]}"#;
        let found = seedlings(stream).unwrap();
        assert_eq!(
            found[0].object.to_string(),
            r#"{"apiVersion":"v1","kind":"A","metadata":{"labels":{"k":"v"},"name":"a"}}"#
        );
        for (stream, message) in [
            ("", "objects[0]: Invalid value: \"\": it has no objects"),
            ("kind: A", "objects[1].apiVersion: Invalid value: \"\": an object has it"),
            (
                "kind: A\napiVersion: v1",
                "objects[1].metadata.name: Invalid value: \"\": an object that is applied has a name",
            ),
        ] {
            let refusal = seedlings(stream).err().unwrap();
            assert_eq!(refusal.message, format!("seed is invalid: {message}"));
        }
    }
}
