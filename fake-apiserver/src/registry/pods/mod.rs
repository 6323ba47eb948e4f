//! Pods: the rules of a `PodSpec` are in `types/`, here is what only pods have.
//!
//! Follows `pkg/registry/core/pod/strategy.go` (v1.37.1).

mod columns;
mod defaults;
mod ephemeral;
mod quality_of_service;
pub(crate) mod references;
mod update;
mod validate;

use super::kind::{FieldLabel, Kind, Strategy, Subresource};
use super::{carry_over, child, items, text};
use crate::object::meta;
use serde_json::{Value, json};

/// `MirrorPodAnnotationKey`: such a pod is the shadow of one that a kubelet runs of its own accord.
pub(crate) const MIRROR_POD_ANNOTATION: &str = "kubernetes.io/config.mirror";

pub(crate) fn is_mirror_pod(pod: &Value) -> bool {
    meta::annotations(pod).get(MIRROR_POD_ANNOTATION).is_some()
}

pub(super) const KIND: Kind = Kind {
    resource: "pods",
    singular: "pod",
    kind: "Pod",
    short_names: &["po"],
    categories: &["all"],
    subresources: &[
        Subresource {
            name: "binding",
            group: "",
            version: "",
            kind: "Binding",
            verbs: &["create"],
            strategy: Strategy::NONE,
        },
        Subresource {
            name: "ephemeralcontainers",
            group: "",
            version: "",
            kind: "Pod",
            verbs: &["get", "patch", "update"],
            strategy: Strategy {
                default: defaults::default,
                prepare_update: ephemeral::prepare_update,
                validate_update: ephemeral::changes,
                ..Strategy::NONE
            },
        },
        Subresource::status(
            "Pod",
            Strategy {
                default: defaults::default,
                prepare_update: prepare_status_update,
                validate_update: update::status,
                ..Strategy::NONE
            },
        ),
    ],
    owns_generation: true,
    delete_returns_object: true,
    field_labels: FIELD_LABELS,
    columns: columns::COLUMNS,
    row_condition: columns::row_condition,
    strategy: Strategy {
        default: defaults::default,
        prepare_create,
        prepare_update,
        validate: validate::create,
        validate_update: update::spec,
        grace_period,
        warnings: validate::warnings,
    },
    ..Kind::ORDINARY
};

fn prepare_create(pod: &mut Value) {
    let mut status = json!({ "phase": "Pending", "qosClass": quality_of_service::quality_of_service(pod) });
    if !items(pod, "/spec/schedulingGates").is_empty() {
        status["conditions"] = json!([{
            "type": "PodScheduled",
            "status": "False",
            "lastTransitionTime": meta::creation_timestamp(pod),
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
        }]);
    }
    *child(pod, "status") = status;
}

fn prepare_update(new: &mut Value, old: &Value) {
    carry_over(new, old, "status");
    // Clients that know nothing of pod-level resources drop them.
    if let Some(resources) = old.pointer("/spec/resources")
        && new.pointer("/spec/resources").is_none()
    {
        *child(child(new, "spec"), "resources") = resources.clone();
    }
}

fn prepare_status_update(new: &mut Value, old: &Value) {
    carry_over(new, old, "spec");
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
}

/// Kubelets get time to stop what they run.
fn grace_period(pod: &Value, asked: Option<i64>) -> Option<i64> {
    let default = || pod.pointer("/spec/terminationGracePeriodSeconds").and_then(Value::as_i64).unwrap_or_default();
    let idle = text(pod, "/spec/nodeName").is_empty() || ["Failed", "Succeeded"].contains(&text(pod, "/status/phase"));
    Some(match asked.unwrap_or_else(default) {
        _ if idle => 0,
        ..0 => 1,
        seconds => seconds,
    })
}

const FIELD_LABELS: &[FieldLabel] = &[
    FieldLabel { label: "spec.nodeName", value: |pod| text(pod, "/spec/nodeName").into() },
    // What clients of long ago call spec.nodeName.
    FieldLabel { label: "spec.host", value: |pod| text(pod, "/spec/nodeName").into() },
    FieldLabel { label: "spec.restartPolicy", value: |pod| text(pod, "/spec/restartPolicy").into() },
    FieldLabel { label: "spec.schedulerName", value: |pod| text(pod, "/spec/schedulerName").into() },
    FieldLabel { label: "spec.serviceAccountName", value: |pod| text(pod, "/spec/serviceAccountName").into() },
    FieldLabel {
        label: "spec.hostNetwork",
        value: |pod| pod["spec"]["hostNetwork"].as_bool().unwrap_or_default().to_string().into(),
    },
    FieldLabel { label: "status.phase", value: |pod| text(pod, "/status/phase").into() },
    FieldLabel { label: "status.podIP", value: |pod| text(pod, "/status/podIPs/0/ip").into() },
    // Accepted, yet the real server finds it empty in every pod.
    FieldLabel { label: "status.podIPs", value: |_| "".into() },
    FieldLabel { label: "status.nominatedNodeName", value: |pod| text(pod, "/status/nominatedNodeName").into() },
];
