//! An estimate, cheap to make, whether a request takes long.

use super::Request;
use crate::schema;
use crate::store::Scope;

/// The length from which a body, or an object that is changed, takes long, in bytes.
pub(crate) const LONG_BODY: usize = 64 * 1024;
/// The number of objects from which filtering or deleting them takes long.
const MANY: usize = 1000;
/// The number of operations of a JSON patch above which its copies may become long.
const MANY_OPERATIONS: usize = 4;

/// Whether the request takes longer than others should wait. (The items of lists are rendered as they are sent.)
pub(crate) fn is_long(request: &Request<'_>, verb: &str) -> bool {
    if request.resource.is_uncompiled() {
        return true;
    }
    if request.version.is_foreign() {
        // It waits for a webhook, which holds no thread here.
        return false;
    }
    let body = &request.body;
    let repeats = || body.bytes.contains(&b'*') && body.content_type.to_ascii_lowercase().contains("yaml");
    let long_body = || body.bytes.len() >= LONG_BODY || repeats();
    let long_object = || request.cluster.store.get(&request.key()).is_some_and(|entry| entry.json().len() >= LONG_BODY);
    // The message about permissions of a short role may be long.
    let escalates = || request.resource.rules.grants.is_some() && request.cluster.rbac.is_some();
    // Definitions have their rules compiled, and some evaluations take their time whatever the object.
    let evaluates = || request.resource.rules.long_writes || request.version.takes_long();
    let many_operations = || schema::count_items(&request.body.bytes).is_some_and(|count| count > MANY_OPERATIONS);
    let selects = || ["labelSelector", "fieldSelector"].into_iter().any(|option| request.query.has(option));
    match verb {
        "create" => long_body() || escalates() || evaluates(),
        "patch" if many_operations() => true,
        "update" | "patch" if evaluates() => true,
        "update" | "patch" | "delete" => long_body() || escalates() || long_object(),
        "list" => selects() && is_many(request),
        "deletecollection" => is_many(request),
        _ => false,
    }
}

fn is_many(request: &Request<'_>) -> bool {
    let namespace = Some(request.namespace).filter(|namespace| !namespace.is_empty()).map(Into::into);
    let scope = Scope { resource: request.resource.id, namespace, name: None };
    request.cluster.store.snapshot().slice(&scope, "").len() >= MANY
}
