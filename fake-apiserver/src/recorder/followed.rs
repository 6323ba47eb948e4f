//! The objects in a recording: those that there were, and each change.

use super::lines::Lines;
use super::pace::Pace;
use crate::commit::saved;
use crate::discovery::Catalogs;
use crate::store::{Entry, Event, Follower, ResourceId, Snapshot, Store};
use control::recording::{ChangeType, Missed, Stored, What};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The objects of a cluster on their way into a recording.
pub(super) struct Followed {
    /// The name of the cluster, if it is not the first one.
    cluster: Option<Arc<str>>,
    follower: Follower,
    catalogs: Arc<Catalogs>,
    /// The names of all resources that were ever served. Ids are not given twice.
    names: BTreeMap<ResourceId, String>,
    /// The last revision that was written.
    written: u64,
}

impl Followed {
    /// The changes of a store from now on, and what it has before them.
    pub(super) fn of(store: &Store, catalogs: Arc<Catalogs>, cluster: Option<Arc<str>>) -> (Followed, Snapshot) {
        let (snapshot, follower) = store.follow();
        let written = snapshot.revision;
        (Followed { cluster, follower, catalogs, names: BTreeMap::new(), written }, snapshot)
    }

    /// Is ready when there are changes to write.
    pub(super) fn poll_changes(&self, context: &Context<'_>) -> Poll<()> {
        self.follower.poll_news(context)
    }

    /// The last revision that was written.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Writes the objects that there are.
    pub(super) fn write_base(&mut self, base: &Snapshot, pace: &Pace, lines: &mut Lines) {
        self.written = base.revision;
        lines.write(pace.stamp(base.revision, self.cluster.clone()), What::Base { objects: base.all().count() }, None);
        for entry in base.all() {
            self.write(entry, None, entry.revision, pace, lines);
        }
    }

    /// Writes the changes so far.
    pub(super) fn write_changes(&mut self, pace: &Pace, lines: &mut Lines) {
        match self.follower.news() {
            Ok(events) => {
                for event in &events {
                    self.write_change(event, pace, lines);
                }
            }
            // A cluster that goes back has forgotten nothing: its objects are others.
            Err(now) if now.revision <= self.written => self.write_base(&now, pace, lines),
            Err(now) => {
                let revisions = Some((self.written.saturating_add(1), now.revision));
                tracing::warn!(?revisions, "changes were forgotten before they were recorded: --history keeps more");
                let missed = Missed { revisions, ..Missed::default() };
                lines.write(pace.stamp(now.revision, self.cluster.clone()), What::Missed(missed), None);
                self.write_base(&now, pace, lines);
            }
        }
    }

    fn write_change(&mut self, event: &Event, pace: &Pace, lines: &mut Lines) {
        self.written = event.revision;
        let (change, entry) = match (&event.before, &event.after) {
            (None, Some(after)) => (ChangeType::Added, after),
            (Some(_), Some(after)) => (ChangeType::Modified, after),
            (Some(before), None) => (ChangeType::Deleted, before),
            (None, None) => return,
        };
        self.write(entry, Some(change), event.revision, pace, lines);
    }

    fn write(&mut self, entry: &Entry, change: Option<ChangeType>, revision: u64, pace: &Pace, lines: &mut Lines) {
        let path = entry.key.path().to_owned();
        let Some(resource) = self.name(entry.key.resource) else {
            let missed = Missed { change: Some(format!("{path} at revision {revision}")), ..Missed::default() };
            return lines.write(pace.stamp(revision, self.cluster.clone()), What::Missed(missed), None);
        };
        let (kept, object) = match change {
            Some(ChangeType::Deleted) => (None, None),
            _ => {
                let (kept, object) = saved::recorded(entry);
                (Some(kept), Some(object))
            }
        };
        let stored = Box::new(Stored { change, resource, path, revision, kept });
        let what = if change.is_some() { What::Change(stored) } else { What::Present(stored) };
        lines.write(pace.stamp(revision, self.cluster.clone()), what, object);
    }

    /// The name of a resource; `None` of one that was gone before it was known.
    fn name(&mut self, id: ResourceId) -> Option<String> {
        if !self.names.contains_key(&id) {
            self.names.extend(saved::names(&self.catalogs.load().registry));
        }
        self.names.get(&id).cloned()
    }
}
