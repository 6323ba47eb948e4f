//! Legacy tokens: their claims, their signature, and the names of their secrets.
//!
//! A legacy token has neither times nor an id, so with an RSA key the same service account and secret always give the
//! same token, byte for byte.
//!
//! Follows kubernetes v1.24.17 `pkg/serviceaccount/legacy.go` and `jwt.go`, and apiserver v0.24.17
//! `pkg/storage/names/generate.go`.

use crate::keys::{SigningError, SigningKey};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::ResourceExt;
use serde::Serialize;

/// The issuer of all legacy tokens (`LegacyIssuer`).
pub const LEGACY_ISSUER: &str = "kubernetes/serviceaccount";

/// The claims of a legacy token, in the alphabetical order in which upstream writes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LegacyClaims {
    iss: &'static str,
    #[serde(rename = "kubernetes.io/serviceaccount/namespace")]
    namespace: String,
    #[serde(rename = "kubernetes.io/serviceaccount/secret.name")]
    secret_name: String,
    #[serde(rename = "kubernetes.io/serviceaccount/service-account.name")]
    account_name: String,
    #[serde(rename = "kubernetes.io/serviceaccount/service-account.uid")]
    account_uid: String,
    sub: String,
}

impl LegacyClaims {
    /// The claims of the token of `account` in the secret of that name.
    pub fn new(account: &ServiceAccount, secret_name: &str) -> Self {
        let namespace = account.namespace().unwrap_or_default();
        let name = account.name_any();
        LegacyClaims {
            iss: LEGACY_ISSUER,
            sub: format!("system:serviceaccount:{namespace}:{name}"),
            namespace,
            secret_name: secret_name.to_owned(),
            account_name: name,
            account_uid: account.uid().unwrap_or_default(),
        }
    }
}

/// A generator of tokens from claims.
pub trait TokenGenerator: Send + Sync {
    /// The token with these claims.
    ///
    /// # Errors
    /// If it cannot be signed.
    fn generate_token(&self, claims: &LegacyClaims) -> Result<String, SigningError>;
}

/// A key as a generator of JSON Web Tokens (`JWTTokenGenerator`).
impl TokenGenerator for SigningKey {
    fn generate_token(&self, claims: &LegacyClaims) -> Result<String, SigningError> {
        self.sign_jwt(claims)
    }
}

/// Maximal length of the base of a generated name, in characters (`MaxGeneratedNameLength`).
const MAX_GENERATED_NAME_LENGTH: usize = 58;
/// Number of random characters (`randomLength`).
const RANDOM_LENGTH: usize = 5;
/// The random characters: without vowels and what looks like one, to avoid words (`alphanums` of `util/rand`).
const ALPHANUMS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// A new name for a token secret of that service account.
pub(super) fn generate_name(account_name: &str) -> String {
    let base = format!("{account_name}-token-");
    let random = (0..RANDOM_LENGTH).map(|_| char::from(ALPHANUMS[fastrand::usize(..ALPHANUMS.len())]));
    base.chars().take(MAX_GENERATED_NAME_LENGTH).chain(random).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    #[test]
    fn claims_are_written_in_alphabetical_order() {
        let account = json!({"metadata": {"namespace": "ns", "name": "builder", "uid": "12345"}});
        let claims = LegacyClaims::new(&from_value(account).expect("a service account"), "builder-token-x");
        assert_eq!(
            serde_json::to_string(&claims).expect("claims are plain strings"),
            r#"{"iss":"kubernetes/serviceaccount","kubernetes.io/serviceaccount/namespace":"ns","kubernetes.io/serviceaccount/secret.name":"builder-token-x","kubernetes.io/serviceaccount/service-account.name":"builder","kubernetes.io/serviceaccount/service-account.uid":"12345","sub":"system:serviceaccount:ns:builder"}"#
        );
    }

    #[test]
    fn names_fit_and_end_at_random() {
        for (account, base) in [
            ("builder", "builder-token-".to_owned()),
            (&*"a".repeat(51), "a".repeat(51) + "-token-"),
            (&*"a".repeat(52), "a".repeat(52) + "-token"),
            (&*"a".repeat(253), "a".repeat(58)),
        ] {
            let name = generate_name(account);
            let random = name.strip_prefix(&base).unwrap_or_else(|| panic!("{name} does not start with {base}"));
            assert_eq!(random.len(), RANDOM_LENGTH);
            assert!(random.bytes().all(|byte| ALPHANUMS.contains(&byte)), "{random}");
            assert!(name.len() <= 63);
        }
    }
}
