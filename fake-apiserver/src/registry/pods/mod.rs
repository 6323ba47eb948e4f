//! Pods. The rules of a `PodSpec` are in `types/`.
//!
//! Follows `pkg/registry/core/pod/strategy.go` (v1.37.1).

mod app_armor;
mod columns;
mod defaults;
mod ephemeral;
mod gated;
mod label_keys;
mod mirror;
mod pod_level_resources;
mod quality_of_service;
pub(crate) mod references;
mod resize;
mod update;
mod validate;

pub(crate) use mirror::{MIRROR_POD_ANNOTATION, is_mirror_pod};
pub(crate) use quality_of_service::{has_pod_level_resources, quality_of_service};

use super::context::Context;
use super::rules::{FieldText, Rules, Strategy};
use super::types::drop_disabled_fields;
use super::{carry_over, child, flag, items, text};
use crate::clock::format_seconds;
use crate::object::meta;
use tree::{Map, Value, json};

pub(super) const RULES: Rules = Rules {
    resets: &[("status", &[&["spec"], &["metadata", "deletionTimestamp"], &["metadata", "ownerReferences"]])],
    subresources: &[
        ("attach", Strategy::NONE),
        ("binding", Strategy::NONE),
        ("eviction", Strategy::NONE),
        ("exec", Strategy::NONE),
        ("log", Strategy::NONE),
        ("portforward", Strategy::NONE),
        ("proxy", Strategy::NONE),
        (
            "ephemeralcontainers",
            Strategy {
                default: defaults::default,
                prepare: |_, new, old| old.into_iter().for_each(|old| ephemeral::prepare_update(new, old)),
                validate: |_, new, old, errors| old.into_iter().for_each(|old| ephemeral::changes(new, old, errors)),
                ..Strategy::NONE
            },
        ),
        (
            "resize",
            Strategy {
                default: defaults::default,
                prepare: |_, new, old| old.into_iter().for_each(|old| resize::prepare_update(new, old)),
                validate: |_, new, old, errors| old.into_iter().for_each(|old| resize::changes(new, old, errors)),
                ..Strategy::NONE
            },
        ),
        (
            "status",
            Strategy {
                default: defaults::default,
                prepare: |_, new, old| old.into_iter().for_each(|old| prepare_status_update(new, old)),
                validate: |_, new, old, errors| old.into_iter().for_each(|old| update::status(new, old, errors)),
                ..Strategy::NONE
            },
        ),
    ],
    empty_lists: &["/metadata/managedFields", CLAIM_STATUSES],
    owns_generation: true,
    delete_returns_object: true,
    fields: FIELDS,
    cells: columns::CELLS,
    row_condition: columns::row_condition,
    strategy: Strategy {
        default: defaults::default,
        prepare: |context, new, old| match old {
            None => prepare_create(context, new),
            Some(old) => prepare_update(new, old),
        },
        validate: |_, new, old, errors| match old {
            None => validate::create(new, errors),
            Some(old) => update::spec(new, old, errors),
        },
        grace_period,
        early_warnings: app_armor::warnings,
        warnings: |_, new, old| validate::warnings(new, old),
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

fn prepare_create(context: &Context<'_>, pod: &mut Value) {
    pod_level_resources::default(pod);
    let mut status = Map::with_capacity(2);
    status.insert("phase".into(), "Pending".into());
    status.insert("qosClass".into(), quality_of_service(pod).into());
    let mut status = Value::from(status);
    if !items(pod, "/spec/schedulingGates").is_empty() {
        status["conditions"] = json!([{
            "type": "PodScheduled",
            "status": "False",
            "lastTransitionTime": format_seconds(context.now),
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
        }]);
    }
    *child(pod, "status") = status;
    drop_disabled_fields(child(pod, "spec"));
    label_keys::merge(pod);
    app_armor::sync(pod);
}

fn prepare_update(new: &mut Value, old: &Value) {
    drop_disabled_fields(child(new, "spec"));
    // Only new pods are checked for empty ones.
    if let Some(spec) = new["spec"].as_object_mut().filter(|spec| spec.get("overhead") == Some(&json!({}))) {
        spec.remove("overhead");
    }
    // Clients that do not know pod-level resources drop them.
    if let Some(resources) = old.pointer("/spec/resources")
        && new.pointer("/spec/resources").is_none()
    {
        *child(child(new, "spec"), "resources") = resources.clone();
    }
}

/// A list that an update of the status keeps unless it says that the list is empty.
const CLAIM_STATUSES: &str = "/status/resourceClaimStatuses";

fn prepare_status_update(new: &mut Value, old: &Value) {
    meta::remove(new, "deletionTimestamp");
    meta::carry_over(new, old, "ownerReferences");
    let (status, old) = (child(new, "status"), &old["status"]);
    if status.is_null() {
        *status = json!({});
    }
    for field in ["qosClass", "resourceClaimStatuses", "extendedResourceClaimStatus", "observedGeneration"] {
        if status.get(field).is_none_or(|value| value == "" || value == 0) {
            carry_over(status, old, field);
        }
    }
    if let Some(status) = status.as_object_mut() {
        status.retain(|field, value| {
            field != "resourceClaimStatuses" || value.as_array().is_none_or(|list| !list.is_empty())
        });
    }
}

/// The grace period, in which the kubelet stops the containers.
fn grace_period(pod: &Value, asked: Option<i64>) -> Option<i64> {
    let default = || pod.pointer("/spec/terminationGracePeriodSeconds").and_then(Value::as_i64).unwrap_or_default();
    let idle = text(pod, "/spec/nodeName").is_empty() || ["Failed", "Succeeded"].contains(&text(pod, "/status/phase"));
    Some(match asked.unwrap_or_else(default) {
        _ if idle => 0,
        ..0 => 1,
        seconds => seconds,
    })
}

/// The fields whose text for selectors is not their own. `status.podIPs` is a list, which the real server takes for empty.
const FIELDS: &[(&str, FieldText)] = &[
    ("spec.hostNetwork", |pod| flag(pod, "/spec/hostNetwork").to_string().into()),
    ("status.podIP", |pod| text(pod, "/status/podIPs/0/ip").into()),
];
