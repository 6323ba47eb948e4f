//! The two kinds that pods refer to, secrets and config maps, and the differences between them.
//!
//! Follows kubernetes v1.37.1 `pkg/kubelet/secret/secret_manager.go` and `pkg/kubelet/configmap/configmap_manager.go`.

use controller::pods;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kube::Resource;
use kube::core::NamespaceResourceScope;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::fmt::Debug;

/// A kind of objects that pods refer to by name.
pub trait PodObject:
    Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned + Send + Sync + 'static
{
    /// The name of the kind in messages (`GroupResource` of the managers, in the singular).
    const NOUN: &'static str;

    /// The names of this kind that the pod refers to.
    fn referenced_by(pod: &Pod) -> BTreeSet<&str>;

    /// Whether the object is marked as immutable.
    fn is_immutable(&self) -> bool;
}

impl PodObject for Secret {
    const NOUN: &'static str = "secret";

    fn referenced_by(pod: &Pod) -> BTreeSet<&str> {
        pods::visit_secret_names(pod)
    }

    fn is_immutable(&self) -> bool {
        self.immutable == Some(true)
    }
}

impl PodObject for ConfigMap {
    const NOUN: &'static str = "configmap";

    fn referenced_by(pod: &Pod) -> BTreeSet<&str> {
        pods::visit_config_map_names(pod)
    }

    fn is_immutable(&self) -> bool {
        self.immutable == Some(true)
    }
}
