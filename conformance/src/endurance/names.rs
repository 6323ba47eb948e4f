//! Numbers and names of objects, and the paths of requests for them.

use super::history::{NAMESPACES, Object, Scope, Shown};
use anyhow::{Context as _, Result};
use serde_json::Value;

/// The name of an object.
pub(super) fn name(object: Object) -> String {
    format!("o-{object}")
}

/// The number of the object of that name, if it is one of those.
pub(super) fn number(name: &str) -> Option<Object> {
    name.strip_prefix("o-")?.parse().ok()
}

/// The first half of a uid.
pub(super) fn uid(text: &str) -> u64 {
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).take(16).collect();
    u64::from_str_radix(&digits, 16).unwrap_or_default()
}

/// The path of the config maps of a namespace.
pub(super) fn collection(namespace: u32) -> String {
    format!("/api/v1/namespaces/n-{namespace}/configmaps")
}

/// The path of an object.
pub(super) fn object(object: Object) -> String {
    format!("{}/{}", collection(object % NAMESPACES), name(object))
}

/// The path of a list of a scope, with a query that can be gone on with.
pub(super) fn scope(scope: Scope) -> String {
    let collection = collection(scope.namespace);
    match scope.object {
        Some(object) => format!("{collection}?fieldSelector=metadata.name={}", name(object)),
        None => format!("{collection}?limit=0"),
    }
}

/// An object as its document shows it.
///
/// # Errors
/// If it is not one of those.
pub(super) fn shown(document: &Value) -> Result<Shown> {
    let text = |field: &str| document["metadata"][field].as_str().unwrap_or_default();
    let object = number(text("name")).with_context(|| format!("an object named {:?}", text("name")))?;
    let revision = text("resourceVersion").parse().with_context(|| format!("the revision of {}", text("name")))?;
    Ok(Shown { object, uid: uid(text("uid")), revision })
}
