//! The flow schemas and priority levels of a new cluster, and the status of all flow schemas.
//!
//! ```text
//!   missing ─────────────────────────────────────▶ created
//!   mandatory, or not taken over by a user ──────▶ its spec is restored
//!   taken over (`autoupdate-spec: "false"`) ─────▶ left alone
//! ```
//! Follows `pkg/registry/flowcontrol/{rest,ensurer}` (v1.37.1), which looks every minute, and the flow schemas' status of
//! `pkg/util/flowcontrol/apf_controller.go` of `k8s.io/apiserver` (v0.37.1). Here all is done before the response to the write that
//! calls for it; a real server waits for 30 to 75 seconds once it has changed a status six times in a minute. Objects that are marked as
//! maintained and are not those of this version stay.

use super::client::Client;
use super::event::Event;
use super::reconciler::{Context, Reconciler};
use super::recorded::{self, Recorded};
use super::shared::Shared;
use crate::clock::format_seconds;
use crate::error::ApiResult;
use crate::object::meta;
use crate::registry::{Registry, Resource, ids, items, text};
use crate::schema::quote;
use crate::store::{Entry, Key, Scope};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::sync::Arc;
use tree::{Value, json};

/// The keys.
const OBJECTS: &str = "objects";
const STATUS: &str = "status";
const GROUP: &str = "flowcontrol.apiserver.k8s.io";
/// `AutoUpdateAnnotationKey`.
const AUTO_UPDATE: &str = "apf.kubernetes.io/autoupdate-spec";
/// `MandatoryFlowSchemas` and `MandatoryPriorityLevelConfigurations`: they have the same names.
const EXEMPT: &str = "exempt";
const CATCH_ALL: &str = "catch-all";
/// The managers of the specs, and of the status.
const PRODUCER: &str = "api-priority-and-fairness-config-producer-v1";
const CONSUMER: &str = "api-priority-and-fairness-config-consumer-v1";

pub(super) struct FlowControl;

impl Reconciler for FlowControl {
    /// A key stands for the objects of a new cluster, another one for the status of all flow schemas, which the recorded ones have.
    fn wants(&self, event: &Event<'_>, _: &Shared) -> Vec<Box<str>> {
        let is_about = |key: &Key| matches!(key.resource, ids::FLOW_SCHEMAS | ids::PRIORITY_LEVEL_CONFIGURATIONS);
        match event {
            Event::Start => vec![OBJECTS.into()],
            Event::Stored(entry, _) | Event::Removed(entry) if is_about(&entry.key) => {
                vec![OBJECTS.into(), STATUS.into()]
            }
            _ => Vec::new(),
        }
    }

    fn sync<'a>(&'a self, key: &'a str, context: &'a Context<'a>) -> BoxFuture<'a, ApiResult<()>> {
        async move {
            let catalog = context.catalog();
            if key == OBJECTS {
                for object in recorded::objects(GROUP) {
                    ensure(context, &catalog.registry, object).await?;
                }
                return Ok(());
            }
            let schemas = catalog.registry.known(ids::FLOW_SCHEMAS);
            let snapshot = context.store.snapshot();
            for entry in snapshot.range(&Scope::all(schemas.id), "") {
                set_status(context, schemas, entry).await?;
            }
            Ok(())
        }
        .boxed()
    }
}

/// Creates one of the recorded objects, or restores it (`EnsureConfiguration`).
async fn ensure(cluster: &Context<'_>, registry: &Registry, recorded: Recorded) -> ApiResult<()> {
    let is_schema = recorded.kind() == "FlowSchema";
    let id = if is_schema { ids::FLOW_SCHEMAS } else { ids::PRIORITY_LEVEL_CONFIGURATIONS };
    let client = Client::of_server(cluster, registry.known(id)).by(PRODUCER);
    let key = Key::new(id, "", recorded.name());
    if !client.change(&key, |old| revised(old, &recorded.object(cluster.now))).await?
        && let Some(draft) = recorded.drafted(registry, cluster, cluster.now)
    {
        cluster.commits.create(draft, None).await.ok();
    }
    Ok(())
}

/// The stored object as the server wants it; `None` if it is right (`ReviseIfNeeded`).
fn revised(stored: &Value, recorded: &Value) -> Option<Value> {
    let marked = stored["metadata"]["annotations"][AUTO_UPDATE].as_str().and_then(parse_bool);
    let mandatory = matches!(meta::name(recorded), EXEMPT | CATCH_ALL);
    let maintained = mandatory || marked.unwrap_or(meta::generation(stored) == 1);
    let mut revised = stored.clone();
    if maintained && !is_same_spec(stored, recorded) {
        revised["spec"] = recorded["spec"].clone();
    }
    if marked != Some(maintained) {
        revised["metadata"]["annotations"][AUTO_UPDATE] = maintained.to_string().into();
    }
    (revised != *stored).then_some(revised)
}

/// Whether the specs are the same, but for what users may change of the level `exempt` (`plcSpecEqualish`).
fn is_same_spec(stored: &Value, recorded: &Value) -> bool {
    let mut wanted = recorded["spec"].clone();
    if let (Some(wanted), Some(stored)) = (wanted.get_mut(EXEMPT), stored["spec"].get(EXEMPT)) {
        *wanted = stored.clone();
    }
    wanted == stored["spec"]
}

/// `strconv.ParseBool`.
fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// Says in the status of a flow schema whether its priority level exists (`presyncFlowSchemaStatus`).
async fn set_status(cluster: &Context<'_>, resource: &Arc<Resource>, schema: &Entry) -> ApiResult<()> {
    let stored = schema.object();
    let level = text(&stored, "/spec/priorityLevelConfiguration/name");
    // The mandatory ones are there, even if they are not stored.
    let exists = matches!(level, EXEMPT | CATCH_ALL)
        || cluster.store.get(&Key::new(ids::PRIORITY_LEVEL_CONFIGURATIONS, "", level)).is_some();
    let (status, reason, end) =
        if exists { ("False", "Found", "and it exists") } else { ("True", "NotFound", "but there is no such object") };
    let message =
        format!("This FlowSchema references the PriorityLevelConfiguration object named {} {end}", quote(level));
    let time = format_seconds(cluster.now);
    let dangling = json!({
        "type": "Dangling", "status": status, "lastTransitionTime": time, "reason": reason, "message": message,
    });
    let is_same =
        |known: &Value| ["type", "status", "reason", "message"].iter().all(|name| known[*name] == dangling[*name]);
    if items(&stored, "/status/conditions").iter().any(is_same) {
        return Ok(());
    }
    let status = json!({"conditions": [dangling]});
    let client = Client::of_server(cluster, resource).by(CONSUMER).through("status");
    client.apply(&schema.key, [("status", status)].into_iter().collect()).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    fn level(name: &str) -> Value {
        let is_it = |object: &Recorded| object.kind() == "PriorityLevelConfiguration" && object.name() == name;
        recorded::objects(GROUP).find(is_it).expect(name).object(Timestamp::UNIX_EPOCH)
    }

    /// Whether the spec is restored, and the mark afterwards, by name, mark, and generation.
    #[test]
    fn specs_are_restored_unless_a_user_has_taken_them_over() {
        for (name, mark, generation, expected) in [
            ("system", Some("true"), 2, (true, "true")),
            ("system", Some("false"), 2, (false, "false")),
            ("system", None, 1, (true, "true")),
            ("system", Some("odd"), 2, (false, "false")),
            ("catch-all", Some("0"), 2, (true, "true")),
        ] {
            let recorded = level(name);
            let mut stored = recorded.clone();
            meta::set(&mut stored, "generation", generation);
            stored["spec"]["limited"]["nominalConcurrencyShares"] = 7.into();
            stored["metadata"]["annotations"] = mark.map_or(json!({}), |mark| json!({AUTO_UPDATE: mark}));
            let revised = revised(&stored, &recorded).unwrap_or(stored);
            let mark = revised["metadata"]["annotations"][AUTO_UPDATE].as_str().expect("a mark");
            assert_eq!((revised["spec"] == recorded["spec"], mark), expected, "{name} {mark:?} {generation}");
        }
    }

    #[test]
    fn shares_of_the_exempt_level_are_the_users() {
        let recorded = level(EXEMPT);
        let mut stored = recorded.clone();
        stored["spec"]["exempt"]["nominalConcurrencyShares"] = 7.into();
        assert_eq!(revised(&stored, &recorded), None);
    }
}
