//! The plugin `NamespaceLifecycle`: objects are created only in a namespace that exists and is not terminating, and some
//! namespaces cannot be deleted.
//!
//! Follows `k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go` (v0.37.1). The store checks the namespace
//! of a new object once more, atomically with the commit.

use crate::admission::{Attributes, Immediate, Operation};
use crate::commit::namespace;
use crate::error::{ApiError, ApiResult, Qualified};
use tree::Value;

/// The name of the plugin, without which namespaces need not exist: the store has to know, too.
pub(in crate::admission) const NAME: &str = "NamespaceLifecycle";

/// The namespaces that cannot be deleted.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

/// The resource of namespaces.
pub(super) const NAMESPACES: Qualified<'static> = Qualified { group: "", resource: "namespaces" };

/// The plugin `NamespaceLifecycle`.
pub(super) struct NamespaceLifecycle;

impl Immediate for NamespaceLifecycle {
    fn admit(&self, attributes: &Attributes<'_>, object: &mut Value) -> ApiResult<()> {
        let (resource, namespace) = (attributes.resource, attributes.namespace);
        match attributes.operation {
            Operation::Create if resource.meta.namespaced && !namespace.is_empty() => {
                let entry = attributes.server.store.get(&namespace::key(namespace));
                match entry.ok_or_else(|| missing(namespace))? {
                    entry if namespace::is_terminating(&entry) => {
                        Err(terminating(attributes.version.qualified(), namespace, attributes.displayed_name(object)))
                    }
                    _ => Ok(()),
                }
            }
            Operation::Delete if namespace::is_namespace(resource) && IMMORTAL.contains(&attributes.name) => {
                Err(ApiError::forbidden(NAMESPACES, attributes.name, "this namespace may not be deleted"))
            }
            _ => Ok(()),
        }
    }
}

/// 404: the namespace does not exist.
pub(crate) fn missing(namespace: &str) -> ApiError {
    ApiError::not_found(NAMESPACES, namespace)
}

/// 403: the namespace is terminating, so the object of that resource and name cannot be created.
pub(crate) fn terminating(resource: Qualified<'_>, namespace: &str, name: &str) -> ApiError {
    let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
    let cause = format!("namespace {namespace} is being terminated");
    ApiError::forbidden(resource, name, why).with_cause("NamespaceTerminating", cause, "metadata.namespace")
}
