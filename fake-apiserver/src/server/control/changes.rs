//! The changes of objects that the history has, each with the request that made it.

use super::waited::{LONGEST_WAIT, found, shown};
use crate::clock::later;
use crate::registry::Registry;
use crate::server::FakeApiServer;
use crate::store::{self, Entry, Event, Expired, Key, Snapshot};
use control::recording::ChangeType;
use control::{Change, Changes, Named, Refusal, Requested as _, Writer};
use imbl::Vector;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The longest time that a change waits for the answer of the request that made it.
const LONGEST_ANSWER: Duration = Duration::from_secs(1);

/// The requests that have written, by the revision.
type Writers = HashMap<u64, Writer>;

impl FakeApiServer {
    pub(super) async fn changes(&self, wanted: &Changes) -> Result<Value, Refusal> {
        wanted.on.check()?;
        let seconds = wanted.timeout_seconds.map(|seconds| seconds.min(LONGEST_WAIT)).unwrap_or_default();
        let until = later(Instant::now(), Duration::from_secs(seconds.into()));
        let (_, mut follower) = self.cluster.store.follow();
        loop {
            let (mut items, mut revision) = self.changes_now(wanted)?;
            if wanted.timeout_seconds.is_some() && items.iter().any(|change| change.by.is_none()) {
                // A client that waits does not ask for a change again that it has got.
                self.cluster.log.answered(LONGEST_ANSWER).await;
                (items, revision) = self.changes_now(wanted)?;
            }
            if items.is_empty() {
                let news = poll_fn(|context| follower.poll_news(context));
                if timeout_at(until, news).await.is_ok() {
                    // What they are is asked for again.
                    follower.news().ok();
                    continue;
                }
            }
            return Ok(json!({"items": items, "revision": revision.to_string()}));
        }
    }

    /// The changes that are wanted, and the revision behind which others follow.
    fn changes_now(&self, wanted: &Changes) -> Result<(Vec<Change>, u64), Refusal> {
        let (events, now) = self.window(wanted.since)?;
        if events.is_empty() {
            return Ok((Vec::new(), now.revision));
        }
        let (catalog, writers) = (self.cluster.catalog(), self.writers(events.iter().map(|event| event.revision)));
        let with_objects = wanted.objects || wanted.on.reads_bodies();
        let mut items = Vec::new();
        for event in &events {
            if wanted.limit.is_some_and(|limit| items.len() >= limit) {
                let last = items.last().map_or(wanted.since.unwrap_or_default(), |last: &Change| last.revision);
                return Ok((items, last));
            }
            let (kind, entry) = changed(event);
            let Some(mut change) = told(&catalog.registry, entry, Some(kind), event.revision, &writers) else {
                continue;
            };
            change.object = with_objects.then(|| shown(entry)).transpose()?;
            if wanted.on.matches(&change) {
                change.object = change.object.filter(|_| wanted.objects);
                items.push(change);
            }
        }
        Ok((items, now.revision))
    }

    /// All versions of an object that the history has, and the one that there was before.
    pub(super) fn history_of(&self, named: &Named) -> Result<Value, Refusal> {
        let catalog = self.cluster.catalog();
        let resource = found(&catalog.registry, &named.resource, &named.namespace, &named.name)?;
        let key = Key::new(resource.id, &named.namespace, &named.name);
        let (mut events, now) = self.window(None)?;
        events.retain(|event| *event.key() == key);
        let before = match events.front() {
            Some(first) => first.before.clone(),
            None => now.get(&key).cloned(),
        };
        let revisions = events.iter().map(|event| event.revision);
        let writers = self.writers(revisions.chain(before.iter().map(|before| before.revision)));
        let mut items = Vec::new();
        let mut tell = |entry: &Entry, kind, revision| {
            let change = told(&catalog.registry, entry, kind, revision, &writers);
            items.extend(change.map(|change| Ok(Change { object: Some(shown(entry)?), ..change })));
        };
        if let Some(before) = &before {
            tell(before, None, before.revision);
        }
        for event in &events {
            let (kind, entry) = changed(event);
            tell(entry, Some(kind), event.revision);
        }
        let items = items.into_iter().collect::<Result<Vec<Change>, Refusal>>()?;
        if items.is_empty() {
            let path = format!("{} {}", named.resource, key.path());
            return Err(Refusal::not_found("objects", &path, "; the history has nothing about it"));
        }
        Ok(json!({"items": items, "revision": now.revision.to_string()}))
    }

    /// The events behind a revision, or all that are remembered, and the content after them.
    fn window(&self, since: Option<u64>) -> Result<(Vector<Arc<Event>>, Snapshot), Refusal> {
        let store = &self.cluster.store;
        // Behind a revision that is still to come there is nothing, as behind the newest.
        let mut after = since.unwrap_or_default().min(store.revision());
        loop {
            match store.events_after(after) {
                Ok(found) => return Ok(found),
                Err(Expired { oldest }) if since.is_none() => after = oldest,
                Err(Expired { oldest }) => return Err(Refusal::expired("history", after, oldest)),
            }
        }
    }

    /// The recorded requests that have written these revisions.
    fn writers(&self, revisions: impl Iterator<Item = u64>) -> Writers {
        let wanted: BTreeSet<u64> = revisions.collect();
        let (_, records) = self.cluster.log.since(0);
        let writer = |(cursor, record): (usize, Arc<crate::RequestRecord>)| {
            let revision = record.revision.filter(|revision| wanted.contains(revision))?;
            let request = record.request(cursor as u64);
            let user = request.user().to_owned();
            let control::Request { cursor, user_agent, verb, subresource, replica, .. } = request;
            Some((revision, Writer { cursor, user, user_agent, verb, subresource, replica }))
        };
        records.into_iter().filter_map(writer).collect()
    }
}

/// The type of an event, and the object that it is about.
fn changed(event: &Event) -> (ChangeType, &Entry) {
    match (&event.before, &event.after) {
        (None, Some(after)) => (ChangeType::Added, after),
        (_, Some(after)) => (ChangeType::Modified, after),
        (_, None) => (ChangeType::Deleted, event.object(store::Change::Deleted)),
    }
}

/// A change, without the object; `None` of a resource that is not served any more.
fn told(
    registry: &Registry,
    entry: &Entry,
    change: Option<ChangeType>,
    revision: u64,
    writers: &Writers,
) -> Option<Change> {
    let resource = registry.get(entry.key.resource)?;
    Some(Change {
        revision,
        change,
        api_group: resource.group.to_string(),
        resource: resource.plural.to_string(),
        namespace: entry.key.namespace().into(),
        name: entry.key.name().into(),
        by: writers.get(&revision).cloned(),
        object: None,
    })
}
