//! The plugin `ServiceAccount`: every pod has a service account, and gets a token of it mounted.
//!
//! Ports `plugin/pkg/admission/serviceaccount/admission.go` (v1.37.1). Where that asks for the account `default` ten
//! times with pauses, the plugin here waits until it is created.

mod mount;
mod policy;

use crate::admission::{Attributes, Operation, Plugin, Tokens, Verdict};
use crate::auth::Notes;
use crate::clock::later;
use crate::error::{ApiError, ApiResult};
use crate::object::meta;
use crate::registry::{ids, is_mirror_pod, items, references, text};
use crate::schema::quote;
use crate::store::{Key, Scope, Store};
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use tree::{Value, json};

/// `DefaultServiceAccountName`.
const DEFAULT: &str = "default";

pub(super) struct ServiceAccounts {
    /// The kind of tokens to mount.
    pub(super) tokens: Tokens,
}

impl Plugin for ServiceAccounts {
    fn mutate<'a>(&'a self, write: &'a Attributes<'a>, pod: &'a mut Value, _: &'a mut Notes) -> Verdict<'a> {
        let Some(key) = awaited(write, pod) else { return Verdict::Now(self.admit(write, pod)) };
        Verdict::Later(Box::pin(async move {
            let deadline = later(Instant::now(), creation_timeout());
            let creation = timeout_at(deadline, wait_until_exists(write.server.store, &key));
            // The account is looked for whether it was created in time or not.
            write.server.shutdown.run_until_cancelled(creation).await;
            write.deadline.check()?;
            self.admit(write, pod)
        }))
    }

    fn validate<'a>(&'a self, write: &'a Attributes<'a>, pod: &'a Value, _: &'a mut Notes) -> Verdict<'a> {
        Verdict::Now(check(write, pod))
    }
}

/// The account `default`, if the plugin is about to ask for it, and it may be about to be created.
fn awaited(write: &Attributes<'_>, pod: &Value) -> Option<Key> {
    let concerned = match write.operation {
        Operation::Create => write.is_about("pods", "") && !is_mirror_pod(pod),
        Operation::Update => write.is_about("pods", "ephemeralcontainers"),
        Operation::Delete | Operation::Connect => false,
    };
    let named = matches!(text(pod, "/spec/serviceAccountName"), "" | DEFAULT);
    if !concerned || !named || find(write, DEFAULT).is_some() {
        return None;
    }
    Some(Key::new(ids::SERVICE_ACCOUNTS, write.namespace, DEFAULT))
}

/// Time to wait for an object that may be about to be created: the sum of the pauses in `getServiceAccount`'s 10 attempts.
fn creation_timeout() -> Duration {
    9 * Duration::from_millis(fastrand::u64(100..200))
}

/// Waits until an object with that key exists.
async fn wait_until_exists(store: &Store, key: &Key) {
    let scope =
        Scope { resource: key.resource, namespace: Some(key.namespace().into()), name: Some(key.name().into()) };
    let (snapshot, mut events) = store.subscribe(scope, None);
    if snapshot.get(key).is_none() {
        // The first event can only be its creation; if that event has expired already, it was created as well.
        poll_fn(|context| events.poll_next(context)).await;
    }
}

fn check(attributes: &Attributes<'_>, pod: &Value) -> ApiResult<()> {
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

impl ServiceAccounts {
    fn admit(&self, attributes: &Attributes<'_>, pod: &mut Value) -> ApiResult<()> {
        if attributes.operation != Operation::Create || !attributes.is_about("pods", "") {
            return Ok(());
        }
        if !is_mirror_pod(pod) {
            self.complete(attributes, pod)?;
        }
        check(attributes, pod)
    }

    /// Gives the pod an account, a token of it, and the account's pull secrets.
    fn complete(&self, attributes: &Attributes<'_>, pod: &mut Value) -> ApiResult<()> {
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
    let live = || attributes.server.objects.object("serviceaccounts", attributes.namespace, name);
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
