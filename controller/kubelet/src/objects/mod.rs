//! Secrets and config maps as pods see them: managers that keep what registered pods refer to.
//!
//! There are three, chosen by a [`Strategy`]:
//!
//! | strategy | who refers to what | where objects come from |
//! |---|---|---|
//! | `Watch` | [`Registry`] | [`WatchedObjects`]: a watch for each |
//! | `Cache` | [`Registry`] | [`CachedObjects`]: requests, whose answers are good for a time that the node says |
//! | `Get` | nobody asks | [`LiveObjects`]: a request each time |

mod backoff;
mod cached;
mod kind;
mod live;
mod reflector;
mod registry;
mod strategy;
mod ttl;
mod watched;

pub use cached::CachedObjects;
pub use kind::PodObject;
pub use live::LiveObjects;
pub use registry::{Registry, Store};
pub use strategy::{Settings, Strategy, UnknownStrategy};
pub use ttl::{NodeTtl, TTL_ANNOTATION, ttl_of_node};
pub use watched::WatchedObjects;

use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::Pod;
use std::sync::Arc;

/// Keeps the objects of one kind that pods refer to (`pkg/kubelet/util/manager.Manager`, v1.37.1).
pub trait ObjectManager<K>: Send + Sync {
    /// The object as far as the manager knows it.
    ///
    /// # Errors
    /// If there is none, or nobody can tell.
    fn get<'a>(&'a self, namespace: &'a str, name: &'a str) -> BoxFuture<'a, Result<Arc<K>, GetError>>;

    /// From now on this pod's objects are wanted. Does no I/O.
    fn register_pod(&self, pod: &Pod);

    /// This pod is gone. Does no I/O.
    fn unregister_pod(&self, pod: &Pod);
}

/// Why there is no object.
#[derive(Debug, thiserror::Error)]
pub enum GetError {
    /// No registered pod refers to it.
    #[error("object {0:?}/{1:?} not registered")]
    NotRegistered(String, String),
    /// The first list did not come in time. The field is `secret` or `configmap`.
    #[error("failed to sync {0} cache: timed out waiting for the condition")]
    NotSynced(&'static str),
    /// What the API server said, word for word.
    #[error("{}", .0.message)]
    Api(Box<kube::core::Status>),
    /// The request failed before the API server could say anything.
    #[error(transparent)]
    Client(kube::Error),
}

impl GetError {
    /// Whether the object certainly does not exist. Optional references tolerate this, and nothing else.
    pub fn is_not_found(&self) -> bool {
        matches!(self, GetError::Api(status) if status.is_not_found())
    }
}

impl From<kube::Error> for GetError {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => GetError::Api(status),
            other => GetError::Client(other),
        }
    }
}
