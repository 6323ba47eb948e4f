//! The verbs about watches: opening one under a name, and waiting for its events.
//!
//! ```text
//! watch configmaps as w ?resourceVersion=$r
//! ----
//! 200
//!
//! await w 2 events                                until that many events arrived
//! ----
//! ADDED a rv=$r1
//! MODIFIED a rv=$r2
//!
//! await w DELETED a                               until that event arrived; also `await w BOOKMARK`, `await w ERROR …`
//! await w closed                                  until the server ends it
//! ```
//!
//! An observation shows the events since the last look, without periodic bookmarks: of bookmarks only those that end the
//! initial events are shown. The checks judge all.

use super::requests::{Arguments, Headers, Query, items};
use crate::resources::Reference;
use crate::stage::{Outgoing, Stage, Stream};
use anyhow::{Context as _, Result};
use conformance_judge::history::Request;
use conformance_judge::observation::{Item, Observation};
use conformance_judge::scenario::CustomResource;
use conformance_judge::scenario::command::RawCommand;
use conformance_judge::scenario::prefixes::Prefixes;
use serde_json::Value;

/// A verb of watches.
#[derive(Debug, Clone, PartialEq)]
pub enum Watch {
    /// `watch RESOURCE as NAME …`.
    Open {
        /// The collection or object to watch; a name becomes a field selector.
        reference: Reference,
        /// The name of the watch in the scenario.
        name: String,
        /// Query parameters.
        query: Query,
        /// Request headers.
        headers: Headers,
    },
    /// `await NAME …`.
    Await {
        /// The name of the watch in the scenario.
        name: String,
        /// The condition that ends the wait.
        until: Until,
    },
}

/// The condition that ends a wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Until {
    /// The end of the stream.
    Closed,
    /// A number of events.
    Count(usize),
    /// An event whose head is this.
    Event(String),
}

const CLOSED: &str = "closed";

impl Watch {
    /// Reads the command.
    pub fn parse(command: &RawCommand, customs: &[CustomResource]) -> Result<Watch, String> {
        match (command.verb.as_str(), &command.words()[..]) {
            ("watch", [reference, "as", name, rest @ ..]) => {
                let (query, headers) = Arguments::parse(rest, &command.details)?.without_body()?;
                let reference = Reference::parse(reference, customs)?;
                Ok(Watch::Open { reference, name: (*name).to_owned(), query, headers })
            }
            ("await", [name, until @ ..]) if !until.is_empty() => {
                let until = match until {
                    [CLOSED] => Until::Closed,
                    [count, "event" | "events"] => {
                        Until::Count(count.parse().map_err(|_| format!("{count:?} events"))?)
                    }
                    event => Until::Event(event.join(" ")),
                };
                Ok(Watch::Await { name: (*name).to_owned(), until })
            }
            ("watch", _) => Err(command.usage("watch RESOURCE as NAME …")),
            _ => Err(command.usage("await NAME N events | await NAME TYPE OBJECT | await NAME closed")),
        }
    }

    /// Carries it out.
    pub async fn play(&self, prefixes: &Prefixes, stage: &mut Stage<'_>) -> Result<Observation> {
        match self {
            Watch::Open { reference, name, query, headers } => {
                let outgoing = open(reference, query, headers, prefixes, stage)?;
                let (reply, stream) = stage.watch(outgoing).await?;
                let refused = stream.is_none();
                stage.watches.extend(stream.map(|stream| (name.clone(), stream)));
                Ok(Observation { items: items(reply, false), refused, ..Observation::default() })
            }
            Watch::Await { name, until } => {
                let stream = stage.watches.get_mut(name).with_context(|| format!("no watch is called {name:?}"))?;
                let mut seen = Vec::new();
                let names = stage.dialogue.names.clone();
                let done = |items: &[Item]| match until {
                    Until::Closed => items.last().is_some_and(|item| item.head == CLOSED),
                    Until::Count(count) => items.len() >= *count,
                    Until::Event(event) => {
                        items.last().is_some_and(|item| names.clone().matches_text(event, &item.head))
                    }
                };
                let patience = stage.patience;
                let waiting = tokio::time::timeout(patience, collect(stream, &mut seen, done)).await;
                let problem = match waiting {
                    Ok(true) => None,
                    Ok(false) => Some("the watch ended".to_owned()),
                    Err(_) => Some(format!("nothing more came for {patience:?}")),
                };
                Ok(Observation { items: seen, problem, ..Observation::default() })
            }
        }
    }
}

/// A watch request.
pub fn open(
    reference: &Reference,
    query: &[(String, String)],
    headers: &Headers,
    prefixes: &Prefixes,
    stage: &mut Stage<'_>,
) -> Result<Outgoing> {
    let mut all = vec![("watch".to_owned(), "true".to_owned())];
    if let Some(name) = &reference.name {
        all.push(("fieldSelector".to_owned(), format!("metadata.name={}", stage.fill(name)?)));
    }
    all.extend(stage.fill_query(query)?);
    let path = stage.fill(&reference.collection(stage.namespace(prefixes)?.as_deref()))?;
    let mut headers = headers.clone();
    headers.entry("accept".to_owned()).or_insert_with(|| "application/json".to_owned());
    for value in headers.values_mut() {
        *value = stage.fill(value)?;
    }
    let request = Request { method: "GET".to_owned(), path, query: all, headers, ..Request::default() };
    stage.address(prefixes, request, Vec::new())
}

/// Adds frames to `seen` until it is `done`. False if the stream ends before.
async fn collect(stream: &mut Stream, seen: &mut Vec<Item>, done: impl Fn(&[Item]) -> bool) -> bool {
    while !done(seen) {
        match stream.next().await {
            Some(frame) if is_of_the_clock(&frame) => {}
            Some(frame) => seen.push(item(frame)),
            None => {
                seen.push(Item::new(CLOSED, Value::Null));
                return done(seen);
            }
        }
    }
    true
}

/// Whether it is a periodic bookmark, not the one that ends the initial events.
fn is_of_the_clock(frame: &Value) -> bool {
    frame["type"] == "BOOKMARK" && !frame["object"].to_string().contains("\"k8s.io/initial-events-end\"")
}

/// A frame as an item: `ADDED a`, `BOOKMARK`, `ERROR 410 Expired`. A table has the name of the object in its row, if there
/// is one.
fn item(mut frame: Value) -> Item {
    let kind = frame["type"].as_str().unwrap_or("?").to_owned();
    let object = frame["object"].take();
    let head = match kind.as_str() {
        "BOOKMARK" => kind,
        "ERROR" => format!("ERROR {} {}", object["code"], object["reason"].as_str().unwrap_or_default()),
        _ => match object["metadata"]["name"].as_str().or(object["rows"][0]["object"]["metadata"]["name"].as_str()) {
            Some(name) => format!("{kind} {name}"),
            None => kind,
        },
    };
    Item::new(head, object)
}
