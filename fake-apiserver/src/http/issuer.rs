//! The OIDC discovery documents of the token issuer. Absent, as upstream, if the issuer is not a URL that the standard
//! allows.

use super::negotiate::Preferences;
use super::replica::Replica;
use crate::auth::OwnKeys;
use crate::auth::keys::PublicKey;
use crate::auth::oidc::{
    CACHE_CONTROL, CONFIG_CONTENT_TYPE, CONFIG_PATH, Discovery, JWKS_CONTENT_TYPE, JWKS_PATH, default_jwks_uri,
};
use crate::error::{ApiError, ApiResult};
use bytes::Bytes;
use http::{Method, Response, header};

/// The documents of one replica; `None` if its issuer cannot have any.
fn render(replica: &Replica) -> Option<Discovery> {
    let authenticator = &replica.cluster.policy.authenticator;
    let keys_at = default_jwks_uri(&replica.address);
    let own = replica.cluster.keys.as_ref().into_iter().flat_map(OwnKeys::public);
    let keys: Vec<PublicKey> = authenticator.keys().iter().chain(own).cloned().collect();
    match Discovery::new(authenticator.issuer(), &keys_at, &keys) {
        Ok(documents) => Some(documents),
        Err(error) => {
            tracing::warn!(%error, "the issuer's discovery documents are not served");
            None
        }
    }
}

/// The response at the issuer's paths; `None` for other paths.
pub(super) fn answer(
    replica: &Replica,
    method: &Method,
    path: &str,
    preferences: &Preferences<'_>,
) -> Option<ApiResult<Response<Bytes>>> {
    if !matches!(path, CONFIG_PATH | JWKS_PATH) {
        return None;
    }
    let documents = replica.issuer_documents.get_or_init(|| render(replica)).as_ref()?;
    if method != Method::GET {
        return Some(Err(ApiError::method_not_routed()));
    }
    let (content_type, json) = match path {
        CONFIG_PATH => (CONFIG_CONTENT_TYPE, &documents.config),
        _ => (JWKS_CONTENT_TYPE, &documents.keys),
    };
    if let Err(refusal) = preferences.routed(&[content_type]) {
        return Some(Err(refusal));
    }
    let response =
        Response::builder().header(header::CONTENT_TYPE, content_type).header(header::CACHE_CONTROL, CACHE_CONTROL);
    Some(Ok(response.body(json.clone()).expect("constant headers")))
}
