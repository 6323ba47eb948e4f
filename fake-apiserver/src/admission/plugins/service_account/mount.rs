//! The volume with a pod's token, and its mounts in the containers.
//!
//! Ports `mountServiceAccountToken` (v1.37.1), and for tokens in secrets its form of v1.20.

use crate::admission::{Attributes, Tokens};
use crate::error::{ApiError, ApiResult, Qualified};
use crate::object::meta;
use crate::registry::{child, ids, items, text};
use tree::{Value, json};

/// `ServiceAccountVolumeName`, with the dash before the random suffix.
const VOLUME_PREFIX: &str = "kube-api-access-";
/// `DefaultAPITokenMountPath`.
const MOUNT_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// `WarnOnlyBoundTokenExpirationSeconds`.
const EXPIRATION_SECONDS: i64 = crate::auth::WARN_ONLY_BOUND_TOKEN_EXPIRATION_SECONDS;
const SERVICE_ACCOUNTS: Qualified<'static> = Qualified { group: "", resource: "serviceaccounts" };

impl Tokens {
    /// Mounts a token of the account in each container of the pod.
    pub(super) fn mount(self, attributes: &Attributes<'_>, account: &Value, pod: &mut Value) -> ApiResult<()> {
        let ids = attributes.server.ids;
        match self {
            Tokens::Bound => {
                let ours = |volume: &&Value| text(volume, "/name").starts_with(VOLUME_PREFIX);
                let existing = items(pod, "/spec/volumes").iter().find(ours).map(name);
                add(pod, existing, |_| ids.name(VOLUME_PREFIX), "projected", projected());
            }
            Tokens::InSecrets => {
                let secret = token_secret(attributes, account).ok_or_else(|| missing(meta::name(account)))?;
                let ours = |volume: &&Value| text(volume, "/secret/secretName") == secret;
                let existing = items(pod, "/spec/volumes").iter().find(ours).map(name);
                let new_name = |volumes: &[Value]| {
                    // A volume's name must not contain dots.
                    let own = secret.replace('.', "-");
                    let taken = volumes.iter().any(|volume| text(volume, "/name") == own);
                    if taken { ids.name(&format!("{own}-")) } else { own }
                };
                add(pod, existing, new_name, "secret", json!({ "secretName": secret, "defaultMode": 0o644 }));
            }
        }
        Ok(())
    }
}

fn name(volume: &Value) -> String {
    text(volume, "/name").to_string()
}

/// Mounts the volume in all containers without a mount at that path, and adds it to the pod if one of them needs it.
fn add(
    pod: &mut Value,
    existing: Option<String>,
    new_name: impl FnOnce(&[Value]) -> String,
    source: &str,
    content: Value,
) {
    let is_new = existing.is_none();
    let name = existing.unwrap_or_else(|| new_name(items(pod, "/spec/volumes")));
    let spec = child(pod, "spec");
    let mut needed = false;
    for list in ["initContainers", "containers"] {
        for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            if items(container, "/volumeMounts").iter().all(|mount| text(mount, "/mountPath") != MOUNT_PATH) {
                push(container, "volumeMounts", json!({ "name": name, "readOnly": true, "mountPath": MOUNT_PATH }));
                needed = true;
            }
        }
    }
    if is_new && needed {
        push(spec, "volumes", json!({ "name": name, source: content }));
    }
}

fn push(object: &mut Value, list: &str, item: Value) {
    match child(object, list) {
        Value::Array(items) => items.push(item),
        other => *other = json!([item]),
    }
}

/// `TokenVolumeSource`.
fn projected() -> Value {
    json!({ "defaultMode": 0o644, "sources": [
        { "serviceAccountToken": { "path": "token", "expirationSeconds": EXPIRATION_SECONDS } },
        { "configMap": { "name": "kube-root-ca.crt", "items": [{ "key": "ca.crt", "path": "ca.crt" }] } },
        { "downwardAPI": { "items": [
            { "path": "namespace", "fieldRef": { "apiVersion": "v1", "fieldPath": "metadata.namespace" } },
        ] } },
    ] })
}

/// `getReferencedServiceAccountToken`: the first of the account's secrets that holds a token of it. Unlike for the account,
/// only the replica's view counts.
fn token_secret(attributes: &Attributes<'_>, account: &Value) -> Option<String> {
    let names = items(account, "/secrets").iter().map(|reference| text(reference, "/name"));
    names
        .map(str::to_string)
        .find(|name| attributes.seen(ids::SECRETS, name).is_some_and(|secret| is_token_of(&secret, account)))
}

/// `IsServiceAccountToken`.
fn is_token_of(secret: &Value, account: &Value) -> bool {
    let annotation = |key| meta::annotations(secret).get(key).unwrap_or_default();
    let uid = annotation("kubernetes.io/service-account.uid");
    text(secret, "/type") == "kubernetes.io/service-account-token"
        && annotation("kubernetes.io/service-account.name") == meta::name(account)
        && (uid.is_empty() || uid == meta::uid(account))
}

/// 500 with a hint to retry: the tokens controller may be about to create the token.
fn missing(account: &str) -> ApiError {
    ApiError::server_timeout(SERVICE_ACCOUNTS, "create pod", 1).with_message(|_| {
        format!(
            "No API token found for service account {account:?}, \
             retry after the token is automatically created and added to the service account"
        )
    })
}
