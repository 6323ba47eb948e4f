//! The strategies by which managers detect changes, named as in the kubelet's configuration.
//!
//! Follows kubernetes v1.37.1 `pkg/kubelet/kubelet.go` (`ConfigMapAndSecretChangeDetectionStrategy`).

use super::{CachedObjects, LiveObjects, NodeTtl, ObjectManager, PodObject, Registry, WatchedObjects};
use crate::clock::Clock;
use jiff::SignedDuration;
use kube::Client;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A strategy to detect changes (`ResourceChangeDetectionStrategy`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Each object is watched.
    #[default]
    Watch,
    /// An object that was read is fresh for a TTL.
    Cache,
    /// Every read is a request.
    Get,
}

impl FromStr for Strategy {
    type Err = UnknownStrategy;

    fn from_str(name: &str) -> Result<Self, UnknownStrategy> {
        match name {
            "Watch" => Ok(Strategy::Watch),
            "Cache" => Ok(Strategy::Cache),
            "Get" => Ok(Strategy::Get),
            other => Err(UnknownStrategy(other.to_owned())),
        }
    }
}

impl Display for Strategy {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// An error for a name that is not a strategy's.
#[derive(Debug, thiserror::Error)]
#[error("unknown configmap and secret manager mode: {0}")]
pub struct UnknownStrategy(pub String);

/// The settings of managers.
#[derive(Clone)]
pub struct Settings {
    /// The clock for TTLs and all waits.
    pub clock: Arc<dyn Clock>,
    /// The time between two syncs of a pod (`syncFrequency`): an object that is not read for five times as long is no longer
    /// watched.
    pub sync_frequency: SignedDuration,
    /// The TTL of objects that were read.
    pub node_ttl: NodeTtl,
    /// The signal to end all watches.
    pub shutdown: CancellationToken,
}

impl Settings {
    /// The manager of [`Strategy::Watch`], with access to its store. It must be called within a tokio runtime.
    pub fn watched<K: PodObject>(self, client: Client) -> Arc<Registry<K, WatchedObjects<K>>> {
        Arc::new(Registry::new(WatchedObjects::new(client, self.clock, self.sync_frequency * 5, self.shutdown)))
    }
}

impl Strategy {
    /// A manager of objects of one kind. It must be called within a tokio runtime.
    pub fn manager<K: PodObject>(self, client: Client, settings: Settings) -> Arc<dyn ObjectManager<K>> {
        match self {
            Strategy::Watch => settings.watched::<K>(client),
            Strategy::Cache => {
                Arc::new(Registry::new(CachedObjects::<K>::new(client, settings.clock, settings.node_ttl)))
            }
            Strategy::Get => Arc::new(LiveObjects::new(client)),
        }
    }
}
