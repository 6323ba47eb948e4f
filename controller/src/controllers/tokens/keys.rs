//! The keys of the two queues.
//!
//! Both contain the uid: an object that is deleted and created again under the same name has another key.

use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use kube::ResourceExt;
use std::fmt::{self, Display};

/// Annotation of a token secret: the name of its service account (`v1.ServiceAccountNameKey`).
pub const SERVICE_ACCOUNT_NAME_KEY: &str = "kubernetes.io/service-account.name";
/// Annotation of a token secret: the uid of its service account (`v1.ServiceAccountUIDKey`).
pub const SERVICE_ACCOUNT_UID_KEY: &str = "kubernetes.io/service-account.uid";

/// The key of a service account: finds it in the cache, or its secrets once it is deleted (`serviceAccountQueueKey`).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ServiceAccountKey {
    /// Namespace of the service account.
    pub namespace: String,
    /// Name of the service account.
    pub name: String,
    /// Uid of the service account.
    pub uid: String,
}

impl ServiceAccountKey {
    /// The key of `account`.
    pub fn of(account: &ServiceAccount) -> Self {
        ServiceAccountKey {
            namespace: account.namespace().unwrap_or_default(),
            name: account.name_any(),
            uid: account.uid().unwrap_or_default(),
        }
    }

    /// Whether no part is empty (`parseServiceAccountKey`).
    pub fn is_valid(&self) -> bool {
        ![&self.namespace, &self.name, &self.uid].into_iter().any(String::is_empty)
    }
}

impl Display for ServiceAccountKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "serviceaccount {}/{}", self.namespace, self.name)
    }
}

/// The key of a token secret: finds it and its service account in the cache, or the references to it once it is deleted
/// (`secretQueueKey`).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SecretKey {
    /// Namespace of the secret.
    pub namespace: String,
    /// Name of the secret.
    pub name: String,
    /// Uid of the secret.
    pub uid: String,
    /// The name of its service account.
    pub account_name: String,
    /// The uid of its service account, empty if the secret has none.
    pub account_uid: String,
}

impl SecretKey {
    /// The key of `secret`.
    pub fn of(secret: &Secret) -> Self {
        SecretKey {
            namespace: secret.namespace().unwrap_or_default(),
            name: secret.name_any(),
            uid: secret.uid().unwrap_or_default(),
            account_name: annotation(secret, SERVICE_ACCOUNT_NAME_KEY).to_owned(),
            account_uid: annotation(secret, SERVICE_ACCOUNT_UID_KEY).to_owned(),
        }
    }

    /// Whether no part but the uid of the service account is empty (`parseSecretQueueKey`).
    pub fn is_valid(&self) -> bool {
        ![&self.namespace, &self.name, &self.uid, &self.account_name].into_iter().any(String::is_empty)
    }
}

impl Display for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "secret {}/{}", self.namespace, self.name)
    }
}

/// The value of an annotation, empty if it is absent.
pub(crate) fn annotation<'a>(secret: &'a Secret, key: &str) -> &'a str {
    secret.annotations().get(key).map(String::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, from_value, json};

    fn account(metadata: Value) -> ServiceAccountKey {
        ServiceAccountKey::of(&from_value(json!({ "metadata": metadata })).expect("a service account"))
    }

    fn secret(metadata: Value) -> SecretKey {
        SecretKey::of(&from_value(json!({ "metadata": metadata })).expect("a secret"))
    }

    #[test]
    fn a_service_account_key_needs_all_its_parts() {
        for (metadata, valid) in [
            (json!({"namespace": "ns", "name": "a", "uid": "1"}), true),
            (json!({"name": "a", "uid": "1"}), false),
            (json!({"namespace": "ns", "uid": "1"}), false),
            (json!({"namespace": "ns", "name": "a"}), false),
        ] {
            assert_eq!(account(metadata.clone()).is_valid(), valid, "{metadata}");
        }
    }

    #[test]
    fn a_secret_key_can_do_without_the_uid_of_the_account() {
        let name = SERVICE_ACCOUNT_NAME_KEY;
        for (metadata, valid) in [
            (
                json!({"namespace": "ns", "name": "s", "uid": "1", "annotations": {name: "a", SERVICE_ACCOUNT_UID_KEY: "2"}}),
                true,
            ),
            (json!({"namespace": "ns", "name": "s", "uid": "1", "annotations": {name: "a"}}), true),
            (json!({"namespace": "ns", "name": "s", "uid": "1", "annotations": {name: ""}}), false),
            (json!({"namespace": "ns", "name": "s", "uid": "1"}), false),
            (json!({"namespace": "ns", "name": "s", "annotations": {name: "a"}}), false),
            (json!({"namespace": "ns", "uid": "1", "annotations": {name: "a"}}), false),
            (json!({"name": "s", "uid": "1", "annotations": {name: "a"}}), false),
        ] {
            assert_eq!(secret(metadata.clone()).is_valid(), valid, "{metadata}");
        }
    }

    #[test]
    fn objects_recreated_under_the_same_name_have_other_keys() {
        let of = |uid| account(json!({"namespace": "ns", "name": "a", "uid": uid}));
        assert_ne!(of("1"), of("2"));
        let of = |uid| secret(json!({"namespace": "ns", "name": "a", "uid": uid}));
        assert_ne!(of("1"), of("2"));
    }
}
