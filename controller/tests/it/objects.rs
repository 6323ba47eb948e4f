//! The service account and the secrets of the tests.

use controller::controllers::tokens::{SERVICE_ACCOUNT_NAME_KEY, SERVICE_ACCOUNT_TOKEN, SERVICE_ACCOUNT_UID_KEY};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use serde_json::{from_value, json};

/// The namespace of all objects.
pub(crate) const NAMESPACE: &str = "default";
/// The name of the service account.
pub(crate) const ACCOUNT: &str = "builder";
/// The uid of a service account that exists only in the cache.
pub(crate) const CACHED_ACCOUNT_UID: &str = "12345";
/// The uid of a secret that exists only in the cache.
pub(crate) const CACHED_SECRET_UID: &str = "23456";
/// The name of the token secret that exists from the start.
pub(crate) const TOKEN_SECRET: &str = "token-secret-1";
/// The token that the tests' generator makes.
pub(crate) const TOKEN: &str = "ABC";
/// The root CA of the controller.
pub(crate) const ROOT_CA: &str = "CA Data";

/// The data of a token secret; `None` is left out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TokenData {
    pub(crate) token: Option<&'static str>,
    pub(crate) root_ca: Option<&'static str>,
    pub(crate) namespace: Option<&'static str>,
}

/// The data of a complete token secret.
pub(crate) const COMPLETE: TokenData =
    TokenData { token: Some(TOKEN), root_ca: Some(ROOT_CA), namespace: Some(NAMESPACE) };

/// The service account with these references, at a revision that only the cache has.
pub(crate) fn account(references: &[&str]) -> ServiceAccount {
    let references: Vec<_> = references.iter().map(|name| json!({ "name": name })).collect();
    let metadata = json!({"namespace": NAMESPACE, "name": ACCOUNT, "uid": CACHED_ACCOUNT_UID, "resourceVersion": "1"});
    from_value(json!({"metadata": metadata, "secrets": references})).expect("a service account")
}

/// The token secret of the service account with that uid, at a revision that only the cache has.
pub(crate) fn token_secret(data: TokenData, account_uid: &str) -> Secret {
    let annotations = json!({SERVICE_ACCOUNT_NAME_KEY: ACCOUNT, SERVICE_ACCOUNT_UID_KEY: account_uid});
    let metadata = json!({
        "namespace": NAMESPACE, "name": TOKEN_SECRET, "uid": CACHED_SECRET_UID, "resourceVersion": "1",
        "annotations": annotations,
    });
    let mut secret: Secret =
        from_value(json!({"metadata": metadata, "type": SERVICE_ACCOUNT_TOKEN})).expect("a secret");
    let data = [("token", data.token), ("ca.crt", data.root_ca), ("namespace", data.namespace)];
    let data = data.into_iter().filter_map(|(key, value)| Some((key.to_owned(), ByteString(value?.into()))));
    secret.data = Some(data.collect());
    secret
}

/// A secret without a token.
pub(crate) fn opaque_secret() -> Secret {
    let metadata = json!({"namespace": NAMESPACE, "name": "regular-secret-1"});
    from_value(json!({"metadata": metadata, "type": "Opaque"})).expect("a secret")
}
