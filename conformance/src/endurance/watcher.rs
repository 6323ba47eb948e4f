//! A watch that goes on: list, watch from there, resume where it ended, list anew if that is forgotten.

use super::history::{Change, Object, Scope, Seen, Shown};
use super::link::Link;
use super::names;
use anyhow::{Context as _, Result, bail};
use http::Method;
use http_body_util::BodyExt as _;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::watch;

/// The pause after a refusal.
const PAUSE: Duration = Duration::from_millis(200);
/// The annotation of the bookmark that ends a streamed list.
const LIST_ENDS: &str = "k8s.io/initial-events-end";

/// The revision that each object must be seen at in the end.
pub(super) type Goal = Arc<BTreeMap<Object, u64>>;

/// A watch under way.
pub(super) struct Watcher {
    link: Link,
    scope: Scope,
    /// Whether it begins with a streamed list.
    streams: bool,
    goal: watch::Receiver<Goal>,
    /// The revisions that it has of objects.
    known: BTreeMap<Object, u64>,
    /// The revision that it is resumed from.
    last: Option<u64>,
    /// Its observations so far.
    seen: Vec<Seen>,
}

#[derive(Deserialize)]
struct Frame {
    r#type: String,
    object: Shape,
}

/// The fields of an object, a list or a status that are looked at.
#[derive(Deserialize)]
struct Shape {
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    items: Vec<Shape>,
    #[serde(default)]
    code: u16,
}

#[derive(Deserialize, Default)]
struct Metadata {
    #[serde(default)]
    name: String,
    #[serde(default)]
    uid: String,
    #[serde(default, rename = "resourceVersion")]
    revision: String,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

impl Metadata {
    fn revision(&self) -> Result<u64> {
        self.revision.parse().with_context(|| format!("{:?} is no revision", self.revision))
    }

    fn shown(&self) -> Result<Shown> {
        let object = names::number(&self.name).with_context(|| format!("an object named {:?}", self.name))?;
        Ok(Shown { object, uid: names::uid(&self.uid), revision: self.revision()? })
    }
}

impl Watcher {
    /// A watch of a scope, over a link.
    pub(super) fn new(link: Link, scope: Scope, streams: bool, goal: watch::Receiver<Goal>) -> Watcher {
        Watcher { link, scope, streams, goal, known: BTreeMap::new(), last: None, seen: Vec::new() }
    }

    /// Watches until it has seen the goal. `opened` counts the watches that were opened.
    ///
    /// # Errors
    /// If the server sends an impossible response.
    pub(super) async fn run(mut self, opened: Arc<AtomicU64>) -> Result<(Scope, Vec<Seen>)> {
        while !self.has_all() {
            let mut goal = self.goal.clone();
            let lost = tokio::select! {
                lost = self.once(&opened) => lost,
                // It may have seen the new goal already.
                _ = goal.changed() => { self.goal.mark_unchanged(); continue }
            };
            match lost {
                Ok(true) => {}
                Ok(false) => tokio::time::sleep(PAUSE).await,
                Err(Trouble::Connection) => {}
                Err(Trouble::Nonsense(error)) => return Err(error.context(format!("{:?}", self.scope))),
            }
        }
        Ok((self.scope, self.seen))
    }

    fn has_all(&self) -> bool {
        let goal = self.goal.borrow();
        let mut wanted = goal.iter().filter(|(object, _)| self.scope.contains(**object)).peekable();
        wanted.peek().is_some()
            && wanted.all(|(object, revision)| self.known.get(object).is_some_and(|at| at >= revision))
    }

    /// One list or one watch; false if it was refused.
    async fn once(&mut self, opened: &AtomicU64) -> Result<bool, Trouble> {
        let Some(from) = self.last else {
            return if self.streams {
                self.watch("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", None, opened).await
            } else {
                self.list().await
            };
        };
        self.watch(&format!("&resourceVersion={from}"), Some(from), opened).await
    }

    async fn list(&mut self) -> Result<bool, Trouble> {
        let (status, body) = self
            .link
            .ask(Method::GET, &names::scope(self.scope), &Value::Null)
            .await
            .map_err(|_| Trouble::Connection)?;
        if status != 200 {
            return Ok(false);
        }
        let list: Shape = serde_json::from_value(body).map_err(anyhow::Error::from)?;
        let objects = list.items.iter().map(|item| item.metadata.shown()).collect::<Result<_>>()?;
        self.listed(list.metadata.revision()?, objects);
        Ok(true)
    }

    fn listed(&mut self, revision: u64, objects: Vec<Shown>) {
        self.known = objects.iter().map(|shown| (shown.object, shown.revision)).collect();
        self.last = Some(revision);
        self.seen.push(Seen::Listed { revision, objects });
    }

    async fn watch(&mut self, how: &str, from: Option<u64>, opened: &AtomicU64) -> Result<bool, Trouble> {
        let path = format!("{}&watch=true&allowWatchBookmarks=true{how}", names::scope(self.scope));
        let answer = self.link.send(Method::GET, &path, &Value::Null).await.map_err(|_| Trouble::Connection)?;
        if answer.status() != 200 {
            // A 410 may come from a fault rule: then objects are listed again, but it does not show that history was forgotten.
            self.last = self.last.filter(|_| answer.status() != 410);
            return Ok(false);
        }
        opened.fetch_add(1, Ordering::Relaxed);
        let mut initial = from.is_none().then(Vec::new);
        let (mut body, mut rest) = (answer.into_body(), Vec::new());
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| Trouble::Connection)?;
            rest.extend_from_slice(frame.data_ref().map_or(&[][..], AsRef::as_ref));
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                let frame =
                    serde_json::from_slice(&line).with_context(|| String::from_utf8_lossy(&line).into_owned())?;
                if !self.frame(frame, &mut initial)? {
                    return Ok(true);
                }
                if self.has_all() {
                    return Ok(true);
                }
            }
        }
        Ok(true)
    }

    /// Notes a frame; false if the watch is over.
    fn frame(&mut self, frame: Frame, initial: &mut Option<Vec<Shown>>) -> Result<bool> {
        let Frame { r#type, object } = frame;
        let change = match &*r#type {
            "ADDED" => Change::Added,
            "MODIFIED" => Change::Modified,
            "DELETED" => Change::Deleted,
            "BOOKMARK" => {
                let revision = object.metadata.revision()?;
                match initial.take() {
                    Some(objects) if object.metadata.annotations.contains_key(LIST_ENDS) => {
                        self.listed(revision, objects)
                    }
                    Some(objects) => *initial = Some(objects),
                    None => {
                        self.last = Some(revision);
                        self.seen.push(Seen::Bookmark(revision));
                    }
                }
                return Ok(true);
            }
            "ERROR" if object.code == 410 => {
                self.seen.extend(self.last.take().map(Seen::Expired));
                return Ok(false);
            }
            _ => bail!("an event of type {} {}", r#type, object.code),
        };
        let shown = object.metadata.shown()?;
        if let Some(objects) = initial {
            objects.push(shown);
            return Ok(true);
        }
        self.last = Some(shown.revision);
        if change == Change::Deleted {
            self.known.remove(&shown.object);
        } else {
            self.known.insert(shown.object, shown.revision);
        }
        self.seen.push(Seen::Event { change, shown });
        Ok(true)
    }
}

/// The reasons why a request came to nothing.
enum Trouble {
    /// The connection ended.
    Connection,
    /// The server sent an impossible response.
    Nonsense(anyhow::Error),
}

impl From<anyhow::Error> for Trouble {
    fn from(error: anyhow::Error) -> Trouble {
        Trouble::Nonsense(error)
    }
}
