//! A cache of a controller's own recent writes over an informer's store, until the watch reports them.
//!
//! Without it, a controller that created an object a moment ago finds it missing and creates another one.
//! Entries are kept even if the watch never shows them (`includeAdds`): an object that was created and deleted
//! before the watch reported it stays visible until its TTL is over.
//!
//! Follows client-go v0.37.1 `tools/cache/mutation_cache.go` without tombstones, and apimachinery v0.37.1
//! `pkg/util/cache/lruexpirecache.go`.

use crate::client_go::informer::{Informer, ObjectKey};
use kube::{Resource, ResourceExt};
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// The most own writes that are kept (`maxCacheSize`).
pub const MAX_CACHE_SIZE: usize = 100;
/// The time for which an own write is kept (`ttl`).
pub const TTL: Duration = Duration::from_secs(60);

/// An informer's store, overlaid with own writes.
#[derive(Debug)]
pub struct MutationCache<K> {
    backing: Arc<Informer<K>>,
    mutations: Mutex<Mutations<K>>,
}

impl<K: Resource<DynamicType = ()>> MutationCache<K> {
    /// An empty cache over the store of `backing`.
    pub fn new(backing: Arc<Informer<K>>) -> Self {
        MutationCache { backing, mutations: Mutex::new(Mutations(Vec::new())) }
    }

    /// The informer beneath.
    pub fn backing(&self) -> &Arc<Informer<K>> {
        &self.backing
    }

    /// The newest known version of the object with that key.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.with_mutations(|mutations| match self.backing.get(key) {
            Some(backing) => Some(mutations.newer(backing)),
            None => mutations.get(key),
        })
    }

    /// The newest known versions of all objects of a namespace, those that are not in the store last.
    pub fn in_namespace(&self, namespace: &str) -> Vec<Arc<K>> {
        self.with_mutations(|mutations| {
            let backing = self.backing.in_namespace(namespace);
            let known: HashSet<_> = backing.iter().map(|object| ObjectKey::of(&**object)).collect();
            let mut objects: Vec<_> = backing.into_iter().map(|object| mutations.newer(object)).collect();
            objects
                .extend(mutations.in_namespace(namespace).filter(|object| !known.contains(&ObjectKey::of(&**object))));
            objects
        })
    }

    /// Keeps `object`, the answer to an own write, unless a newer version of it is cached already.
    pub fn mutation(&self, object: K) {
        self.with_mutations(|mutations| {
            let remembered = mutations.get(&ObjectKey::of(&object));
            if remembered.is_none_or(|remembered| version(&*remembered) <= version(&object)) {
                mutations.put(object);
            }
        });
    }

    fn with_mutations<R>(&self, act: impl FnOnce(&mut Mutations<K>) -> R) -> R {
        let mut mutations = self.mutations.lock().expect("no holder of this lock can panic");
        mutations.expire(Instant::now());
        act(&mut mutations)
    }
}

/// The numeric resource version. If it is not a number, upstream panics; here it is 0, so that the watch always wins.
fn version<K: Resource>(object: &K) -> u64 {
    object.resource_version().and_then(|version| version.parse().ok()).unwrap_or_default()
}

/// The cached writes, least recently used first.
#[derive(Debug)]
struct Mutations<K>(Vec<Mutation<K>>);

#[derive(Debug)]
struct Mutation<K> {
    key: ObjectKey,
    object: Arc<K>,
    made: Instant,
}

impl<K: Resource<DynamicType = ()>> Mutations<K> {
    fn expire(&mut self, now: Instant) {
        self.0.retain(|mutation| now.duration_since(mutation.made) <= TTL);
    }

    fn remove(&mut self, key: &ObjectKey) -> Option<Mutation<K>> {
        let position = self.0.iter().position(|mutation| mutation.key == *key)?;
        Some(self.0.remove(position))
    }

    fn put(&mut self, object: K) {
        let key = ObjectKey::of(&object);
        if self.remove(&key).is_none() && self.0.len() >= MAX_CACHE_SIZE {
            self.0.remove(0);
        }
        self.0.push(Mutation { key, object: Arc::new(object), made: Instant::now() });
    }

    /// The entry of `key`, which becomes the most recently used one.
    fn get(&mut self, key: &ObjectKey) -> Option<Arc<K>> {
        let mutation = self.remove(key)?;
        let object = mutation.object.clone();
        self.0.push(mutation);
        Some(object)
    }

    fn in_namespace(&self, namespace: &str) -> impl Iterator<Item = Arc<K>> {
        self.0
            .iter()
            .filter(move |mutation| mutation.key.namespace == namespace)
            .map(|mutation| mutation.object.clone())
    }

    /// The newer of `backing` and the entry of its key; an entry that is not newer is dropped.
    fn newer(&mut self, backing: Arc<K>) -> Arc<K> {
        let key = ObjectKey::of(&*backing);
        match self.get(&key) {
            Some(mutated) if version(&*mutated) > version(&*backing) => mutated,
            Some(_) => {
                self.remove(&key);
                backing
            }
            None => backing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::Secret;

    fn secret(name: &str, resource_version: &str) -> Secret {
        let mut secret = Secret::default();
        secret.metadata.namespace = Some("ns".into());
        secret.metadata.name = Some(name.into());
        secret.metadata.resource_version = Some(resource_version.into());
        secret
    }

    /// A cache over a store with `a` at version 5, and the store's own handle.
    fn cache() -> (Arc<Informer<Secret>>, MutationCache<Secret>) {
        let informer = Arc::new(Informer::with_objects([secret("a", "5")]));
        (informer.clone(), MutationCache::new(informer))
    }

    fn get(cache: &MutationCache<Secret>, name: &str) -> Option<String> {
        cache.get(&ObjectKey::new("ns", name)).and_then(|secret| secret.resource_version())
    }

    fn names(cache: &MutationCache<Secret>, namespace: &str) -> Vec<String> {
        cache
            .in_namespace(namespace)
            .iter()
            .map(|secret| format!("{}@{}", secret.name_any(), version(&**secret)))
            .collect()
    }

    #[tokio::test(start_paused = true)]
    async fn the_newer_of_store_and_own_write_wins() {
        for (own, expected) in [("4", "5"), ("5", "5"), ("6", "6"), ("10", "10"), ("", "5"), ("opaque", "5")] {
            let (_, cache) = cache();
            cache.mutation(secret("a", own));
            assert_eq!(get(&cache, "a").as_deref(), Some(expected), "own write {own:?}");
            assert_eq!(names(&cache, "ns"), [format!("a@{expected}")], "own write {own:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn own_additions_are_visible_until_their_time_is_over() {
        let (_, cache) = cache();
        cache.mutation(secret("new", "7"));
        assert_eq!(names(&cache, "ns"), ["a@5", "new@7"]);
        assert_eq!(names(&cache, "other"), [""; 0]);
        tokio::time::advance(TTL).await;
        assert_eq!(get(&cache, "new").as_deref(), Some("7"), "the last moment still counts");
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(get(&cache, "new"), None);
        assert_eq!(names(&cache, "ns"), ["a@5"]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_older_write_does_not_replace_a_newer_one_but_an_equal_one_extends_it() {
        let (_, cache) = cache();
        cache.mutation(secret("new", "7"));
        cache.mutation(secret("new", "6"));
        assert_eq!(get(&cache, "new").as_deref(), Some("7"));
        tokio::time::advance(TTL).await;
        cache.mutation(secret("new", "7"));
        tokio::time::advance(TTL).await;
        assert_eq!(get(&cache, "new").as_deref(), Some("7"));
    }

    #[tokio::test(start_paused = true)]
    async fn an_entry_that_the_watch_overtook_is_forgotten() {
        let (informer, cache) = cache();
        cache.mutation(secret("new", "7"));
        informer.apply(secret("new", "7"));
        assert_eq!(get(&cache, "new").as_deref(), Some("7"));
        informer.delete(secret("new", "8"));
        assert_eq!(get(&cache, "new"), None, "the entry was dropped when the store had caught up");
    }

    #[tokio::test(start_paused = true)]
    async fn a_deletion_that_the_cache_never_compared_leaves_the_entry() {
        let (informer, cache) = cache();
        cache.mutation(secret("new", "7"));
        informer.apply(secret("new", "7"));
        informer.delete(secret("new", "8"));
        assert_eq!(get(&cache, "new").as_deref(), Some("7"));
    }

    #[tokio::test(start_paused = true)]
    async fn the_least_recently_used_entry_makes_room() {
        let (_, cache) = cache();
        (0..MAX_CACHE_SIZE).for_each(|i| cache.mutation(secret(&format!("new-{i}"), "7")));
        get(&cache, "new-0");
        cache.mutation(secret("one-more", "7"));
        assert!(get(&cache, "new-0").is_some());
        assert!(get(&cache, "new-1").is_none());
        assert!(get(&cache, "one-more").is_some());
    }
}
