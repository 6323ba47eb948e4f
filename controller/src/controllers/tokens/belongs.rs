//! The relation of secrets and service accounts: tokens of an account, and references of an account. Pure functions.
//!
//! Follows apiserver v0.24.17 `pkg/authentication/serviceaccount/util.go` (`IsServiceAccountToken`).

use super::keys::{SERVICE_ACCOUNT_NAME_KEY, SERVICE_ACCOUNT_UID_KEY, annotation};
use k8s_openapi::api::core::v1::{ObjectReference, Secret, ServiceAccount};

/// The type of a secret that holds a token (`v1.SecretTypeServiceAccountToken`).
pub const SERVICE_ACCOUNT_TOKEN: &str = "kubernetes.io/service-account-token";

/// Whether the secret is a token secret, of whatever service account.
pub(crate) fn is_token(secret: &Secret) -> bool {
    secret.type_.as_deref() == Some(SERVICE_ACCOUNT_TOKEN)
}

/// Whether the secret is a token secret of the service account of that name and uid, filled or not. Without a uid
/// annotation it is of any service account of that name.
pub(super) fn is_token_of(secret: &Secret, account_name: &str, account_uid: &str) -> bool {
    let uid = annotation(secret, SERVICE_ACCOUNT_UID_KEY);
    is_token(secret)
        && annotation(secret, SERVICE_ACCOUNT_NAME_KEY) == account_name
        && (uid.is_empty() || uid == account_uid)
}

/// Whether the service account refers to a secret of that name, which need not exist.
pub(crate) fn refers_to(account: &ServiceAccount, secret_name: &str) -> bool {
    account.secrets.iter().flatten().any(|reference| name_of(reference) == secret_name)
}

/// Adds a reference to the secret of that name.
pub(super) fn add_reference(account: &mut ServiceAccount, secret_name: &str) {
    let reference = ObjectReference { name: Some(secret_name.to_owned()), ..ObjectReference::default() };
    account.secrets.get_or_insert_default().push(reference);
}

/// Removes all references to the secret of that name. An empty list becomes absent, as Go leaves it out.
pub(super) fn remove_references(account: &mut ServiceAccount, secret_name: &str) {
    let references = account.secrets.get_or_insert_default();
    references.retain(|reference| name_of(reference) != secret_name);
    account.secrets.take_if(|references| references.is_empty());
}

fn name_of(reference: &ObjectReference) -> &str {
    reference.name.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, from_value, json};

    fn account(references: Value) -> ServiceAccount {
        from_value(json!({ "secrets": references })).expect("a service account")
    }

    #[test]
    fn a_token_belongs_by_type_name_and_uid_if_it_has_one() {
        let (token, name, uid) = (SERVICE_ACCOUNT_TOKEN, SERVICE_ACCOUNT_NAME_KEY, SERVICE_ACCOUNT_UID_KEY);
        for (type_, annotations, belongs) in [
            (token, json!({name: "builder", uid: "1"}), true),
            (token, json!({name: "builder"}), true),
            (token, json!({name: "builder", uid: ""}), true),
            (token, json!({name: "builder", uid: "2"}), false),
            (token, json!({name: "other", uid: "1"}), false),
            (token, json!({uid: "1"}), false),
            (token, json!({}), false),
            ("Opaque", json!({name: "builder", uid: "1"}), false),
        ] {
            let secret = json!({"type": type_, "metadata": {"annotations": annotations}});
            let parsed: Secret = from_value(secret.clone()).expect("a secret");
            assert_eq!(is_token_of(&parsed, "builder", "1"), belongs, "{secret}");
        }
    }

    #[test]
    fn references_are_by_name() {
        let mut account = account(json!([{"name": "a"}, {"name": "b"}, {"name": "a"}, {}]));
        assert!(refers_to(&account, "a") && !refers_to(&account, "c"));
        add_reference(&mut account, "c");
        assert!(refers_to(&account, "c"));
        remove_references(&mut account, "a");
        let left: Vec<_> = account.secrets.iter().flatten().map(name_of).collect();
        assert_eq!(left, ["b", "", "c"]);
    }

    #[test]
    fn the_last_reference_takes_the_list_along() {
        let mut account = account(json!([{"name": "a"}]));
        remove_references(&mut account, "a");
        assert_eq!(account.secrets, None);
        assert!(!refers_to(&ServiceAccount::default(), "a"));
    }
}
