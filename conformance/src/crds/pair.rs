//! A pair of servers, a real one and the fake: each request goes to both, and what they answer is kept side by side.

use super::order::{keep_group, sort_unordered};
use crate::answers::document;
use crate::credentials::ADMINISTRATOR;
use crate::deadline::DEADLINE;
use crate::subject::{Cluster, Setup, Target};
use anyhow::{Context as _, Result};
use bytes::Bytes;
use conformance_judge::exchange::{self, Difference, Exchange};
use conformance_judge::ledger::Omission;
use conformance_judge::names::Names;
use conformance_judge::observation::Item;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::SendRequest;
use serde_json::Value;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// The usual header `Accept`.
const JSON: &str = "application/json";
/// The time that upstream's controllers have to bring about what the fake does before it answers.
const SETTLING: Duration = Duration::from_secs(20);
/// The pause between two looks at the real server.
const PAUSE: Duration = Duration::from_millis(20);

/// A request of the administrator.
#[derive(Debug, Clone, Default)]
pub(super) struct Request {
    pub(super) method: &'static str,
    pub(super) path: String,
    /// The header `Accept`.
    pub(super) accept: &'static str,
    /// The body; `null` for none.
    pub(super) body: Value,
    /// The group that is looked at in a list of groups.
    pub(super) group: Option<String>,
}

/// The requests of a case, with both answers.
#[derive(Debug, Default)]
pub(super) struct Dialogue {
    real: Vec<Exchange>,
    fake: Vec<Exchange>,
}

/// One of the servers.
struct Side {
    cluster: Box<dyn Cluster>,
    token: String,
    /// The connection that was used last.
    connection: Mutex<Option<SendRequest<Full<Bytes>>>>,
}

/// A real server and the fake.
pub(super) struct Pair {
    real: Side,
    fake: Side,
    omitted: Vec<Omission>,
}

impl Request {
    pub(super) fn get(path: impl Into<String>) -> Request {
        Request { method: "GET", path: path.into(), accept: JSON, body: Value::Null, group: None }
    }

    fn command(&self) -> String {
        let accept = if self.accept == JSON { String::new() } else { format!(" ({})", self.accept) };
        format!("{} {}{accept}", self.method, self.path)
    }
}

impl Dialogue {
    fn add(&mut self, request: &Request, [real, fake]: [Item; 2]) {
        let exchange = |item| Exchange { step: self.real.len() + 1, command: request.command(), items: vec![item] };
        let (real, fake) = (exchange(real), exchange(fake));
        self.real.push(real);
        self.fake.push(fake);
    }

    /// The command of the exchange in which there is a difference.
    pub(super) fn command(&self, difference: &Difference) -> &str {
        &self.real[difference.step - 1].command
    }

    /// The differences between the answers, with placeholders for what differs from run to run.
    pub(super) fn differences(&self, omitted: &[Omission]) -> Vec<Difference> {
        let normal = |exchanges: &[Exchange]| {
            let mut exchanges = exchanges.to_vec();
            let placeholders = exchange::placeholders(&exchanges, &Names::default());
            exchange::normalise(&mut exchanges, &placeholders, omitted);
            exchanges
        };
        exchange::differences(&normal(&self.real), &normal(&self.fake))
    }
}

impl Pair {
    /// Starts both servers.
    ///
    /// # Errors
    /// If one of them does not start.
    pub(super) async fn start(targets: [&dyn Target; 2], omitted: Vec<Omission>) -> Result<Pair> {
        let scenario = "crds".to_owned();
        let setup = Setup { scenario, replicas: 1, flags: Vec::new(), manual_clock: false, tls: false };
        let (real, fake) = tokio::try_join!(targets[0].start(&setup), targets[1].start(&setup))?;
        Ok(Pair { real: Side::new(real)?, fake: Side::new(fake)?, omitted })
    }

    /// Ends the fake. The real server ends with its target.
    ///
    /// # Errors
    /// If it ends with an error.
    pub(super) async fn stop(self) -> Result<()> {
        self.fake.cluster.stop().await.map(drop)
    }

    /// The differences in a dialogue with these servers.
    pub(super) fn differences(&self, dialogue: &Dialogue) -> Vec<Difference> {
        dialogue.differences(&self.omitted)
    }

    /// Sends `request` to both; true if both succeeded.
    ///
    /// # Errors
    /// If there is no answer.
    pub(super) async fn ask(&self, dialogue: &mut Dialogue, request: &Request) -> Result<bool> {
        let answers = tokio::try_join!(self.real.send(request), self.fake.send(request))?;
        let answers = <[Item; 2]>::from(answers);
        let both = answers.iter().all(|item| item.head.starts_with('2'));
        dialogue.add(request, answers);
        Ok(both)
    }

    /// Sends a request that changes nothing to both: to the real server until it answers as the fake does, or had its time.
    ///
    /// # Errors
    /// If there is no answer.
    pub(super) async fn settle(&self, dialogue: &mut Dialogue, request: &Request) -> Result<()> {
        let fake = self.fake.send(request).await?;
        let begin = Instant::now();
        let real = loop {
            let real = self.real.send(request).await?;
            if begin.elapsed() > SETTLING || self.equal(request, &real, &fake) {
                break real;
            }
            tokio::time::sleep(PAUSE).await;
        };
        dialogue.add(request, [real, fake]);
        Ok(())
    }

    fn equal(&self, request: &Request, real: &Item, fake: &Item) -> bool {
        let mut dialogue = Dialogue::default();
        dialogue.add(request, [real.clone(), fake.clone()]);
        self.differences(&dialogue).is_empty()
    }
}

impl Side {
    fn new(cluster: Box<dyn Cluster>) -> Result<Side> {
        let token = cluster.token(ADMINISTRATOR).context("there is no administrator")?;
        Ok(Side { cluster, token, connection: Mutex::default() })
    }

    /// The answer, once the server serves what it is asked for.
    async fn send(&self, request: &Request) -> Result<Item> {
        let answer = async {
            loop {
                let item = self.once(request).await?;
                // The storage of a new resource is being prepared.
                if item.head != "429" {
                    return Ok(item);
                }
                tokio::time::sleep(PAUSE).await;
            }
        };
        tokio::time::timeout(DEADLINE, answer).await.with_context(|| format!("no answer to {}", request.command()))?
    }

    async fn once(&self, request: &Request) -> Result<Item> {
        let body = if request.body.is_null() { Bytes::new() } else { serde_json::to_vec(&request.body)?.into() };
        let message = http::Request::builder()
            .method(request.method)
            .uri(&request.path)
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", JSON)
            .header("accept", request.accept)
            .body(Full::new(body))?;
        let endpoint = &self.cluster.endpoints()[0];
        let mut kept = self.connection.lock().await;
        let mut connection = match kept.take() {
            Some(connection) if !connection.is_closed() => connection,
            _ => endpoint.connect().await?,
        };
        connection.ready().await?;
        let answer = endpoint.send_over(&mut connection, message).await?;
        let mut item = Item { head: answer.status().as_u16().to_string(), ..Item::default() };
        for (name, value) in answer.headers() {
            let values = item.headers.entry(name.as_str().to_owned()).or_default();
            let separator = if values.is_empty() { "" } else { "\n" };
            *values += &format!("{separator}{}", String::from_utf8_lossy(value.as_bytes()));
        }
        let content_type = item.headers.get("content-type").cloned().unwrap_or_default();
        match document(&content_type, &answer.into_body().collect().await?.to_bytes()) {
            Ok(json) => item.document = json,
            Err(text) => item.text = Some(text),
        }
        *kept = Some(connection);
        if let Some(group) = &request.group {
            item.headers.remove("etag");
            keep_group(&mut item.document, group);
        }
        sort_unordered(&mut item.document);
        Ok(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn item(head: &str, document: Value) -> Item {
        Item::new(head, document)
    }

    #[test]
    fn answers_are_compared_but_for_what_differs_from_run_to_run() {
        let object = |uid: u32, revision: &str, image: &str| {
            let uid = format!("00000000-0000-4000-8000-{uid:012}");
            let metadata = json!({"name": "a", "uid": uid, "resourceVersion": revision, "creationTimestamp": "2026-01-01T00:00:00Z"});
            item("201", json!({"metadata": metadata, "spec": {"image": image}}))
        };
        let mut dialogue = Dialogue::default();
        dialogue.add(&Request::get("/a"), [object(1, "7", "x"), object(2, "9", "x")]);
        assert!(dialogue.differences(&[]).is_empty());
        dialogue.add(&Request::get("/b"), [object(1, "7", "x"), object(2, "9", "y")]);
        let differences = dialogue.differences(&[]);
        let shown: Vec<String> =
            differences.iter().map(|one| format!("{} {}", dialogue.command(one), one.path)).collect();
        assert_eq!(shown, ["GET /b spec.image"]);
    }
}
