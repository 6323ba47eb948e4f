//! The plugin `ServiceAccount`: every pod acts as a service account, and is given its token.
//!
//! Ports `plugin/pkg/admission/serviceaccount/admission.go` (v1.37.1). Where that asks for the account `default` ten
//! times, sleeping in between, the refusal here says what it was for want of, and whoever serves the request waits.

mod mount;
mod policy;

use super::{Attributes, Operation, Plugin, Refusal};
use crate::auth::Objects;
use crate::error::ApiError;
use crate::object::meta;
use crate::registry::{ids, is_mirror_pod, items, references, text};
use crate::schema::quote;
use crate::store::Key;
pub(crate) use mount::Tokens;
use serde_json::{Value, json};
use std::sync::Arc;

/// `DefaultServiceAccountName`.
const DEFAULT: &str = "default";

pub(super) struct ServiceAccounts {
    /// Where pods get their tokens from.
    pub(super) tokens: Tokens,
}

impl Plugin for ServiceAccounts {
    fn admit(&self, attributes: &Attributes<'_>, pod: &mut Value) -> Result<(), Refusal> {
        if attributes.operation != Operation::Create || !attributes.is_about("pods", "") {
            return Ok(());
        }
        if !is_mirror_pod(pod) {
            self.mutate(attributes, pod)?;
        }
        self.validate(attributes, pod)
    }

    fn validate(&self, attributes: &Attributes<'_>, pod: &Value) -> Result<(), Refusal> {
        match attributes.operation {
            Operation::Create if attributes.is_about("pods", "") && is_mirror_pod(pod) => {
                mirror(pod).map_err(|why| attributes.forbidden(pod, why).into())
            }
            Operation::Create if attributes.is_about("pods", "") => {
                let account = account(attributes, pod)?;
                Ok(policy::limit(&account, pod).map_err(|why| attributes.forbidden(pod, why))?)
            }
            Operation::Update if attributes.is_about("pods", "ephemeralcontainers") => {
                let account = account(attributes, pod)?;
                // Upstream forgets to give this error a type.
                Ok(policy::limit_ephemeral(&account, pod).map_err(ApiError::untyped)?)
            }
            _ => Ok(()),
        }
    }
}

impl ServiceAccounts {
    fn mutate(&self, attributes: &Attributes<'_>, pod: &mut Value) -> Result<(), Refusal> {
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

/// What the pod acts as, in the eyes of the replica and, if it knows of none, in truth. 403 without; the account
/// `default` may be about to be made.
fn account(attributes: &Attributes<'_>, pod: &Value) -> Result<Arc<Value>, Refusal> {
    let (namespace, name) = (attributes.namespace, text(pod, "/spec/serviceAccountName"));
    if name.is_empty() {
        let pod_name = meta::name(pod);
        let why = format!("no service account specified for pod {namespace}/{pod_name}");
        return Err(attributes.forbidden(pod, why).into());
    }
    let live = || attributes.cluster.object("serviceaccounts", namespace, name);
    attributes.seen("serviceaccounts", name).or_else(live).ok_or_else(|| {
        let why =
            format!("error looking up service account {namespace}/{name}: serviceaccount {} not found", quote(name));
        Refusal {
            error: attributes.forbidden(pod, why),
            awaited: (name == DEFAULT).then(|| Key::new(ids::SERVICE_ACCOUNTS, namespace, name)),
        }
    })
}

/// `shouldAutomount`: the pod's wish, else the account's, else yes.
fn automount(account: &Value, pod: &Value) -> bool {
    let wishes = [&pod["spec"]["automountServiceAccountToken"], &account["automountServiceAccountToken"]];
    wishes.into_iter().find_map(Value::as_bool).unwrap_or(true)
}

/// What a kubelet runs of its own accord it runs without any credentials, and so must its mirror be.
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
