//! Pods.

use super::kind::{FieldLabel, Kind, Strategy, Subresource};
use serde_json::Value;

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
            version: "v1",
            kind: "Binding",
            verbs: &["create"],
            strategy: Strategy::NONE,
        },
        Subresource::status("Pod", Strategy::NONE),
    ],
    owns_generation: true,
    delete_returns_object: true,
    field_labels: FIELD_LABELS,
    ..Kind::ORDINARY
};

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
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
