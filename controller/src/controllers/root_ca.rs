//! The controller that publishes the API server's certificate authority in every namespace: the config map
//! [`CONFIG_MAP_NAME`].
//!
//! | event | sync of the namespace |
//! |---|---|
//! | a namespace was added, in whatever phase, or updated and is active | creates or repairs the config map |
//! | a config map of that name was updated or deleted | the same |
//!
//! The config map is right if its data is [`ROOT_CA_KEY`] and nothing else, and it has a description. A namespace that fails
//! is retried for ever, with growing delays; also if another client just created the config map.
//!
//! Follows kubernetes v1.37.1 `pkg/controller/certificates/rootcacertpublisher/publisher.go` and `metrics.go`. Unlike there,
//! workers begin only when the namespaces have synced too.

use crate::client_go::api_errors::{NAMESPACE_TERMINATING_CAUSE, has_status_cause, is_not_found};
use crate::client_go::informer::{Event, Informer, ObjectKey};
use crate::client_go::objects::Objects;
use crate::client_go::workqueue::RateLimitingQueue;
use crate::controller::{Controller, Source};
use crate::controllers::service_accounts::is_active;
use crate::worker::{Outcome, Worker};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{ObjectMeta, PostParams};
use kube::{Client, ResourceExt};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The config map of every namespace (`RootCACertConfigMapName`).
pub const CONFIG_MAP_NAME: &str = "kube-root-ca.crt";
/// The key of the certificates in the config map.
pub const ROOT_CA_KEY: &str = "ca.crt";
/// The annotation with the description of the config map (`DescriptionAnnotation`).
pub const DESCRIPTION_ANNOTATION: &str = "kubernetes.io/description";
/// The description (`Description`). Another one is left alone.
pub const DESCRIPTION: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal \
    endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions \
    of Kubernetes clusters.";

/// The metrics of syncs: count and duration by HTTP status, 500 for other errors (`metrics.go`).
#[derive(Debug, Clone)]
pub struct Metrics {
    syncs: Family<Code, Counter>,
    durations: Family<Code, Histogram, fn() -> Histogram>,
}

type Code = [(&'static str, u16); 1];

impl Default for Metrics {
    fn default() -> Self {
        let seconds = || Histogram::new(exponential_buckets(0.001, 2.0, 15));
        Metrics { syncs: Family::default(), durations: Family::new_with_constructor(seconds) }
    }
}

impl Metrics {
    /// Registers the metrics.
    pub fn register(&self, registry: &mut Registry) {
        let registry = registry.sub_registry_with_prefix("root_ca_cert_publisher");
        let help = "Number of namespace syncs happened in root ca cert publisher";
        registry.register("sync", help, self.syncs.clone());
        registry.register("sync_duration_seconds", help, self.durations.clone());
    }

    fn observe(&self, duration: Duration, result: &kube::Result<()>) {
        let code = match result {
            Ok(()) => 200,
            Err(kube::Error::Api(status)) if status.code != 0 => status.code,
            Err(_) => 500,
        };
        self.syncs.get_or_create(&[("code", code)]).inc();
        self.durations.get_or_create(&[("code", code)]).observe(duration.as_secs_f64());
    }
}

/// The controller, which acts through `client` on the informers' events and publishes `root_ca`, verbatim. Its keys are
/// names of namespaces.
pub fn controller(
    client: Client,
    config_maps: Arc<Informer<ConfigMap>>,
    namespaces: Arc<Informer<Namespace>>,
    root_ca: String,
    metrics: Metrics,
) -> Controller {
    let queue = Arc::new(RateLimitingQueue::new());
    config_maps.add_handler({
        let queue = queue.clone();
        move |event| match event {
            Event::Updated { new: config_map, .. } | Event::Deleted(config_map) | Event::MissedDeletion(config_map) => {
                if config_map.name_any() == CONFIG_MAP_NAME {
                    queue.add(config_map.namespace().unwrap_or_default());
                }
            }
            Event::Added(_) => {}
        }
    });
    namespaces.add_handler({
        let queue = queue.clone();
        move |event| match event {
            Event::Added(namespace) => queue.add(namespace.name_any()),
            Event::Updated { new: namespace, .. } if is_active(namespace) => queue.add(namespace.name_any()),
            Event::Updated { .. } | Event::Deleted(_) | Event::MissedDeletion(_) => {}
        }
    });
    let informers: Vec<Arc<dyn Source>> = vec![config_maps.clone(), namespaces];
    let data = BTreeMap::from([(ROOT_CA_KEY.to_owned(), root_ca)]);
    let syncer = Arc::new(Syncer { client: client.clone(), config_maps, data, metrics });
    let worker = Worker::new("root_ca_cert_publisher", queue, None, move |namespace: String| {
        let syncer = syncer.clone();
        async move {
            let begin = Instant::now();
            let result = syncer.sync(&namespace).await;
            syncer.metrics.observe(begin.elapsed(), &result);
            Outcome::of(&namespace, result)
        }
    });
    Controller::new(client, informers, vec![Box::new(worker)])
}

struct Syncer {
    client: Client,
    config_maps: Arc<Informer<ConfigMap>>,
    data: BTreeMap<String, String>,
    metrics: Metrics,
}

impl Syncer {
    async fn sync(&self, namespace: &str) -> kube::Result<()> {
        let api = Objects::namespaced(self.client.clone(), namespace);
        let Some(cached) = self.config_maps.get(&ObjectKey::new(namespace, CONFIG_MAP_NAME)) else {
            return self.create(&api).await;
        };
        if self.is_right(&cached) {
            return Ok(());
        }
        let mut config_map = ConfigMap::clone(&cached);
        config_map.data = Some(self.data.clone());
        config_map.annotations_mut().insert(DESCRIPTION_ANNOTATION.to_owned(), DESCRIPTION.to_owned());
        api.replace(CONFIG_MAP_NAME, &PostParams::default(), &config_map).await.map(|_| ())
    }

    /// Creates the config map. If the namespace is deleted or terminating, it is not needed, and that is a success.
    async fn create(&self, api: &Objects<ConfigMap>) -> kube::Result<()> {
        let annotations = BTreeMap::from([(DESCRIPTION_ANNOTATION.to_owned(), DESCRIPTION.to_owned())]);
        let metadata = ObjectMeta {
            name: Some(CONFIG_MAP_NAME.to_owned()),
            annotations: Some(annotations),
            ..ObjectMeta::default()
        };
        let config_map = ConfigMap { metadata, data: Some(self.data.clone()), ..ConfigMap::default() };
        match api.create(&PostParams::default(), &config_map).await {
            Err(error) if is_not_found(&error) || has_status_cause(&error, NAMESPACE_TERMINATING_CAUSE) => Ok(()),
            result => result.map(|_| ()),
        }
    }

    fn is_right(&self, config_map: &ConfigMap) -> bool {
        let described = config_map.annotations().get(DESCRIPTION_ANNOTATION).is_some_and(|text| !text.is_empty());
        described && config_map.data.as_ref() == Some(&self.data)
    }
}
