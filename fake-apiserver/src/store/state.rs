//! What the store's lock guards. Every mutation is one method here.

use super::history::History;
use super::subscription::Watcher;
use super::watchers::Watchers;
use super::{
    Draft, Entry, Event, Expired, Filter, Key, LastChange, Parent, ResourceId, Scope, Snapshot, Updated, WriteError,
};
use std::collections::HashMap;
use std::sync::Arc;
use std::task::Waker;

/// As in etcd, whose empty store is at revision 1: a list of nothing must not say 0, which means "any".
const FIRST_REVISION: u64 = 1;

pub(super) struct State {
    revision: u64,
    objects: imbl::OrdMap<Key, Arc<Entry>>,
    history: History,
    watchers: Watchers,
    /// Of those resources that were asked about.
    last_changes: HashMap<ResourceId, LastChange>,
}

impl State {
    pub(super) fn new(history: usize) -> Self {
        State {
            revision: FIRST_REVISION,
            objects: imbl::OrdMap::new(),
            history: History::new(history),
            watchers: Watchers::default(),
            last_changes: HashMap::new(),
        }
    }

    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    pub(super) fn get(&self, key: &Key) -> Option<Arc<Entry>> {
        self.objects.get(key).cloned()
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.revision, self.objects.clone())
    }

    pub(super) fn events_after(&self, revision: u64) -> Result<Vec<Arc<Event>>, Expired> {
        Ok(self.history.after(revision)?.cloned().collect())
    }

    pub(super) fn create(
        &mut self,
        draft: Draft,
        parent: Option<&Parent>,
        wakers: &mut Vec<Waker>,
    ) -> Result<Arc<Entry>, WriteError> {
        if let Some(parent) = parent {
            let (field, value) = parent.closed_when;
            match self.objects.get(&parent.key) {
                None => return Err(WriteError::NoParent),
                Some(entry) if entry.meta.field(field) == Some(value) => return Err(WriteError::ParentClosed),
                Some(_) => {}
            }
        }
        if let Some(existing) = self.objects.get(&draft.key) {
            return Err(WriteError::Exists(existing.clone()));
        }
        Ok(self.put(draft, None, wakers))
    }

    pub(super) fn update(
        &mut self,
        draft: Draft,
        expected: u64,
        wakers: &mut Vec<Waker>,
    ) -> Result<Updated, WriteError> {
        let current = self.expect(&draft.key, expected)?;
        if current.is_same_as(&draft) {
            return Ok(Updated::Unchanged(current));
        }
        Ok(Updated::Changed(self.put(draft, Some(current), wakers)))
    }

    pub(super) fn delete(
        &mut self,
        key: &Key,
        expected: u64,
        wakers: &mut Vec<Waker>,
    ) -> Result<Arc<Entry>, WriteError> {
        let current = self.expect(key, expected)?;
        self.revision += 1;
        self.objects.remove(key);
        let event = self.record(Event::new(self.revision, Some(current), None), wakers);
        Ok(event.object(super::Change::Deleted).clone())
    }

    pub(super) fn compact(&mut self, revision: u64, wakers: &mut Vec<Waker>) {
        self.history.compact(revision.min(self.revision));
        self.watchers.expire(self.history.compacted(), wakers);
    }

    pub(super) fn subscribe(&mut self, scope: Scope, filter: Option<Filter>, after: u64) -> (u64, Arc<Watcher>) {
        self.watchers.insert(Watcher::new(scope, filter, after))
    }

    pub(super) fn subscribe_after(
        &mut self,
        revision: u64,
        scope: Scope,
        filter: Option<Filter>,
    ) -> Result<(u64, Arc<Watcher>), Expired> {
        let watcher = Watcher::new(scope, filter, revision);
        for event in self.history.after(revision)? {
            if watcher.scope.contains(event.key()) {
                watcher.offer(event, self.history.compacted());
            }
        }
        Ok(self.watchers.insert(watcher))
    }

    pub(super) fn unsubscribe(&mut self, scope: &Scope, id: u64) {
        self.watchers.remove(scope, id);
    }

    pub(super) fn last_change(&mut self, resource: ResourceId) -> LastChange {
        self.last_changes.entry(resource).or_default().clone()
    }

    /// The object, if it is at the expected revision.
    fn expect(&self, key: &Key, expected: u64) -> Result<Arc<Entry>, WriteError> {
        let current = self.objects.get(key).ok_or(WriteError::NotFound)?;
        if current.revision != expected {
            return Err(WriteError::Modified(current.clone()));
        }
        Ok(current.clone())
    }

    fn put(&mut self, draft: Draft, before: Option<Arc<Entry>>, wakers: &mut Vec<Waker>) -> Arc<Entry> {
        self.revision += 1;
        let entry = Arc::new(Entry::new(draft, self.revision));
        self.objects.insert(entry.key.clone(), entry.clone());
        self.record(Event::new(self.revision, before, Some(entry.clone())), wakers);
        entry
    }

    fn record(&mut self, event: Event, wakers: &mut Vec<Waker>) -> Arc<Event> {
        let event = Arc::new(event);
        // Before any watcher can tell of the event.
        if let Some(last_change) = self.last_changes.get(&event.key().resource) {
            last_change.set(event.revision);
        }
        self.history.push(event.clone());
        self.watchers.offer(&event, self.history.compacted(), wakers);
        event
    }
}
