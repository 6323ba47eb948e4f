//! A manager that turns registered pods into references, which it adds to a store and deletes.
//!
//! Follows kubernetes v1.37.1 `pkg/kubelet/util/manager/cache_based_manager.go` (`cacheBasedManager`):
//! * A pod is identified by namespace, name and uid.
//! * A pod that is registered again adds its new references before it drops the old ones; those that it keeps stay.
//! * A pod that is unregistered drops the references that it was last registered with, whatever its spec is now.
//!
//! Pods that have succeeded or failed are for the caller to unregister.

use super::{GetError, ObjectManager, PodObject};
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use std::collections::{BTreeSet, HashMap};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard};

/// A store of the referenced objects of one kind (`Store`).
pub trait Store<K>: Send + Sync {
    /// The object of that name.
    ///
    /// # Errors
    /// If it does not exist, is not referenced, or cannot be read.
    fn get<'a>(&'a self, namespace: &'a str, name: &'a str) -> BoxFuture<'a, Result<Arc<K>, GetError>>;

    /// Adds a reference to the object by the pod with that uid. Does no I/O.
    fn add_reference(&self, namespace: &str, name: &str, pod_uid: &str);

    /// Deletes one such reference. Does no I/O.
    fn delete_reference(&self, namespace: &str, name: &str, pod_uid: &str);
}

/// A manager over a store: it turns pods into references.
pub struct Registry<K, S> {
    store: S,
    /// The names that each registered pod refers to.
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
    /// A manager over `store`, without pods.
    pub fn new(store: S) -> Self {
        Registry { store, pods: Mutex::default(), kind: PhantomData }
    }

    /// The store of the objects.
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
