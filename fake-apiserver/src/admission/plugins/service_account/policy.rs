//! The limit of a pod's references to the secrets of its account.
//!
//! Ports `limitSecretReferences` and `limitEphemeralContainerSecretReferences` (v1.37.1).

use crate::object::meta;
use crate::registry::{items, text};
use std::collections::HashSet;
use tree::Value;

/// `EnforceMountableSecretsAnnotation`.
const ENFORCE: &str = "kubernetes.io/enforce-mountable-secrets";

/// The secrets that a pod may mention.
struct Allowed<'a> {
    account: &'a str,
    secrets: HashSet<&'a str>,
}

impl<'a> Allowed<'a> {
    /// The names in a list of the account, if it limits its pods to these.
    fn by(account: &'a Value, list: &str) -> Option<Allowed<'a>> {
        let secrets = || items(account, list).iter().map(|reference| text(reference, "/name")).collect();
        enforced(account).then(|| Allowed { account: meta::name(account), secrets: secrets() })
    }

    fn check(&self, secret: &str, what: impl FnOnce() -> String) -> Result<(), String> {
        if self.secrets.contains(secret) {
            return Ok(());
        }
        let (what, account) = (what(), self.account);
        Err(format!(
            "{what} secret.secretName=\"{secret}\" is not allowed because service account {account} \
             does not reference that secret"
        ))
    }

    fn environment(&self, container: &Value, what: &str) -> Result<(), String> {
        let name = text(container, "/name");
        for variable in items(container, "/env") {
            if let Some(secret) = variable.pointer("/valueFrom/secretKeyRef") {
                let variable = text(variable, "/name");
                self.check(text(secret, "/name"), || format!("{what} {name} with envVar {variable} referencing"))?;
            }
        }
        for secret in items(container, "/envFrom").iter().filter_map(|source| source.get("secretRef")) {
            self.check(text(secret, "/name"), || format!("{what} {name} with envFrom referencing"))?;
        }
        Ok(())
    }
}

/// Refuses a new pod that refers to other secrets, if the account enforces the limit.
pub(super) fn limit(account: &Value, pod: &Value) -> Result<(), String> {
    let Some(allowed) = Allowed::by(account, "/secrets") else { return Ok(()) };
    for volume in items(pod, "/spec/volumes").iter().filter(|volume| volume.get("secret").is_some()) {
        allowed.check(text(volume, "/secret/secretName"), || "volume with".into())?;
    }
    for container in items(pod, "/spec/initContainers") {
        allowed.environment(container, "init container")?;
    }
    for container in items(pod, "/spec/containers") {
        allowed.environment(container, "container")?;
    }
    let Some(allowed) = Allowed::by(account, "/imagePullSecrets") else { return Ok(()) };
    for (index, secret) in items(pod, "/spec/imagePullSecrets").iter().enumerate() {
        let (secret, account) = (text(secret, "/name"), allowed.account);
        if !allowed.secrets.contains(secret) {
            return Err(format!(
                "imagePullSecrets[{index}].name=\"{secret}\" is not allowed because service account {account} \
                 does not reference that imagePullSecret"
            ));
        }
    }
    Ok(())
}

/// The same for ephemeral containers.
pub(super) fn limit_ephemeral(account: &Value, pod: &Value) -> Result<(), String> {
    let Some(allowed) = Allowed::by(account, "/secrets") else { return Ok(()) };
    let mut containers = items(pod, "/spec/ephemeralContainers").iter();
    containers.try_for_each(|container| allowed.environment(container, "ephemeral container"))
}

/// Whether `strconv.ParseBool` reads the annotation as true.
fn enforced(account: &Value) -> bool {
    let value = meta::annotations(account).get(ENFORCE).unwrap_or_default();
    matches!(value, "1" | "t" | "T" | "true" | "TRUE" | "True")
}
