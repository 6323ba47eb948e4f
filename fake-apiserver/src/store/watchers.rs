//! The watchers of a store, indexed by scope, so that an event is offered only to those that it may concern.

use super::event::Event;
use super::key::{Key, ResourceId, Scope};
use super::watcher::Watcher;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::task::Waker;

type Group = BTreeMap<u64, Arc<Watcher>>;

#[derive(Default)]
pub(super) struct Watchers {
    pub(super) next_id: u64,
    /// Those who follow all changes, by id.
    pub(super) followers: Vec<(u64, Option<Waker>)>,
    by_resource: HashMap<ResourceId, ByScope>,
}

/// The watchers of one resource, by scope.
#[derive(Default)]
struct ByScope {
    all: Group,
    by_namespace: HashMap<Box<str>, Group>,
    by_name: HashMap<Box<str>, Group>,
    /// The watchers of one object, by its path `namespace/name`.
    by_object: HashMap<Box<str>, Group>,
}

impl Watchers {
    /// Adds a watcher; returns its id.
    pub(super) fn insert(&mut self, watcher: Arc<Watcher>) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let scopes = self.by_resource.entry(watcher.scope.resource).or_default();
        scopes.group_mut(&watcher.scope).insert(id, watcher);
        id
    }

    pub(super) fn remove(&mut self, scope: &Scope, id: u64) {
        if let Some(scopes) = self.by_resource.get_mut(&scope.resource) {
            scopes.group_mut(scope).remove(&id);
            scopes.drop_if_empty(scope);
            if scopes.is_empty() {
                self.by_resource.remove(&scope.resource);
            }
        }
    }

    /// Ends the subscriptions of a resource after the events up to `revision`.
    pub(super) fn end(&self, resource: ResourceId, revision: u64, wakers: &mut Vec<Waker>) {
        let watchers = self.by_resource.get(&resource).into_iter().flat_map(ByScope::watchers);
        wakers.extend(watchers.filter_map(|watcher| watcher.end(revision)));
    }

    /// Ends all subscriptions at once: what they owe is forgotten.
    pub(super) fn end_all(&self, wakers: &mut Vec<Waker>) {
        let watchers = self.by_resource.values().flat_map(ByScope::watchers);
        wakers.extend(watchers.filter_map(|watcher| watcher.end_at_once()));
    }

    /// Offers `event` to every watcher whose scope contains its object.
    pub(super) fn offer(&self, event: &Arc<Event>, compacted: u64, wakers: &mut Vec<Waker>) {
        for watcher in self.about(event.key()) {
            wakers.extend(watcher.offer(event, compacted));
        }
    }

    /// The watchers whose scope contains the object with that key.
    pub(super) fn about(&self, key: &Key) -> impl Iterator<Item = &Arc<Watcher>> {
        let groups = self.by_resource.get(&key.resource).map(|scopes| {
            [
                Some(&scopes.all),
                scopes.by_namespace.get(key.namespace()),
                scopes.by_name.get(key.name()),
                scopes.by_object.get(key.path()),
            ]
        });
        groups.into_iter().flatten().flatten().flat_map(BTreeMap::values)
    }

    /// Expires the watchers that owe forgotten events.
    pub(super) fn expire(&self, compacted: u64, wakers: &mut Vec<Waker>) {
        let watchers = self.by_resource.values().flat_map(ByScope::watchers);
        wakers.extend(watchers.filter_map(|watcher| watcher.expire(compacted)));
    }
}

impl ByScope {
    fn watchers(&self) -> impl Iterator<Item = &Arc<Watcher>> {
        let keyed = [&self.by_namespace, &self.by_name, &self.by_object];
        keyed.into_iter().flat_map(HashMap::values).chain([&self.all]).flat_map(BTreeMap::values)
    }

    fn is_empty(&self) -> bool {
        self.watchers().next().is_none()
    }

    fn group_mut(&mut self, scope: &Scope) -> &mut Group {
        match (&scope.namespace, &scope.name) {
            (None, None) => &mut self.all,
            (Some(namespace), None) => self.by_namespace.entry(namespace.clone()).or_default(),
            (None, Some(name)) => self.by_name.entry(name.clone()).or_default(),
            (Some(namespace), Some(name)) => self.by_object.entry(path(namespace, name)).or_default(),
        }
    }

    fn drop_if_empty(&mut self, scope: &Scope) {
        let (groups, key) = match (&scope.namespace, &scope.name) {
            (None, None) => return,
            (Some(namespace), None) => (&mut self.by_namespace, namespace.clone()),
            (None, Some(name)) => (&mut self.by_name, name.clone()),
            (Some(namespace), Some(name)) => (&mut self.by_object, path(namespace, name)),
        };
        if groups.get(&key).is_some_and(BTreeMap::is_empty) {
            groups.remove(&key);
        }
    }
}

fn path(namespace: &str, name: &str) -> Box<str> {
    format!("{namespace}/{name}").into()
}
