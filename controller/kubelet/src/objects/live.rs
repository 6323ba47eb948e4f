//! The strategy `Get`: every read is a request, for registered pods or not.

use super::{GetError, ObjectManager, PodObject};
use controller::client_go::objects::Objects;
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use std::sync::Arc;

/// A manager without a cache (`simpleSecretManager`, `simpleConfigMapManager`).
#[derive(Clone)]
pub struct LiveObjects {
    client: Client,
}

impl LiveObjects {
    /// A manager that reads through `client`.
    pub fn new(client: Client) -> Self {
        LiveObjects { client }
    }
}

impl<K: PodObject> ObjectManager<K> for LiveObjects {
    fn get<'a>(&'a self, namespace: &'a str, name: &'a str) -> BoxFuture<'a, Result<Arc<K>, GetError>> {
        Box::pin(async move {
            let api = Objects::<K>::namespaced(self.client.clone(), namespace);
            Ok(Arc::new(api.get(name).await?))
        })
    }

    fn register_pod(&self, _: &Pod) {}

    fn unregister_pod(&self, _: &Pod) {}
}
