//! A watch of all objects of a resource, whose events are kept.

use super::history::{Event, revision};
use crate::answers::next_frame;
use crate::line::{JSON, Line, Sent};
use anyhow::{Context as _, Result, bail, ensure};
use http_body_util::BodyExt as _;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::task::AbortOnDropHandle;

/// The time in which a watch has to have everything.
const CATCH_UP: Duration = Duration::from_secs(60);
/// The pause between two looks whether it has.
const PAUSE: Duration = Duration::from_millis(20);

type Kept<T> = Arc<Mutex<Vec<Event<T>>>>;

/// The watch.
pub(super) struct Observer<T> {
    line: Line,
    path: String,
    read: fn(&Value) -> T,
    events: Kept<T>,
    task: AbortOnDropHandle<Result<()>>,
}

impl<T: Clone + Send + 'static> Observer<T> {
    /// Begins with all objects of a resource; `read` is what is looked at of each.
    ///
    /// # Errors
    /// If the list is refused.
    pub(super) async fn open(line: &Line, path: &str, read: fn(&Value) -> T) -> Result<Observer<T>> {
        let (events, last) = list(line, path, read).await?;
        let events = Arc::new(Mutex::new(events));
        let watching = watch(line.clone(), path.to_owned(), read, last, events.clone());
        let task = AbortOnDropHandle::new(tokio::spawn(watching));
        Ok(Observer { line: line.clone(), path: path.to_owned(), read, events, task })
    }

    /// All events, once they show what a list does.
    ///
    /// # Errors
    /// If they do not in time.
    pub(super) async fn end(self) -> Result<Vec<Event<T>>> {
        let begin = Instant::now();
        loop {
            let (listed, _) = list(&self.line, &self.path, self.read).await?;
            let listed: BTreeMap<_, _> = listed.into_iter().map(|event| (event.object, event.revision)).collect();
            let events = self.events.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if listed == replayed(&events) {
                return Ok(events);
            }
            ensure!(begin.elapsed() < CATCH_UP, "a watch of {} does not show what there is", self.path);
            if self.task.is_finished() {
                return Err(self.task.await?.err().context("it does not end by itself")?);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Whether an event of an object that is gone was seen.
    pub(super) fn is_gone(&self, object: &(String, String)) -> bool {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.iter().any(|event| event.gone && event.object == *object)
    }
}

/// The objects that are left after all events, with their revisions.
pub(super) fn replayed<T>(events: &[Event<T>]) -> BTreeMap<(String, String), u64> {
    let mut objects = BTreeMap::new();
    for Event { revision, gone, object, .. } in events {
        if *gone {
            objects.remove(object);
        } else {
            objects.insert(object.clone(), *revision);
        }
    }
    objects
}

/// The objects in the order of their revisions, and the revision of the list.
async fn list<T>(line: &Line, path: &str, read: fn(&Value) -> T) -> Result<(Vec<Event<T>>, u64)> {
    let list = super::world::must(line, "GET", path, &Value::Null).await?;
    let items = list["items"].as_array().context("a list has items")?;
    let mut events: Vec<_> = items.iter().map(|item| event(item, false, read)).collect();
    events.sort_by_key(|event| event.revision);
    Ok((events, revision(&list)))
}

async fn watch<T>(line: Line, path: String, read: fn(&Value) -> T, mut last: u64, events: Kept<T>) -> Result<()> {
    loop {
        let path = format!("{path}?watch=1&resourceVersion={last}");
        let answer = line.open(&Sent::json("GET", &path, &Value::Null)).await?.context("a watch without an answer")?;
        ensure!(answer.status().is_success(), "{path}: {}", answer.status());
        let (mut body, mut unread) = (answer.into_body(), Vec::new());
        // A watch that ends goes on where it was.
        while let Some(Ok(frame)) = body.frame().await {
            unread.extend_from_slice(frame.data_ref().map_or(&[], AsRef::as_ref));
            while let Some(shown) = next_frame(JSON, &mut unread) {
                let gone = match shown["type"].as_str() {
                    Some("ADDED" | "MODIFIED") => false,
                    Some("DELETED") => true,
                    _ => bail!("{path}: {shown}"),
                };
                let event = event(&shown["object"], gone, read);
                last = event.revision;
                events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
            }
        }
    }
}

fn event<T>(document: &Value, gone: bool, read: fn(&Value) -> T) -> Event<T> {
    let text = |field: &str| document["metadata"][field].as_str().unwrap_or_default().to_owned();
    Event { revision: revision(document), gone, object: (text("namespace"), text("name")), value: read(document) }
}
