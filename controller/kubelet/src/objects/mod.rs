//! Object managers: the secrets and config maps that registered pods refer to.
//!
//! There are three, chosen by a [`Strategy`]:
//!
//! | strategy | references | source of objects |
//! |---|---|---|
//! | `Watch` | [`Registry`] | [`WatchedObjects`]: a watch for each |
//! | `Cache` | [`Registry`] | [`CachedObjects`]: requests, with answers that are cached for a TTL that the node states |
//! | `Get` | not needed | [`LiveObjects`]: a request for each read |

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

/// A manager of the objects of one kind that pods refer to (`pkg/kubelet/util/manager.Manager`, v1.37.1).
pub trait ObjectManager<K>: Send + Sync {
    /// The object of that name.
    ///
    /// # Errors
    /// If it does not exist, is not registered, or cannot be read.
    fn get<'a>(&'a self, namespace: &'a str, name: &'a str) -> BoxFuture<'a, Result<Arc<K>, GetError>>;

    /// Adds the pod's references. Does no I/O.
    fn register_pod(&self, pod: &Pod);

    /// Drops the pod's references. Does no I/O.
    fn unregister_pod(&self, pod: &Pod);
}

/// An error of reading an object.
#[derive(Debug, thiserror::Error)]
pub enum GetError {
    /// No registered pod refers to it.
    #[error("object {0:?}/{1:?} not registered")]
    NotRegistered(String, String),
    /// The first list did not come in time. The field is `secret` or `configmap`.
    #[error("failed to sync {0} cache: timed out waiting for the condition")]
    NotSynced(&'static str),
    /// The API server's status, with its message unchanged.
    #[error("{}", .0.message)]
    Api(Box<kube::core::Status>),
    /// The request failed without an answer of the API server.
    #[error(transparent)]
    Client(kube::Error),
}

impl GetError {
    /// Whether the API server says that the object does not exist, the one error that optional references tolerate.
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
