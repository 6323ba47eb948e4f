//! Which secrets a pod may mention, where its account limits that.
//!
//! Ports `limitSecretReferences` and `limitEphemeralContainerSecretReferences` (v1.37.1).

use crate::object::meta;
use crate::registry::{items, text};
use serde_json::Value;

/// `EnforceMountableSecretsAnnotation`.
const ENFORCE: &str = "kubernetes.io/enforce-mountable-secrets";

/// A new pod may refer to its account's secrets only, if the account says so.
pub(super) fn limit(account: &Value, pod: &Value) -> Result<(), String> {
    if !enforced(account) {
        return Ok(());
    }
    for volume in items(pod, "/spec/volumes").iter().filter(|volume| volume.get("secret").is_some()) {
        check(account, text(volume, "/secret/secretName"), || "volume with".into())?;
    }
    for container in items(pod, "/spec/initContainers") {
        environment(account, container, "init container")?;
    }
    for container in items(pod, "/spec/containers") {
        environment(account, container, "container")?;
    }
    for (index, secret) in items(pod, "/spec/imagePullSecrets").iter().enumerate() {
        let secret = text(secret, "/name");
        if !refers_to(account, "/imagePullSecrets", secret) {
            let account = meta::name(account);
            return Err(format!(
                "imagePullSecrets[{index}].name=\"{secret}\" is not allowed because service account {account} \
                 does not reference that imagePullSecret"
            ));
        }
    }
    Ok(())
}

/// Containers that join a pod later may do so no more than others.
pub(super) fn limit_ephemeral(account: &Value, pod: &Value) -> Result<(), String> {
    let mut containers = items(pod, "/spec/ephemeralContainers").iter().filter(|_| enforced(account));
    containers.try_for_each(|container| environment(account, container, "ephemeral container"))
}

/// Whether the annotation is true in the eyes of `strconv.ParseBool`.
fn enforced(account: &Value) -> bool {
    let value = meta::annotations(account).get(ENFORCE).unwrap_or_default();
    matches!(value, "1" | "t" | "T" | "true" | "TRUE" | "True")
}

fn environment(account: &Value, container: &Value, what: &str) -> Result<(), String> {
    let name = text(container, "/name");
    for variable in items(container, "/env") {
        if let Some(secret) = variable.pointer("/valueFrom/secretKeyRef") {
            let variable = text(variable, "/name");
            check(account, text(secret, "/name"), || format!("{what} {name} with envVar {variable} referencing"))?;
        }
    }
    for secret in items(container, "/envFrom").iter().filter_map(|source| source.get("secretRef")) {
        check(account, text(secret, "/name"), || format!("{what} {name} with envFrom referencing"))?;
    }
    Ok(())
}

fn check(account: &Value, secret: &str, what: impl FnOnce() -> String) -> Result<(), String> {
    if refers_to(account, "/secrets", secret) {
        return Ok(());
    }
    let (what, account) = (what(), meta::name(account));
    Err(format!(
        "{what} secret.secretName=\"{secret}\" is not allowed because service account {account} \
         does not reference that secret"
    ))
}

fn refers_to(account: &Value, list: &str, secret: &str) -> bool {
    items(account, list).iter().any(|reference| text(reference, "/name") == secret)
}
