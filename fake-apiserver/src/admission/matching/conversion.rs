//! The object of a write in the version that a rule matched, and back.
//!
//! Built-in objects are written in their storage version, custom resources in the version of the request. The bodies of subresources that
//! have a kind of their own have one version only.
//!
//! Follows `VersionedAttributes` of `k8s.io/apiserver/pkg/admission/conversion.go` (v0.37.1).

use super::Matched;
use crate::admission::{Attributes, Kind, Operation};
use crate::error::{ApiError, ApiResult};
use crate::registry::Version;
use std::borrow::Cow;
use tree::Value;

/// The object as it will be, in the form of `matched`; null stays null.
///
/// # Errors
/// 500, if a webhook should convert it and does not.
pub(crate) async fn new_object<'o>(
    write: &Attributes<'_>,
    object: &'o Value,
    matched: Matched<'_>,
) -> ApiResult<Cow<'o, Value>> {
    match has_own_kind(write) {
        true => Ok(Cow::Borrowed(object)),
        false => to(matched.version, object).await,
    }
}

/// The object as it was, in the form of `matched`; `None` for a create.
///
/// # Errors
/// 500, if a webhook should convert it and does not.
pub(crate) async fn old_object<'o>(write: &Attributes<'o>, matched: Matched<'_>) -> ApiResult<Option<Cow<'o, Value>>> {
    let Some(old) = write.old else { return Ok(None) };
    if has_own_kind(write) {
        return Ok(Some(Cow::Borrowed(old)));
    }
    let version = matched.version;
    if write.operation != Operation::Delete || !version.is_converted_last() {
        return to(version, old).await.map(Some);
    }
    // The object of a deletion is as it is stored.
    let mut old =
        version.convert_from_storage_by_webhook(vec![old.clone()], write.deadline).await.map_err(ApiError::internal)?;
    Ok(Some(Cow::Owned(version.custom_from_storage(old.swap_remove(0), write.deadline))))
}

/// An object in the form of `matched` in the form in which it is written.
///
/// # Errors
/// 500, if a webhook should convert it and does not.
pub(crate) async fn back(write: &Attributes<'_>, mut object: Value, matched: Matched<'_>) -> ApiResult<Value> {
    if has_own_kind(write) {
        return Ok(object);
    }
    if write.version.is_converted_last() {
        return to(write.version, &object).await.map(Cow::into_owned);
    }
    matched.version.convert_to_storage(&mut object);
    Ok(object)
}

/// Whether the body of the request is of another kind than the resource.
fn has_own_kind(write: &Attributes<'_>) -> bool {
    write.kind != Kind::of(write.version, "")
}

async fn to<'o>(version: &Version, object: &'o Value) -> ApiResult<Cow<'o, Value>> {
    if object.is_null() || object["apiVersion"] == *version.api_version {
        return Ok(Cow::Borrowed(object));
    }
    if !version.is_converted_last() {
        return Ok(version.built_in_from_storage(object).map_or(Cow::Borrowed(object), Cow::Owned));
    }
    let converted = version.by_webhook(vec![object.clone()]).await;
    let mut converted = converted.map_err(ApiError::internal)?.swap_remove(0);
    converted["apiVersion"] = (&*version.api_version).into();
    Ok(Cow::Owned(converted))
}
