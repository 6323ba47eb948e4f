//! A pair of servers, a real one and the fake: each request goes to both, and their answers are kept side by side.

mod order;

use crate::administrator::{Access, Administrator};
use crate::answers::document;
use crate::line::{JSON, Reply, Sent};
use crate::subject::Target;
use anyhow::Result;
use conformance_judge::exchange::{self, Difference, Exchange};
use conformance_judge::ledger::Omission;
use conformance_judge::names::Names;
use conformance_judge::observation::Item;
use order::{keep_group, sort_unordered};
use serde_json::Value;
use std::time::{Duration, Instant};

/// The time that upstream's controllers have for the work that the fake does before it answers. The one of flow schemas waits for up to 75
/// seconds if it has changed a status six times in a minute.
const SETTLING: Duration = Duration::from_secs(90);
/// The pause between two looks at the real server.
const PAUSE: Duration = Duration::from_millis(20);

/// A request of the administrator.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    /// The header `Accept`.
    pub(crate) accept: &'static str,
    /// The header `Content-Type`.
    pub(crate) content_type: &'static str,
    /// The body; `null` for none.
    pub(crate) body: Value,
    /// The group that is looked at in a list of groups.
    pub(crate) group: Option<String>,
}

/// The requests of a case, with both answers.
#[derive(Debug, Default)]
pub(crate) struct Dialogue {
    real: Vec<Exchange>,
    fake: Vec<Exchange>,
}

/// A real server and the fake.
pub(crate) struct Pair {
    real: Administrator,
    fake: Administrator,
    omitted: Vec<Omission>,
}

impl Request {
    pub(crate) fn get(path: impl Into<String>) -> Request {
        Request { method: "GET", path: path.into(), accept: JSON, content_type: JSON, body: Value::Null, group: None }
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
    pub(crate) fn command(&self, difference: &Difference) -> &str {
        &self.real[difference.step - 1].command
    }

    /// The differences between the answers, with placeholders for what differs from run to run.
    pub(crate) fn differences(&self, omitted: &[Omission]) -> Vec<Difference> {
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
    /// Starts both servers. `name` is that of the user agent.
    ///
    /// # Errors
    /// If one of them does not start.
    pub(crate) async fn start(targets: [&dyn Target; 2], name: &str, omitted: Vec<Omission>) -> Result<Pair> {
        let [real, fake] = targets.map(|target| Administrator::start(target, name));
        let (real, fake) = tokio::try_join!(real, fake)?;
        Ok(Pair { real, fake, omitted })
    }

    /// Ends the fake. The real server ends with its target.
    ///
    /// # Errors
    /// If it ends with an error.
    pub(crate) async fn stop(self) -> Result<()> {
        self.fake.stop().await
    }

    /// The administrator's access to each of the servers, the real one first.
    pub(crate) fn access(&self) -> [Access<'_>; 2] {
        [&self.real, &self.fake].map(Administrator::access)
    }

    /// The differences in a dialogue with these servers.
    pub(crate) fn differences(&self, dialogue: &Dialogue) -> Vec<Difference> {
        dialogue.differences(&self.omitted)
    }

    /// Sends `request` to both; true if both succeeded.
    ///
    /// # Errors
    /// If a server does not answer.
    pub(crate) async fn ask(&self, dialogue: &mut Dialogue, request: &Request) -> Result<bool> {
        let answers = self.ask_each(dialogue, [request, request], |_| {}).await?;
        Ok(answers.iter().all(Item::is_success))
    }

    /// Sends each server its request, the first one to the real server. Returns the answers, after `settle` has changed them.
    ///
    /// # Errors
    /// If a server does not answer.
    pub(crate) async fn ask_each(
        &self,
        dialogue: &mut Dialogue,
        [real, fake]: [&Request; 2],
        settle: fn(&mut Value),
    ) -> Result<[Item; 2]> {
        let answers = tokio::try_join!(send(&self.real, real), send(&self.fake, fake))?;
        let mut answers = <[Item; 2]>::from(answers);
        answers.iter_mut().for_each(|answer| settle(&mut answer.document));
        dialogue.add(real, answers.clone());
        Ok(answers)
    }

    /// Sends a request that changes nothing to both: to the real server until it answers as the fake does, or had its time.
    ///
    /// # Errors
    /// If a server does not answer.
    pub(crate) async fn settle(&self, dialogue: &mut Dialogue, request: &Request) -> Result<()> {
        let fake = send(&self.fake, request).await?;
        let begin = Instant::now();
        let real = loop {
            let real = send(&self.real, request).await?;
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

/// The answer of a server.
async fn send(administrator: &Administrator, request: &Request) -> Result<Item> {
    let Request { method, path, accept, content_type, body, group } = request;
    let Reply { status, headers, body } =
        administrator.send(&Sent { method, path, accept, content_type, body }).await?;
    let mut item = Item { head: status.to_string(), ..Item::default() };
    for (name, value) in &headers {
        let values = item.headers.entry(name.as_str().to_owned()).or_default();
        let separator = if values.is_empty() { "" } else { "\n" };
        *values += &format!("{separator}{}", String::from_utf8_lossy(value.as_bytes()));
    }
    let content_type = item.headers.get("content-type").cloned().unwrap_or_default();
    match document(&content_type, &body) {
        Ok(json) => item.document = json,
        Err(text) => item.text = Some(text),
    }
    if let Some(group) = group {
        item.headers.remove("etag");
        keep_group(&mut item.document, group);
    }
    sort_unordered(&mut item.document);
    Ok(item)
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
