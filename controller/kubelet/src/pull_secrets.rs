//! Credentials for registries, from the `imagePullSecrets` of a pod.
//!
//! Follows kubernetes v1.37.1 `getPullSecretsForPod` of `pkg/kubelet/kubelet_pods.go`,
//! `pkg/credentialprovider/secrets/secrets.go` and `pkg/credentialprovider/config.go`, without the matching of images to
//! credentials.

use crate::objects::ObjectManager;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::ResourceExt;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use tracing::warn;

/// A type of secrets that hold credentials, and the key of their data.
const DOCKER_CONFIG_JSON: (&str, &str) = ("kubernetes.io/dockerconfigjson", ".dockerconfigjson");
const DOCKER_CONFIG: (&str, &str) = ("kubernetes.io/dockercfg", ".dockercfg");

/// The pull secrets of `pod` that could be read, and the names of those that could not. A missing secret does not block
/// the pod, as it may not be needed.
pub async fn of_pod(pod: &Pod, secrets: &dyn ObjectManager<Secret>) -> (Vec<Arc<Secret>>, Vec<String>) {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    let namespace = pod.namespace().unwrap_or_default();
    let references = pod.spec.iter().flat_map(|spec| spec.image_pull_secrets.iter().flatten());
    // Validation lets empty names through.
    for name in references.map(|reference| &reference.name).filter(|name| !name.is_empty()) {
        match secrets.get(&namespace, name).await {
            Ok(secret) => found.push(secret),
            Err(error) => {
                let pod = pod.name_any();
                warn!(namespace, pod, secret = name, %error, "Unable to retrieve pull secret, the image pull may not succeed.");
                missing.push(name.clone());
            }
        }
    }
    (found, missing)
}

/// The credentials of a user of a registry.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The user's name.
    pub username: String,
    /// The user's password.
    pub password: String,
    /// The user's email address, which is not used.
    pub email: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("username", &self.username).finish_non_exhaustive()
    }
}

/// An error of decoding credentials, for which a pull fails.
#[derive(Debug, thiserror::Error)]
pub enum MalformedSecret {
    /// The JSON is malformed.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// `auth` is not base64.
    #[error(transparent)]
    Base64(#[from] base64::DecodeError),
    /// `auth` is not of the form `username:password`.
    #[error("unable to parse auth field, must be formatted as base64(username:password)")]
    Auth,
}

/// The credentials in `secrets` by registry, in the order of the secrets. Secrets of other types and empty data are
/// ignored.
///
/// # Errors
/// If one of them is malformed.
pub fn credentials<'a>(
    secrets: impl IntoIterator<Item = &'a Secret>,
) -> Result<Vec<(String, Credentials)>, MalformedSecret> {
    let mut all = Vec::new();
    for secret in secrets {
        let data_of = |(type_, key)| {
            let data = secret.data.as_ref().filter(|_| secret.type_.as_deref() == Some(type_))?;
            data.get(key).map(|data| data.0.as_slice()).filter(|data| !data.is_empty())
        };
        let entries = if let Some(data) = data_of(DOCKER_CONFIG_JSON) {
            serde_json::from_slice::<Option<ConfigJson>>(data)?.and_then(|config| config.auths)
        } else if let Some(data) = data_of(DOCKER_CONFIG) {
            serde_json::from_slice(data)?
        } else {
            continue;
        };
        for (registry, entry) in entries.unwrap_or_default() {
            all.push((registry, entry.unwrap_or_default().credentials()?));
        }
    }
    Ok(all)
}

type Entries = BTreeMap<String, Option<Entry>>;

#[derive(Deserialize)]
struct ConfigJson {
    auths: Option<Entries>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Entry {
    username: Option<String>,
    password: Option<String>,
    email: Option<String>,
    auth: Option<String>,
}

impl Entry {
    /// The credentials of `auth`, or without it those of `username` and `password`.
    fn credentials(self) -> Result<Credentials, MalformedSecret> {
        let email = self.email.unwrap_or_default();
        let Some(auth) = self.auth.filter(|auth| !auth.is_empty()) else {
            let (username, password) = (self.username.unwrap_or_default(), self.password.unwrap_or_default());
            return Ok(Credentials { username, password, email });
        };
        // Go's decoder skips line ends.
        let encoded: String = auth.chars().filter(|character| !matches!(character, '\r' | '\n')).collect();
        let padded = auth.trim().ends_with('=');
        let decoded = if padded { STANDARD.decode(encoded)? } else { STANDARD_NO_PAD.decode(encoded)? };
        let decoded = String::from_utf8(decoded).map_err(|_| MalformedSecret::Auth)?;
        let (username, password) = decoded.split_once(':').ok_or(MalformedSecret::Auth)?;
        Ok(Credentials { username: username.to_owned(), password: password.to_owned(), email })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn secret(type_: &str, key: &str, content: &str) -> Secret {
        let data = json!({key: STANDARD.encode(content)});
        serde_json::from_value(json!({"type": type_, "data": data})).expect("a secret")
    }

    fn read(secrets: &[Secret]) -> Result<Vec<String>, String> {
        let all = credentials(secrets).map_err(|error| error.to_string())?;
        Ok(all.iter().map(|(registry, user)| format!("{registry} {}:{}", user.username, user.password)).collect())
    }

    // Test_MakeDockerKeyring, TestDockerConfigEntryJSONDecode, TestDecodeDockerConfigFieldAuth.
    #[test]
    fn credentials_are_read_in_both_forms() {
        let (json, old) = (DOCKER_CONFIG_JSON, DOCKER_CONFIG);
        let auth = r#"{"r.io": {"auth": "dXNlcjpwYXNzd29yZA=="}}"#;
        let in_auths = |auths: &str| format!(r#"{{"auths": {auths}}}"#);
        for ((type_, key), content, expected) in [
            (json, in_auths(auth), &["r.io user:password"][..]),
            (old, auth.to_owned(), &["r.io user:password"]),
            (old, auth.replace("==", ""), &["r.io user:password"]),
            (old, auth.replace("==", "==\\n"), &["r.io user:password"]),
            (json, in_auths(r#"{"r.io": {"username": "u", "password": "p"}}"#), &["r.io u:p"]),
            (old, r#"{"r.io": {"username": "u", "password": "p", "email": "e"}}"#.into(), &["r.io u:p"]),
            (old, r#"{"r.io": {"username": "u", "auth": "Zm9vOmI6YXI"}}"#.into(), &["r.io foo:b:ar"]),
            (old, r#"{"b.io": {}, "a.io": null}"#.into(), &["a.io :", "b.io :"]),
            ((json.0, old.1), auth.to_owned(), &[]),
            ((old.0, json.1), in_auths(auth), &[]),
            (("Opaque", json.1), in_auths(auth), &[]),
            (json, String::new(), &[]),
            (json, "{}".into(), &[]),
            (json, "null".into(), &[]),
        ] {
            assert_eq!(
                read(&[secret(type_, key, &content)]),
                Ok(expected.iter().map(|text| text.to_string()).collect()),
                "{content}"
            );
        }
        let two = [secret(old.0, old.1, auth), secret(json.0, json.1, &in_auths(r#"{"a.io": {"auth": "YTpi"}}"#))];
        assert_eq!(read(&two), Ok(vec!["r.io user:password".to_owned(), "a.io a:b".to_owned()]));
    }

    #[test]
    fn what_is_malformed_is_an_error() {
        for (content, expected) in [
            ("{", "EOF while parsing"),
            (r#"{"r.io": 5}"#, "invalid type: integer"),
            (
                r#"{"r.io": {"auth": "dXNlcg=="}}"#,
                "unable to parse auth field, must be formatted as base64(username:password)",
            ),
            (r#"{"r.io": {"auth": "?"}}"#, "Invalid"),
        ] {
            let error = read(&[secret(DOCKER_CONFIG.0, DOCKER_CONFIG.1, content)]).expect_err(content);
            assert!(error.starts_with(expected), "{content}: {error}");
        }
    }
}
