//! Preconditions: the uid and resource version that the stored object must have, and the storage layer's refusals.
//! `Preconditions.Check` of `k8s.io/apiserver/pkg/storage`.

use super::Act;
use super::request::options::WriteOptions;
use crate::error::{ApiError, ApiResult, FieldError};
use crate::object::meta;
use crate::store::{Entry, Key};
use tree::{Value, json};

/// 409 if the stored object has another uid than `sent`; `entry` is `None` where an update creates.
pub(super) fn check_uid(
    act: &Act<'_>,
    options: &WriteOptions,
    key: &Key,
    sent: &str,
    entry: Option<&Entry>,
) -> ApiResult<()> {
    let stored = entry.map_or("", |entry| &entry.meta.uid);
    check(act, options, key, "UID", sent, stored)
}

/// 409 if the stored object is at another revision than `sent`.
pub(super) fn check_revision(act: &Act<'_>, options: &WriteOptions, sent: &str, entry: &Entry) -> ApiResult<()> {
    check(act, options, &entry.key, "ResourceVersion", sent, &entry.revision.to_string())
}

fn check(act: &Act<'_>, options: &WriteOptions, key: &Key, what: &str, sent: &str, stored: &str) -> ApiResult<()> {
    if sent.is_empty() || sent == stored {
        return Ok(());
    }
    let (directory, path) = (&act.target.resource.storage_prefix, key.path());
    // A dry run does not come as far as to etcd, whose keys have a prefix.
    let prefix = if options.dry_run { "" } else { "/registry" };
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: {prefix}/{directory}/{path}, ResourceVersion: 0, \
         AdditionalErrorMsg: Precondition failed: {what} in precondition: {sent}, {what} in object meta: {stored}",
    );
    Err(ApiError::conflict(act.target.version.qualified(), key.name(), why))
}

/// 422 if the patched object has another uid.
pub(super) fn refuse_other_uid(act: &Act<'_>, new: &Value, old: &Value) -> ApiResult<()> {
    let Some(error) = changed_uid(new, old) else { return Ok(()) };
    // Upstream checks this in two places, and reports it only once for kinds that have declarative validation.
    let times = if act.target.version.is_typed() { 1 } else { 2 };
    Err(ApiError::invalid(act.target.resource.qualified_kind(), act.target.name, &vec![error; times]))
}

fn changed_uid(new: &Value, old: &Value) -> Option<FieldError> {
    let (sent, stored) = (meta::uid(new), meta::uid(old));
    let changed = !sent.is_empty() && sent != stored;
    changed.then(|| FieldError::invalid("metadata.uid", &json!(sent), "field is immutable"))
}
