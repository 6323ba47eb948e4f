//! The spec of a token: the request, and its key in the cache.

use go_text::quote;
use k8s_openapi::api::authentication::v1::{BoundObjectReference, TokenRequest, TokenRequestSpec};
use std::fmt;

/// The spec of a request to `serviceaccounts/token`. Specs that differ in any field have tokens of their own; no audiences
/// and an empty list of audiences differ.
///
/// It holds no secrets. `Display` is the key that the kubelet prints (`keyFunc`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct TokenSpec {
    /// The service account's namespace.
    pub namespace: String,
    /// The service account's name.
    pub service_account: String,
    /// The service account's uid, which the account has to have if it is set.
    pub service_account_uid: Option<String>,
    /// The audiences of the token; if unset, the API server's.
    pub audiences: Option<Vec<String>>,
    /// The requested lifetime in seconds.
    pub expiration_seconds: Option<i64>,
    /// The object that the token is bound to.
    pub bound_object: Option<BoundObject>,
}

/// The object that a token is bound to: it is valid only as long as that exists.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct BoundObject {
    /// `v1`.
    pub api_version: String,
    /// `Pod`.
    pub kind: String,
    /// `metadata.name`.
    pub name: String,
    /// `metadata.uid`.
    pub uid: String,
}

impl TokenSpec {
    /// The body of the request.
    pub(super) fn request(&self) -> TokenRequest {
        let mut request = TokenRequest::default();
        request.metadata.uid = self.service_account_uid.clone();
        request.spec = Some(TokenRequestSpec {
            audiences: self.audiences.clone(),
            expiration_seconds: self.expiration_seconds,
            bound_object_ref: self.bound_object.as_ref().map(|object| BoundObjectReference {
                api_version: Some(object.api_version.clone()),
                kind: Some(object.kind.clone()),
                name: Some(object.name.clone()),
                uid: Some(object.uid.clone()),
            }),
            ..TokenRequestSpec::default()
        });
        request
    }
}

impl fmt::Display for TokenSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/[]string", quote(&self.service_account), quote(&self.namespace))?;
        match &self.audiences {
            Some(audiences) => {
                let quoted: Vec<_> = audiences.iter().map(|audience| quote(audience)).collect();
                write!(f, "{{{}}}", quoted.join(", "))?;
            }
            None => write!(f, "(nil)")?,
        }
        let none = BoundObject::default();
        let BoundObject { api_version, kind, name, uid } = self.bound_object.as_ref().unwrap_or(&none);
        let [kind, api_version, name, uid] = [kind, api_version, name, uid].map(|text| quote(text));
        let seconds = self.expiration_seconds.unwrap_or(0);
        write!(
            f,
            "/{seconds}/v1.BoundObjectReference{{Kind:{kind}, APIVersion:{api_version}, Name:{name}, UID:{uid}}}"
        )?;
        write!(f, "/{}", quote(self.service_account_uid.as_deref().unwrap_or("")))
    }
}
