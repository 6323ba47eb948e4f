//! What a token is for: the key under which it is kept.

use crate::go::quote;
use k8s_openapi::api::authentication::v1::{BoundObjectReference, TokenRequest, TokenRequestSpec};
use std::fmt;

/// What is asked of `serviceaccounts/token`. Requests that differ in anything have tokens of their own; no audiences
/// and an empty list of audiences are two things.
///
/// It holds nothing secret. `Display` is the key that the kubelet prints (`keyFunc`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct TokenSpec {
    /// The service account's namespace.
    pub namespace: String,
    /// The service account's name.
    pub service_account: String,
    /// The service account's uid: if set, no other account of that name will do.
    pub service_account_uid: Option<String>,
    /// Who is to accept the token; if unset, the API server.
    pub audiences: Option<Vec<String>>,
    /// How long it is to live.
    pub expiration_seconds: Option<i64>,
    /// The object that it dies with.
    pub bound_object: Option<BoundObject>,
}

/// The object that a token dies with.
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
