//! Checks that the name and namespace of a body are those of the URL.

use crate::api::act::Act;
use crate::error::{ApiError, ApiResult};
use crate::object::meta;
use tree::Value;

/// Checks that the body's name and namespace are those of the URL.
pub(crate) fn check_identity(act: &Act<'_>, body: &mut Value) -> ApiResult<()> {
    let (sent, url) = (meta::name(body), act.target.name);
    if sent.is_empty() {
        return Err(undeterminable_name(url));
    }
    if sent != url {
        let message = format!("the name of the object ({sent}) does not match the name on the URL ({url})");
        return Err(ApiError::bad_request(message));
    }
    ensure_namespace(act, body)
}

/// 400: the body has no name.
pub(crate) fn undeterminable_name(url: &str) -> ApiError {
    let message = format!("the name of the object ({url} based on URL) was undeterminable: name must be provided");
    ApiError::bad_request(message)
}

/// `EnsureObjectNamespaceMatchesRequestNamespace`: an empty namespace is set, that of a cluster-scoped object is dropped,
/// and another one is refused.
pub(crate) fn ensure_namespace(act: &Act<'_>, object: &mut Value) -> ApiResult<()> {
    let wanted = if act.target.resource.meta.namespaced { act.target.namespace } else { "" };
    let sent = meta::namespace(object);
    if sent == wanted {
        return Ok(());
    }
    if !sent.is_empty() && !wanted.is_empty() {
        let message = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(ApiError::bad_request(message));
    }
    meta::set(object, "namespace", wanted);
    Ok(())
}
