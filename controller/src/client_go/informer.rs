//! Informers: a local store of all objects of a kind, kept current by a watch, and handlers of its changes.
//!
//! Follows client-go v0.37.1 `tools/cache/shared_informer.go`, `delta_fifo.go` and `store.go`:
//! * The store changes first, the handlers are called afterwards.
//! * A known object in a new list is an update, even if it is unchanged.
//! * A known object that a new list lacks is a [`Event::MissedDeletion`], with the last state that was seen.
//! * The deletion of an object that is not in the store is not reported.
//!
//! Lookups by namespace need no index of their own: the store is ordered by namespace.

use super::reflector::Reflector;
use kube::runtime::watcher;
use kube::{Api, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tokio::sync::watch;
use tracing::warn;

/// The namespace and name of an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// Its namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
}

impl ObjectKey {
    /// The key of `name` in `namespace`.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        ObjectKey { namespace: namespace.into(), name: name.into() }
    }

    /// The key of `object`.
    pub fn of<K: Resource<DynamicType = ()>>(object: &K) -> Self {
        ObjectKey::new(object.namespace().unwrap_or_default(), object.name_any())
    }
}

/// A change of an object in the store.
#[derive(Debug, PartialEq)]
pub enum Event<K> {
    /// It was added.
    Added(Arc<K>),
    /// It was replaced, by another version of itself or by another object of its name.
    Updated {
        /// The object before.
        old: Arc<K>,
        /// The object now.
        new: Arc<K>,
    },
    /// It was deleted; this is its final state.
    Deleted(Arc<K>),
    /// It was deleted, and its final state was missed; this is the last one seen (`DeletedFinalStateUnknown`).
    MissedDeletion(Arc<K>),
}

impl<K> Event<K> {
    /// The event for a handler of only the objects that pass `keep` (`FilteringResourceEventHandler`): an update that makes
    /// an object pass, or no longer pass, is an addition or a deletion. `None` if it concerns none of them.
    pub fn filter(&self, keep: impl Fn(&K) -> bool) -> Option<Event<K>> {
        match self {
            Event::Added(new) => keep(new).then(|| Event::Added(new.clone())),
            Event::Updated { old, new } => match (keep(old), keep(new)) {
                (true, true) => Some(Event::Updated { old: old.clone(), new: new.clone() }),
                (false, true) => Some(Event::Added(new.clone())),
                (true, false) => Some(Event::Deleted(old.clone())),
                (false, false) => None,
            },
            Event::Deleted(last) => keep(last).then(|| Event::Deleted(last.clone())),
            Event::MissedDeletion(last) => keep(last).then(|| Event::MissedDeletion(last.clone())),
        }
    }
}

type Handler<K> = Box<dyn Fn(&Event<K>) + Send + Sync>;

/// A store of the objects of one kind, and its handlers.
///
/// [`run`](Self::run) fills it from a watch. [`apply`](Self::apply), [`delete`](Self::delete) and
/// [`replace`](Self::replace) are the same steps by hand, with which a test can keep a store behind the API server.
pub struct Informer<K> {
    store: RwLock<BTreeMap<ObjectKey, Arc<K>>>,
    /// Locked from a change of the store until all handlers have been called.
    delivery: Mutex<()>,
    handlers: RwLock<Vec<Handler<K>>>,
    synced: watch::Sender<bool>,
    changes: watch::Sender<()>,
}

impl<K: Resource<DynamicType = ()>> Informer<K> {
    /// An empty informer that is not synced.
    pub fn new() -> Self {
        Informer {
            store: RwLock::default(),
            delivery: Mutex::default(),
            handlers: RwLock::default(),
            synced: watch::Sender::new(false),
            changes: watch::Sender::new(()),
        }
    }

    /// A synced informer of `objects`, which was never connected to a server.
    pub fn with_objects(objects: impl IntoIterator<Item = K>) -> Self {
        let informer = Self::new();
        informer.replace(objects);
        informer
    }

    /// Calls `handler` for all changes from now on, in order. It must not block, nor change this informer.
    pub fn add_handler(&self, handler: impl Fn(&Event<K>) + Send + Sync + 'static) {
        self.handlers.write().expect("nobody panics while adding a handler").push(Box::new(handler));
    }

    /// The object with that key.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.store().get(key).cloned()
    }

    /// All objects, ordered by namespace and name.
    pub fn all(&self) -> Vec<Arc<K>> {
        self.store().values().cloned().collect()
    }

    /// All objects of a namespace, ordered by name.
    pub fn in_namespace(&self, namespace: &str) -> Vec<Arc<K>> {
        let store = self.store();
        let first = ObjectKey::new(namespace, "");
        store
            .range(first..)
            .take_while(|(key, _)| key.namespace == namespace)
            .map(|(_, object)| object.clone())
            .collect()
    }

    /// Puts `object` into the store.
    pub fn apply(&self, object: K) {
        let _delivery = self.delivery();
        self.put(object);
    }

    /// Removes the object of this name from the store, if it is there; `object` is its final state.
    pub fn delete(&self, object: K) {
        let _delivery = self.delivery();
        if self.store_mut().remove(&ObjectKey::of(&object)).is_some() {
            self.tell(&Event::Deleted(Arc::new(object)));
        }
    }

    /// Makes the store hold exactly `objects`, and counts it as synced.
    pub fn replace(&self, objects: impl IntoIterator<Item = K>) {
        let _delivery = self.delivery();
        let mut listed = BTreeSet::new();
        for object in objects {
            listed.insert(ObjectKey::of(&object));
            self.put(object);
        }
        let missed: Vec<_> = self.store().keys().filter(|key| !listed.contains(key)).cloned().collect();
        for key in missed {
            let last = self.store_mut().remove(&key);
            last.into_iter().for_each(|last| self.tell(&Event::MissedDeletion(last)));
        }
        self.synced.send_replace(true);
    }

    /// Waits until the store has had a complete list (`HasSynced`).
    pub async fn synced(&self) {
        self.synced.subscribe().wait_for(|synced| *synced).await.expect("self holds the sender");
    }

    fn put(&self, object: K) {
        let new = Arc::new(object);
        let old = self.store_mut().insert(ObjectKey::of(&*new), new.clone());
        self.tell(&match old {
            Some(old) => Event::Updated { old, new },
            None => Event::Added(new),
        });
    }

    fn tell(&self, event: &Event<K>) {
        for handler in self.handlers.read().expect("nobody panics while adding a handler").iter() {
            handler(event);
        }
        self.changes.send_replace(());
    }

    fn delivery(&self) -> MutexGuard<'_, ()> {
        self.delivery.lock().expect("handlers do not panic")
    }

    fn store(&self) -> RwLockReadGuard<'_, BTreeMap<ObjectKey, Arc<K>>> {
        self.store.read().expect("no holder of this lock can panic")
    }

    fn store_mut(&self) -> RwLockWriteGuard<'_, BTreeMap<ObjectKey, Arc<K>>> {
        self.store.write().expect("no holder of this lock can panic")
    }

    /// `(key, uid, resourceVersion)` of every object.
    fn versions<'a>(objects: impl IntoIterator<Item = &'a K>) -> BTreeSet<(ObjectKey, Option<String>, Option<String>)>
    where
        K: 'a,
    {
        objects.into_iter().map(|object| (ObjectKey::of(object), object.uid(), object.resource_version())).collect()
    }
}

impl<K> Informer<K>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
{
    /// Lists and watches `api` for ever, as a [`Reflector`] does.
    pub async fn run(&self, api: Api<K>) {
        let mut events = Reflector::new(api, watcher::Config::default());
        let mut listed = Vec::new();
        loop {
            match events.next().await {
                Ok(watcher::Event::Init) => listed.clear(),
                Ok(watcher::Event::InitApply(object)) => listed.push(object),
                Ok(watcher::Event::InitDone) => self.replace(std::mem::take(&mut listed)),
                Ok(watcher::Event::Apply(object)) => self.apply(object),
                Ok(watcher::Event::Delete(object)) => self.delete(object),
                Err(error) => warn!(kind = %K::kind(&()), %error, "watch failed, trying again"),
            }
        }
    }

    /// Waits until the store holds the objects of a list through `api`, in the same versions, and all handlers were called.
    ///
    /// # Errors
    /// If the objects cannot be listed.
    pub async fn caught_up(&self, api: &Api<K>) -> kube::Result<()> {
        let mut changes = self.changes.subscribe();
        loop {
            changes.mark_unchanged();
            let live = api.list(&Default::default()).await?;
            let cached = {
                let _delivery = self.delivery();
                Self::versions(self.store().values().map(Arc::as_ref))
            };
            if cached == Self::versions(&live.items) {
                return Ok(());
            }
            changes.changed().await.expect("self holds the sender");
        }
    }
}

impl<K: Resource<DynamicType = ()>> Default for Informer<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> Debug for Informer<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Informer").field("synced", &*self.synced.borrow()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::Secret;

    fn secret(name: &str, type_: &str) -> Secret {
        let mut secret = Secret { type_: Some(type_.into()), ..Secret::default() };
        secret.metadata.namespace = Some("ns".into());
        secret.metadata.name = Some(name.into());
        secret
    }

    fn describe(event: &Event<Secret>) -> String {
        let type_of = |secret: &Secret| secret.type_.clone().unwrap_or_default();
        match event {
            Event::Added(new) => format!("added {} {}", new.name_any(), type_of(new)),
            Event::Updated { old, new } => format!("updated {} {}->{}", new.name_any(), type_of(old), type_of(new)),
            Event::Deleted(last) => format!("deleted {} {}", last.name_any(), type_of(last)),
            Event::MissedDeletion(last) => format!("missed {} {}", last.name_any(), type_of(last)),
        }
    }

    /// Applies `changes` to an informer and returns the events that a handler got.
    fn told(changes: impl FnOnce(&Informer<Secret>)) -> Vec<String> {
        let told = Arc::new(Mutex::new(Vec::new()));
        let informer = Informer::new();
        informer.add_handler({
            let told = told.clone();
            move |event| told.lock().expect("not poisoned").push(describe(event))
        });
        changes(&informer);
        told.lock().expect("not poisoned").clone()
    }

    #[test]
    fn handlers_learn_what_changed() {
        let told = told(|informer| {
            informer.apply(secret("a", "1"));
            informer.apply(secret("a", "2"));
            informer.delete(secret("a", "3"));
            informer.delete(secret("a", "3"));
        });
        assert_eq!(told, ["added a 1", "updated a 1->2", "deleted a 3"]);
    }

    #[test]
    fn a_new_list_updates_what_it_shows_and_misses_the_rest() {
        let told = told(|informer| {
            informer.replace([secret("a", "1"), secret("b", "1")]);
            informer.replace([secret("b", "1"), secret("c", "1")]);
        });
        assert_eq!(told, ["added a 1", "added b 1", "updated b 1->1", "added c 1", "missed a 1"]);
    }

    #[test]
    fn a_filter_turns_updates_across_it_into_additions_and_deletions() {
        let [seen, hidden] = ["seen", "hidden"].map(|type_| Arc::new(secret("a", type_)));
        let updated = |old: &Arc<Secret>, new: &Arc<Secret>| Event::Updated { old: old.clone(), new: new.clone() };
        for (event, expected) in [
            (Event::Added(seen.clone()), Some("added a seen")),
            (Event::Added(hidden.clone()), None),
            (updated(&seen, &seen), Some("updated a seen->seen")),
            (updated(&hidden, &seen), Some("added a seen")),
            (updated(&seen, &hidden), Some("deleted a seen")),
            (updated(&hidden, &hidden), None),
            (Event::Deleted(seen.clone()), Some("deleted a seen")),
            (Event::Deleted(hidden.clone()), None),
            (Event::MissedDeletion(seen.clone()), Some("missed a seen")),
        ] {
            let before = describe(&event);
            let after = event.filter(|secret| secret.type_.as_deref() == Some("seen"));
            assert_eq!(after.as_ref().map(describe).as_deref(), expected, "{before}");
        }
    }

    #[tokio::test]
    async fn lookups_stay_within_the_namespace() {
        let mut elsewhere = secret("b", "1");
        elsewhere.metadata.namespace = Some("ns2".into());
        let informer = Informer::with_objects([secret("b", "1"), secret("a", "1"), elsewhere]);
        informer.synced().await;
        let names: Vec<_> = informer.in_namespace("ns").iter().map(|secret| secret.name_any()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(informer.get(&ObjectKey::new("ns2", "b")).is_some());
        assert!(informer.get(&ObjectKey::new("ns2", "a")).is_none());
    }
}
