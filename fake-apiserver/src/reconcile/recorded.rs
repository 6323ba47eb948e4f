//! The objects of a real server's first start, as data: `bootstrap.jsonl` holds one a line, with `<time>` for the time
//! (`cargo xtask conformance bootstrap` records them).

use super::shared::Shared;
use crate::auth::rbac::Rule;
use crate::clock::format_seconds;
use crate::commit::{Encoded, draft};
use crate::error::ApiResult;
use crate::object::meta;
use crate::registry::{RBAC_GROUP, Registry};
use jiff::Timestamp;
use tree::Value;

const OBJECTS: &str = include_str!("bootstrap.jsonl");

/// The objects of a group as of a time, without uids. They have their defaults and field managers.
pub(super) fn objects(group: &str, now: Timestamp) -> impl Iterator<Item = Value> {
    let (version, time) = (format!("\"apiVersion\":\"{group}/"), format_seconds(now));
    OBJECTS
        .lines()
        .filter(move |line| line.contains(&version))
        .map(move |line| serde_json::from_str(&line.replace("<time>", &time)).expect("the record is JSON"))
}

/// The draft of such an object, with a new uid; `None` if its kind is not served.
///
/// # Errors
/// 500, if the object does not have the form of its type.
pub(super) fn drafted(registry: &Registry, mut object: Value, cluster: &Shared) -> ApiResult<Option<Encoded>> {
    let kind = (object["apiVersion"].as_str().unwrap_or_default(), object["kind"].as_str().unwrap_or_default());
    let Some(served) = registry.kind(kind.0, kind.1) else { return Ok(None) };
    meta::set(&mut object, "uid", cluster.ids.uid());
    draft(served.resource, &object).map(Some)
}

/// The rules of `system:node`, which hold for every node even if that role is changed: `NodeRules`.
pub(crate) fn node_rules() -> Vec<Rule> {
    let is_node = |role: &Value| role["kind"] == "ClusterRole" && meta::name(role) == "system:node";
    objects(RBAC_GROUP, Timestamp::UNIX_EPOCH).find(is_node).map(|role| Rule::all_of(&role)).unwrap_or_default()
}
