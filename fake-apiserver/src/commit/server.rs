//! Objects that the server itself creates.

use super::draft;
use crate::clock::format_seconds;
use crate::deadline::Deadline;
use crate::error::ApiResult;
use crate::ids::Ids;
use crate::object::meta;
use crate::registry::managers::Writer;
use crate::registry::{Context, Resource};
use crate::store::{Draft, Store};
use jiff::Timestamp;
use tree::Value;

/// The field manager of the server's own writes.
pub(crate) const MANAGER: &str = "kube-apiserver";

/// The draft of a new object: it gets a uid, the time, the defaults of its kind and a manager of its fields.
///
/// # Errors
/// 500, if the object is invalid.
pub(crate) fn created(
    resource: &Resource,
    mut object: Value,
    store: &Store,
    ids: &Ids,
    now: Timestamp,
) -> ApiResult<Draft> {
    complete(resource, &mut object, store, ids, now);
    draft(resource, &object)
}

/// Completes a new object as every create does: uid, time, defaults, field managers, generation.
pub(crate) fn complete(resource: &Resource, object: &mut Value, store: &Store, ids: &Ids, now: Timestamp) {
    let time = format_seconds(now);
    meta::set(object, "uid", ids.uid());
    meta::set(object, "creationTimestamp", time.as_str());
    (resource.rules.strategy.default)(object);
    resource.track(Writer { manager: MANAGER, subresource: "", now: &time }, None, object);
    if resource.rules.owns_generation {
        meta::set(object, "generation", 1);
    }
    let deadline = Deadline::default();
    let context = Context::of_server(&resource.storage().api_version, store, now, &deadline);
    (resource.rules.strategy.prepare)(&context, object, None);
}
