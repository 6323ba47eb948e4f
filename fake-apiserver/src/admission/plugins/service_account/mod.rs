//! The plugin `ServiceAccount`: every pod has a service account, and gets a token of it mounted.
//!
//! Ports `plugin/pkg/admission/serviceaccount/admission.go` (v1.37.1). Where that asks for the account `default` ten
//! times with pauses, the chain here waits until it is created.

mod mount;
mod policy;

use crate::admission::{Attributes, Operation, Plugin};
use crate::error::{ApiError, ApiResult};
use crate::object::meta;
use crate::registry::{ids, is_mirror_pod, items, references, text};
use crate::schema::quote;
use crate::store::Key;
pub(crate) use mount::Tokens;
use std::sync::Arc;
use tree::{Value, json};

/// `DefaultServiceAccountName`.
const DEFAULT: &str = "default";

pub(super) struct ServiceAccounts {
    /// The kind of tokens to mount.
    pub(super) tokens: Tokens,
}

impl Plugin for ServiceAccounts {
    /// The account `default` may be about to be created.
    fn awaits(&self, attributes: &Attributes<'_>, pod: &Value) -> Option<Key> {
        let concerned = match attributes.operation {
            Operation::Create => attributes.is_about("pods", "") && !is_mirror_pod(pod),
            Operation::Update => attributes.is_about("pods", "ephemeralcontainers"),
            Operation::Delete => false,
        };
        let named = matches!(text(pod, "/spec/serviceAccountName"), "" | DEFAULT);
        if !concerned || !named || find(attributes, DEFAULT).is_some() {
            return None;
        }
        Some(Key::new(ids::SERVICE_ACCOUNTS, attributes.namespace, DEFAULT))
    }

    fn admit(&self, attributes: &Attributes<'_>, pod: &mut Value) -> ApiResult<()> {
        if attributes.operation != Operation::Create || !attributes.is_about("pods", "") {
            return Ok(());
        }
        if !is_mirror_pod(pod) {
            self.mutate(attributes, pod)?;
        }
        self.validate(attributes, pod)
    }

    fn validate(&self, attributes: &Attributes<'_>, pod: &Value) -> ApiResult<()> {
        match attributes.operation {
            Operation::Create if attributes.is_about("pods", "") && is_mirror_pod(pod) => {
                mirror(pod).map_err(|why| attributes.forbidden(pod, why))
            }
            Operation::Create if attributes.is_about("pods", "") => {
                let account = account(attributes, pod)?;
                policy::limit(&account, pod).map_err(|why| attributes.forbidden(pod, why))
            }
            Operation::Update if attributes.is_about("pods", "ephemeralcontainers") => {
                let account = account(attributes, pod)?;
                // Upstream's error has no type here.
                policy::limit_ephemeral(&account, pod).map_err(ApiError::untyped)
            }
            _ => Ok(()),
        }
    }
}

impl ServiceAccounts {
    fn mutate(&self, attributes: &Attributes<'_>, pod: &mut Value) -> ApiResult<()> {
        if text(pod, "/spec/serviceAccountName").is_empty() {
            pod["spec"]["serviceAccountName"] = DEFAULT.into();
            pod["spec"]["serviceAccount"] = DEFAULT.into();
        }
        let account = account(attributes, pod)?;
        if automount(&account, pod) {
            self.tokens.mount(attributes, &account, pod)?;
        }
        if items(pod, "/spec/imagePullSecrets").is_empty() && !items(&account, "/imagePullSecrets").is_empty() {
            let names = items(&account, "/imagePullSecrets").iter().map(|secret| text(secret, "/name"));
            pod["spec"]["imagePullSecrets"] = names.map(|name| json!({ "name": name })).collect();
        }
        Ok(())
    }
}

/// The service account of the pod; 403 if it does not exist.
fn account(attributes: &Attributes<'_>, pod: &Value) -> ApiResult<Arc<Value>> {
    let (namespace, name) = (attributes.namespace, text(pod, "/spec/serviceAccountName"));
    if name.is_empty() {
        let pod_name = meta::name(pod);
        let why = format!("no service account specified for pod {namespace}/{pod_name}");
        return Err(attributes.forbidden(pod, why));
    }
    find(attributes, name).ok_or_else(|| {
        let why =
            format!("error looking up service account {namespace}/{name}: serviceaccount {} not found", quote(name));
        attributes.forbidden(pod, why)
    })
}

/// A service account in the replica's view or else in the store.
fn find(attributes: &Attributes<'_>, name: &str) -> Option<Arc<Value>> {
    let live = || attributes.objects.object("serviceaccounts", attributes.namespace, name);
    attributes.seen(ids::SERVICE_ACCOUNTS, name).or_else(live)
}

/// `shouldAutomount`: the pod's field, else the account's, else yes.
fn automount(account: &Value, pod: &Value) -> bool {
    let wishes = [&pod["spec"]["automountServiceAccountToken"], &account["automountServiceAccountToken"]];
    wishes.into_iter().find_map(Value::as_bool).unwrap_or(true)
}

/// Refuses mirror pods with a service account, secrets or tokens, because static pods have no credentials.
fn mirror(pod: &Value) -> Result<(), &'static str> {
    if !text(pod, "/spec/serviceAccountName").is_empty() {
        return Err("a mirror pod may not reference service accounts");
    }
    if references::secrets(pod).next().is_some() {
        return Err("a mirror pod may not reference secrets");
    }
    let mut sources = items(pod, "/spec/volumes").iter().flat_map(|volume| items(volume, "/projected/sources"));
    match sources.any(|source| source.get("serviceAccountToken").is_some()) {
        true => Err("a mirror pod may not use ServiceAccountToken volume projections"),
        false => Ok(()),
    }
}
