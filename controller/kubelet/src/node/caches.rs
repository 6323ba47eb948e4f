//! A node's caches of secrets and config maps, and waiting until they have caught up.

use crate::objects::{ObjectManager, PodObject, Registry, Settings, Strategy, WatchedObjects};
use controller::client_go::objects::Objects;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kube::{Client, ResourceExt};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The object managers of a node.
#[derive(Clone)]
pub(super) struct Caches {
    pub(super) secrets: Arc<dyn ObjectManager<Secret>>,
    pub(super) config_maps: Arc<dyn ObjectManager<ConfigMap>>,
    /// The same two with the strategy `Watch`.
    watched: Option<(Watched<Secret>, Watched<ConfigMap>)>,
}

type Watched<K> = Arc<Registry<K, WatchedObjects<K>>>;

impl Caches {
    /// The managers of `strategy`. It must be called within a tokio runtime.
    pub(super) fn new(strategy: Strategy, client: &Client, settings: &Settings) -> Self {
        if strategy == Strategy::Watch {
            let secrets = settings.clone().watched::<Secret>(client.clone());
            let config_maps = settings.clone().watched::<ConfigMap>(client.clone());
            let both = Some((secrets.clone(), config_maps.clone()));
            return Caches { secrets, config_maps, watched: both };
        }
        let secrets = strategy.manager(client.clone(), settings.clone());
        let config_maps = strategy.manager(client.clone(), settings.clone());
        Caches { secrets, config_maps, watched: None }
    }

    pub(super) fn register(&self, pod: &Pod) {
        self.secrets.register_pod(pod);
        self.config_maps.register_pod(pod);
    }

    pub(super) fn unregister(&self, pod: &Pod) {
        self.secrets.unregister_pod(pod);
        self.config_maps.unregister_pod(pod);
    }

    /// Waits until the watched objects of `pods` are as the API server has them.
    pub(super) async fn caught_up(&self, client: &Client, pods: &[Arc<Pod>]) -> kube::Result<()> {
        if let Some((secrets, config_maps)) = &self.watched {
            caught_up(secrets, client, pods).await?;
            caught_up(config_maps, client, pods).await?;
        }
        Ok(())
    }
}

async fn caught_up<K: PodObject>(cache: &Watched<K>, client: &Client, pods: &[Arc<Pod>]) -> kube::Result<()> {
    let keys: BTreeSet<_> = pods
        .iter()
        .flat_map(|pod| {
            let namespace = pod.namespace().unwrap_or_default();
            K::referenced_by(pod).into_iter().map(move |name| (namespace.clone(), name.to_owned()))
        })
        .collect();
    // An object that is not watched will not change here: it is immutable, or was not read for long.
    for (namespace, name) in keys.iter().filter(|(namespace, name)| cache.store().is_watched(namespace, name)) {
        object_caught_up(cache.store(), &Objects::namespaced(client.clone(), namespace), namespace, name).await?;
    }
    Ok(())
}

/// Waits until `store` has the object as a live read shows it. The read is repeated with every event, since the watch may
/// never show a version that was overwritten.
async fn object_caught_up<K: PodObject>(
    store: &WatchedObjects<K>,
    api: &Objects<K>,
    namespace: &str,
    name: &str,
) -> kube::Result<()> {
    let version = |object: Option<&K>| object.and_then(ResourceExt::resource_version);
    let is_live = AtomicBool::new(false);
    while !is_live.load(Ordering::Relaxed) {
        let live = version(api.get_opt(name).await?.as_ref());
        let first = OnceLock::new();
        let is_news = |known: Option<&K>| {
            let known = version(known);
            is_live.store(known == live, Ordering::Relaxed);
            known == live || *first.get_or_init(|| known.clone()) != known
        };
        store.until(namespace, name, is_news).await;
    }
    Ok(())
}
