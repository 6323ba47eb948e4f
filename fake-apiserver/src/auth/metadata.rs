//! Metadata of live objects, as the validation of tokens reads it.

use super::Objects;
use jiff::Timestamp;
use std::sync::Arc;
use tree::Value;

pub(super) fn uid(object: &Value) -> &str {
    object["metadata"]["uid"].as_str().unwrap_or_default()
}

/// `metadata.deletionTimestamp`: the time at which the object was, or will be, deleted.
pub(super) fn deletion(object: &Value) -> Option<Timestamp> {
    object["metadata"]["deletionTimestamp"].as_str()?.parse().ok()
}

/// The service account that a token names, or the error of the real server's client, verbatim.
pub(super) fn service_account(objects: &dyn Objects, namespace: &str, name: &str) -> Result<Arc<Value>, String> {
    match (namespace, name) {
        (_, "") => Err("resource name may not be empty".into()),
        ("", _) => Err("the server could not find the requested resource".into()),
        _ => objects
            .object("serviceaccounts", namespace, name)
            .ok_or_else(|| format!("serviceaccounts {name:?} not found")),
    }
}
