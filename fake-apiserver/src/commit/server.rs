//! Objects that the server itself creates.

use super::draft;
use crate::clock::format_seconds;
use crate::error::ApiResult;
use crate::ids::Ids;
use crate::object::meta;
use crate::registry::owners::Writer;
use crate::registry::{Context, Resource};
use crate::store::{Draft, Store};
use jiff::Timestamp;
use tree::Value;

/// The field manager of the server's own writes.
pub(crate) const MANAGER: &str = "kube-apiserver";

/// The draft of a new object: it gets a uid, the time, the defaults of its kind and an owner of its fields.
///
/// # Errors
/// 500, if the object is invalid.
pub(crate) fn created(
    kind: &Resource,
    mut object: Value,
    store: &Store,
    ids: &Ids,
    now: Timestamp,
) -> ApiResult<Draft> {
    complete(kind, &mut object, store, ids, now);
    draft(kind, &object)
}

/// Completes a new object as every create does: uid, time, defaults, field managers, generation.
pub(crate) fn complete(kind: &Resource, object: &mut Value, store: &Store, ids: &Ids, now: Timestamp) {
    let time = format_seconds(now);
    meta::set(object, "uid", ids.uid());
    meta::set(object, "creationTimestamp", time.as_str());
    (kind.rules.strategy.default)(object);
    kind.own(Writer { manager: MANAGER, subresource: "", now: &time }, None, object);
    if kind.rules.owns_generation {
        meta::set(object, "generation", 1);
    }
    (kind.rules.strategy.prepare)(&Context::of_server(&kind.storage().api_version, store, now), object, None);
}
