//! The parameters that a binding refers to, as they are now.
//!
//! Follows `CollectParams` of `pkg/admission/plugin/policy/generic/policy_dispatcher.go` of `k8s.io/apiserver` (v0.37.1). Upstream reads them
//! from informers of their own, so that what it finds may be older.

use super::binding::Binding;
use super::policy::{ParamKind, Policy};
use crate::admission::Attributes;
use crate::deadline::Deadline;
use crate::error::ApiError;
use crate::registry::{Served, Version};
use crate::schema::TypeRef;
use crate::store::{Entry, Key, Scope};
use std::borrow::Cow;
use std::sync::Arc;
use tree::Value;

/// A parameter as it was found. There may be many, each of which is read only while a policy is evaluated with it.
#[derive(Debug)]
pub(crate) struct Found<'w> {
    entry: Arc<Entry>,
    version: &'w Version,
    /// The object, where a webhook had to convert it.
    converted: Option<Value>,
}

/// An object that a policy is evaluated with, in the version that the policy names.
#[derive(Debug)]
pub(crate) struct Parameter<'f> {
    object: Cow<'f, Value>,
    /// The Go type; `None` for custom resources.
    ty: Option<TypeRef<'f>>,
}

/// The parameters of a policy with a binding; a single `None`, if it is evaluated without.
///
/// # Errors
/// The reason why they are not known.
pub(crate) async fn parameters<'w, C>(
    write: &Attributes<'w>,
    policy: &Policy<C>,
    binding: &Binding,
) -> Result<Vec<Option<Found<'w>>>, String> {
    let (Some(kind), Some(reference)) = (&policy.param_kind, &binding.reference) else { return Ok(vec![None]) };
    let served = served(write, kind)?;
    let namespaced = served.resource.meta.namespaced;
    let namespace = match (namespaced, reference.namespace.as_str()) {
        (true, "") if write.namespace.is_empty() => {
            return Err("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources".into());
        }
        (true, "") => write.namespace,
        (true, own) => own,
        (false, "") => "",
        (false, _) => return Err("paramRef.namespace must not be provided for a cluster-scoped `paramKind`".into()),
    };
    let found: Vec<Arc<Entry>> = match (reference.name.as_str(), &reference.selector) {
        ("", Some(selector)) => {
            let scope = Scope { namespace: namespaced.then(|| namespace.into()), ..Scope::all(served.resource.id) };
            let snapshot = write.server.store.snapshot();
            snapshot.range(&scope, "").filter(|entry| selector.matches(entry.meta.labels())).cloned().collect()
        }
        ("", None) => return Err("one of name or selector must be provided".into()),
        (name, _) => write.server.store.get(&Key::new(served.resource.id, namespace, name)).into_iter().collect(),
    };
    if found.is_empty() && reference.denies_absence {
        return Err("no params found for policy binding with `Deny` parameterNotFoundAction".into());
    }
    let mut parameters = Vec::with_capacity(found.len());
    for entry in found {
        let converted = converted(write, served, &entry).await.map_err(|error| error.to_string())?;
        parameters.push(Some(Found { entry, version: served.version, converted }));
    }
    Ok(parameters)
}

/// The resource of a kind.
///
/// # Errors
/// If no such kind is served.
pub(super) fn served<'w>(write: &Attributes<'w>, kind: &ParamKind) -> Result<Served<'w>, String> {
    let served = write.server.registry.kind(&kind.api_version, &kind.kind);
    served.ok_or_else(|| format!("failed to find resource referenced by paramKind: '{}'", kind.print()))
}

/// The object of an entry, if a webhook has to convert it.
async fn converted(
    write: &Attributes<'_>,
    Served { resource, version, .. }: Served<'_>,
    entry: &Entry,
) -> Result<Option<Value>, ApiError> {
    resource.compile(write.deadline)?;
    if !version.asks_webhook() {
        return Ok(None);
    }
    let converted = version.convert_from_storage_by_webhook(vec![entry.object()], write.deadline).await;
    Ok(Some(converted.map_err(ApiError::internal)?.swap_remove(0)))
}

impl Found<'_> {
    /// Namespace and name.
    pub(crate) fn key(&self) -> (&str, &str) {
        (self.entry.key.namespace(), self.entry.key.name())
    }

    /// Reads it.
    pub(crate) fn read(&self, deadline: &Deadline) -> Parameter<'_> {
        let version = self.version;
        let read = || {
            let stored = self.entry.object();
            let object = version.built_in_from_storage(&stored);
            object.unwrap_or_else(|| version.custom_from_storage(stored, deadline))
        };
        let object = self.converted.as_ref().map_or_else(|| Cow::Owned(read()), Cow::Borrowed);
        Parameter { object, ty: version.is_typed().then(|| version.ty()) }
    }
}

impl Parameter<'_> {
    /// The object and its type, as expressions see them.
    pub(crate) fn shown(&self) -> (&Value, Option<TypeRef<'_>>) {
        (&self.object, self.ty)
    }
}
