//! The state that the store's lock guards. Every mutation is one method here.

use super::entry::{Draft, Entry};
use super::event::Event;
use super::history::History;
use super::key::{Key, ResourceId, Scope};
use super::last_change::LastChanges;
use super::saved::{Past, Takeover};
use super::snapshot::Snapshot;
use super::tree::Tree;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The parent of a new object, such as a namespace, checked atomically with the create.
#[derive(Debug, Clone)]
pub struct Parent {
    /// The parent's key.
    pub key: Key,
    /// The field and its value with which the parent takes no more children.
    pub closed_when: (&'static str, &'static str),
}

/// The result of an update.
#[derive(Debug, Clone)]
pub enum Updated {
    /// The object was stored at a new revision.
    Changed(Arc<Entry>),
    /// The object is byte for byte the stored one: nothing happened.
    Unchanged(Arc<Entry>),
}

/// An error of creating an object.
#[derive(Debug, Clone)]
pub enum CreateError {
    /// An object has that key already.
    Exists(Arc<Entry>),
    /// The parent does not exist.
    NoParent,
    /// The parent takes no more children.
    ParentClosed,
    /// The resource is [closed](super::Store::close).
    Closed,
}

/// An error of updating or deleting an object: it is not at the expected revision.
#[derive(Debug, Clone)]
pub enum Conflict {
    /// The object does not exist.
    NotFound,
    /// The object as it is now.
    Modified(Arc<Entry>),
}

/// The revision of an empty store, as in etcd; an empty list must not have 0, which means "any".
const FIRST_REVISION: u64 = 1;

pub(super) struct State {
    revision: u64,
    objects: Tree,
    history: History,
    /// The events that are not delivered yet.
    outbox: Vec<Arc<Event>>,
    /// The closed resources. Their ids are not used again, so four bytes of each stay.
    closed: HashSet<ResourceId>,
    /// The revision of the content that was taken over.
    began: u64,
    /// The revisions at which resources began anew, of those that did.
    begun: HashMap<ResourceId, u64>,
    /// The number of times that it went back to an earlier content.
    rewound: u64,
}

/// The events since the last call.
pub(super) struct News {
    pub(super) events: Vec<Arc<Event>>,
    /// The revision of the last of all events.
    pub(super) revision: u64,
    /// The newest revision whose event is forgotten.
    pub(super) compacted: u64,
}

impl State {
    pub(super) fn new(history: History) -> Self {
        State {
            revision: FIRST_REVISION,
            objects: Tree::new(),
            history,
            outbox: Vec::new(),
            closed: HashSet::new(),
            began: 0,
            begun: HashMap::new(),
            rewound: 0,
        }
    }

    /// The state of a fork of the store whose content that is.
    pub(super) fn forked(content: &Snapshot, history: History) -> Self {
        let (revision, objects) = (content.revision, content.objects.clone());
        State { revision, objects, began: revision, ..State::new(history) }
    }

    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    /// The number of times that it went back, and the revision since.
    pub(super) fn position(&self) -> (u64, u64) {
        (self.rewound, self.revision)
    }

    pub(super) fn get(&self, key: &Key) -> Option<Arc<Entry>> {
        self.objects.get(key).cloned()
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        Snapshot { revision: self.revision, objects: self.objects.clone() }
    }

    pub(super) fn history(&self) -> History {
        self.history.clone()
    }

    /// The revisions of the last changes to resources.
    pub(super) fn changes(&self) -> &Arc<LastChanges> {
        self.history.changes()
    }

    pub(super) fn compacted(&self) -> u64 {
        self.history.compacted()
    }

    pub(super) fn news(&mut self) -> News {
        let events = std::mem::take(&mut self.outbox);
        News { events, revision: self.revision, compacted: self.history.compacted() }
    }

    /// Closes a resource if it is empty; otherwise returns the present content.
    pub(super) fn close(&mut self, resource: ResourceId) -> Result<(), Snapshot> {
        let snapshot = self.snapshot();
        if snapshot.range(&Scope::all(resource), "").next().is_some() {
            return Err(snapshot);
        }
        self.closed.insert(resource);
        self.begun.remove(&resource);
        Ok(())
    }

    /// Begins a resource anew; returns the revision at which it does.
    pub(super) fn begin(&mut self, resource: ResourceId) -> u64 {
        self.begun.insert(resource, self.revision);
        self.revision
    }

    /// Takes revisions without a change, as writes of other keys do in etcd; returns the newest. `None` if there are not as many.
    pub(super) fn advance(&mut self, by: u64) -> Option<u64> {
        self.revision = self.revision.checked_add(by)?;
        Some(self.revision)
    }

    /// The revision before which no watch of the resource begins, whatever the history has.
    pub(super) fn begun(&self, resource: ResourceId) -> u64 {
        self.begun.get(&resource).copied().unwrap_or(self.began)
    }

    /// Takes over a content, while there is none.
    pub(super) fn take_over(&mut self, content: Takeover) {
        for (draft, revision) in content.base {
            self.objects.insert(Arc::new(Entry::new(draft, revision)));
        }
        self.history.compact(content.compacted);
        for (revision, change) in content.changes {
            self.revision = revision;
            let (before, after) = match change {
                Past::Stored(draft) => {
                    let entry = Arc::new(Entry::new(draft, revision));
                    (self.objects.insert(entry.clone()), Some(entry))
                }
                Past::Removed(key) => (self.objects.remove(&key), None),
            };
            if before.is_some() || after.is_some() {
                self.record(before, after);
            }
        }
        // A real API server writes keys of its own into etcd as it starts.
        self.revision = self.revision.max(content.revision).saturating_add(1);
        self.began = self.revision;
        self.history.changes().renew(self.revision);
    }

    /// Takes over a content in the place of all that there is, with its revision.
    pub(super) fn rewind(&mut self, content: Takeover) {
        self.history.clear();
        self.outbox.clear();
        self.begun.clear();
        (self.objects, self.revision, self.rewound) = (Tree::new(), FIRST_REVISION, self.rewound + 1);
        self.take_over(content);
    }

    pub(super) fn is_closed(&self, resource: ResourceId) -> bool {
        self.closed.contains(&resource)
    }

    pub(super) fn create(&mut self, draft: Draft, parent: Option<&Parent>) -> Result<Arc<Entry>, CreateError> {
        if self.is_closed(draft.key.resource) {
            return Err(CreateError::Closed);
        }
        if let Some(parent) = parent {
            let (field, value) = parent.closed_when;
            match self.objects.get(&parent.key) {
                None => return Err(CreateError::NoParent),
                Some(entry) if entry.meta.field(field) == Some(value) => return Err(CreateError::ParentClosed),
                Some(_) => {}
            }
        }
        if let Some(existing) = self.objects.get(&draft.key) {
            return Err(CreateError::Exists(existing.clone()));
        }
        Ok(self.put(draft))
    }

    pub(super) fn update(&mut self, draft: Draft, expected: u64) -> Result<Updated, Conflict> {
        let current = self.expect(&draft.key, expected)?;
        if current.is_same_as(&draft) {
            return Ok(Updated::Unchanged(current.clone()));
        }
        Ok(Updated::Changed(self.put(draft)))
    }

    pub(super) fn delete(&mut self, key: &Key, expected: u64) -> Result<Arc<Event>, Conflict> {
        self.expect(key, expected)?;
        self.revision += 1;
        let removed = self.objects.remove(key);
        Ok(self.record(removed, None))
    }

    pub(super) fn compact(&mut self, revision: u64) {
        self.history.compact(revision.min(self.revision));
    }

    /// The object, if it is at the expected revision.
    fn expect(&self, key: &Key, expected: u64) -> Result<&Arc<Entry>, Conflict> {
        let current = self.objects.get(key).ok_or(Conflict::NotFound)?;
        if current.revision != expected {
            return Err(Conflict::Modified(current.clone()));
        }
        Ok(current)
    }

    fn put(&mut self, draft: Draft) -> Arc<Entry> {
        self.revision += 1;
        let entry = Arc::new(Entry::new(draft, self.revision));
        let replaced = self.objects.insert(entry.clone());
        self.record(replaced, Some(entry.clone()));
        entry
    }

    fn record(&mut self, before: Option<Arc<Entry>>, after: Option<Arc<Entry>>) -> Arc<Event> {
        let event = Arc::new(Event::new(self.revision, before, after, self.history.bytes()));
        // Before the change is visible in any other way.
        self.history.changes().note(event.key().resource, event.revision);
        self.history.push(event.clone());
        self.outbox.push(event.clone());
        event
    }
}
