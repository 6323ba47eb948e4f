//! Which registered pod refers to which objects, told to a store as references that come and go.
//!
//! Follows kubernetes v1.37.1 `pkg/kubelet/util/manager/cache_based_manager.go` (`cacheBasedManager`):
//! * A pod is known by namespace, name and uid.
//! * A pod that is registered again adds what is new before it drops what is gone; what it keeps is left alone.
//! * A pod that is unregistered drops what it referred to when it was last registered, whatever it says now.
//!
//! Pods that have succeeded or failed are for the caller to unregister.

use super::{GetError, ObjectManager, PodObject};
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use std::collections::{BTreeSet, HashMap};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard};

/// Objects of one kind that are kept as long as they are referred to (`Store`).
pub trait Store<K>: Send + Sync {
    /// The object.
    ///
    /// # Errors
    /// If there is none, nobody refers to it, or nobody can tell.
    fn get<'a>(&'a self, namespace: &'a str, name: &'a str) -> BoxFuture<'a, Result<Arc<K>, GetError>>;

    /// The pod of that uid refers to the object, once more than before. Does no I/O.
    fn add_reference(&self, namespace: &str, name: &str, pod_uid: &str);

    /// The pod of that uid refers to the object once less. Does no I/O.
    fn delete_reference(&self, namespace: &str, name: &str, pod_uid: &str);
}

/// A manager over a store: it turns pods into references.
pub struct Registry<K, S> {
    store: S,
    /// What each registered pod refers to.
    pods: Mutex<HashMap<PodKey, BTreeSet<String>>>,
    kind: PhantomData<fn() -> K>,
}

#[derive(PartialEq, Eq, Hash)]
struct PodKey {
    namespace: String,
    name: String,
    uid: String,
}

impl PodKey {
    fn of(pod: &Pod) -> Self {
        PodKey {
            namespace: pod.namespace().unwrap_or_default(),
            name: pod.name_any(),
            uid: pod.uid().unwrap_or_default(),
        }
    }
}

impl<K, S: Store<K>> Registry<K, S> {
    /// A manager of `store`, with no pods yet.
    pub fn new(store: S) -> Self {
        Registry { store, pods: Mutex::default(), kind: PhantomData }
    }

    /// The store that it tells.
    pub fn store(&self) -> &S {
        &self.store
    }

    fn pods(&self) -> MutexGuard<'_, HashMap<PodKey, BTreeSet<String>>> {
        self.pods.lock().expect("stores do not panic")
    }
}

impl<K: PodObject, S: Store<K>> ObjectManager<K> for Registry<K, S> {
    fn get<'a>(&'a self, namespace: &'a str, name: &'a str) -> BoxFuture<'a, Result<Arc<K>, GetError>> {
        self.store.get(namespace, name)
    }

    fn register_pod(&self, pod: &Pod) {
        let key = PodKey::of(pod);
        let names: BTreeSet<String> = K::referenced_by(pod).into_iter().map(str::to_owned).collect();
        let mut pods = self.pods();
        let before = pods.remove(&key).unwrap_or_default();
        for name in names.difference(&before) {
            self.store.add_reference(&key.namespace, name, &key.uid);
        }
        for name in before.difference(&names) {
            self.store.delete_reference(&key.namespace, name, &key.uid);
        }
        pods.insert(key, names);
    }

    fn unregister_pod(&self, pod: &Pod) {
        let key = PodKey::of(pod);
        let mut pods = self.pods();
        for name in pods.remove(&key).unwrap_or_default() {
            self.store.delete_reference(&key.namespace, &name, &key.uid);
        }
    }
}
