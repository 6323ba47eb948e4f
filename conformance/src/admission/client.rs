//! A client of a soak of admission: it creates, updates and deletes objects of its own, and patches those that are everybody's.

use super::history::{Act, Outcome, Write, data, field, revision};
use super::world::{HOT, LIMIT, SLOTS, Slots, body, config_maps, hot};
use crate::line::{Line, Sent};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

/// The time after which an answer is not waited for any more.
const GONE: Duration = Duration::from_secs(60);
/// The most objects of a client.
const OWN: usize = 5;
/// Sizes are below this.
pub(super) const SIZES: u64 = 100;
/// The statuses that do not say whether a write was carried out.
const UNSURE: [u16; 3] = [0, 504, 500];

/// An object of a client.
struct Own {
    namespace: String,
    name: String,
    revision: u64,
}

/// A client, and its writes.
pub(super) struct Client {
    line: Line,
    slots: Arc<Slots>,
    number: usize,
    random: fastrand::Rng,
    begun: Instant,
    /// Takes the namespace of each object that was deleted.
    returned: UnboundedSender<String>,
    own: Vec<Own>,
    writes: Vec<Write>,
}

impl Client {
    /// The client of that number.
    pub(super) fn new(
        line: Line,
        (number, seed): (usize, u64),
        slots: Arc<Slots>,
        begun: Instant,
        returned: UnboundedSender<String>,
    ) -> Client {
        let random = fastrand::Rng::with_seed(seed ^ ((number as u64) << 32));
        Client { line, slots, number, random, begun, returned, own: Vec::new(), writes: Vec::new() }
    }

    /// Writes until `stop`. Returns its writes.
    pub(super) async fn run(mut self, stop: CancellationToken) -> Vec<Write> {
        while !stop.is_cancelled() {
            let which = self.random.usize(..self.own.len().max(1));
            match self.random.u32(..100) {
                0..20 => self.patch().await,
                _ if self.own.is_empty() => self.create().await,
                20..55 if self.own.len() < OWN => self.create().await,
                55..80 => self.update(which).await,
                _ => self.delete(which).await,
            }
        }
        self.writes
    }

    async fn create(&mut self) {
        let (request, size) = self.next();
        let namespace = self.slots.get(self.random.usize(..SLOTS));
        let name = format!("o-{request}");
        let body = body(&name, &request, size);
        let path = config_maps(&namespace);
        let object = (namespace.clone(), name.clone());
        if let Some(revision) = self.write(Act::Create, (request, size), object, ("POST", path), body).await {
            self.own.push(Own { namespace, name, revision });
        }
    }

    async fn update(&mut self, which: usize) {
        let (request, size) = self.next();
        let Own { namespace, name, revision } = self.own.swap_remove(which);
        let mut body = body(&name, &request, size);
        body["metadata"]["resourceVersion"] = revision.to_string().into();
        let path = format!("{}/{name}", config_maps(&namespace));
        let object = (namespace.clone(), name.clone());
        let done = self.write(Act::Update(revision), (request, size), object, ("PUT", path), body).await;
        // A refused update leaves the object as it was; one that is not found is not written again.
        let refused = self
            .writes
            .last()
            .is_some_and(|write| matches!(write.outcome, Outcome::Refused(status, _) if status != 404));
        if done.is_some() || refused {
            self.own.push(Own { namespace, name, revision: done.unwrap_or(revision) });
        }
    }

    async fn patch(&mut self) {
        let (request, size) = self.next();
        let namespace = self.slots.get(self.random.usize(..SLOTS));
        let name = hot(self.random.usize(..HOT));
        let mut body = body(&name, &request, size);
        for hook in [field::STRICT, field::LENIENT] {
            body["data"][hook] = Value::Null;
        }
        let path = format!("{}/{name}", config_maps(&namespace));
        self.write(Act::Patch, (request, size), (namespace, name), ("PATCH", path), body).await;
    }

    async fn delete(&mut self, which: usize) {
        let (request, size) = self.next();
        let Own { namespace, name, .. } = self.own.swap_remove(which);
        let path = format!("{}/{name}", config_maps(&namespace));
        let object = (namespace.clone(), name);
        if self.write(Act::Delete, (request, size), object, ("DELETE", path), json!(null)).await.is_some() {
            // The receiver is there as long as clients are.
            self.returned.send(namespace).ok();
        }
    }

    fn next(&mut self) -> (String, u64) {
        (format!("{}-{}", self.number, self.writes.len()), self.random.u64(..SIZES))
    }

    /// Sends a write, and notes it. Returns the object's revision, if it was carried out.
    async fn write(
        &mut self,
        act: Act,
        (request, size): (String, u64),
        object: (String, String),
        (method, path): (&str, String),
        body: Value,
    ) -> Option<u64> {
        let path = format!("{path}?timeout={}s", LIMIT.as_secs());
        let sent = self.begun.elapsed();
        let reply = tokio::time::timeout(GONE, self.line.send(&Sent::json(method, &path, &body))).await;
        let answered = self.begun.elapsed();
        let outcome = match reply {
            Err(_) => Outcome::Unknown(format!("no answer within {GONE:?}")),
            Ok(Err(error)) => Outcome::Unknown(format!("{error:#}")),
            Ok(Ok(reply)) => outcome(reply.status, &serde_json::from_slice(&reply.body).unwrap_or_default()),
        };
        let revision = if let Outcome::Done(revision, _) = outcome { Some(revision) } else { None };
        self.writes.push(Write { act, request, object, size, sent, answered, outcome });
        revision
    }
}

fn outcome(status: u16, answer: &Value) -> Outcome {
    let message = || answer["message"].as_str().unwrap_or_default().to_owned();
    match status {
        200 | 201 => Outcome::Done(revision(answer), data(answer)),
        // An error of a webhook comes before the write.
        500 if super::verdict::Cause::of(500, &message()).is_some() => Outcome::Refused(status, message()),
        status if UNSURE.contains(&status) => Outcome::Unknown(format!("{status} {}", message())),
        status => Outcome::Refused(status, message()),
    }
}
