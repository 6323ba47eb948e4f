//! The fields of a `PodSpec`, in a pod or a template, that only features know which are off by default: they are dropped.
//!
//! Follows `dropDisabledFields` of `pkg/api/pod/util.go` (v1.37.1).

use crate::registry::defaults::{Disabled, drop_disabled, visit};
use tree::Value;

const DISABLED: &[Disabled] = &[
    ("", &["schedulingGroup", "evictionResponders"]),
    ("volumes/*/emptyDir", &["mode"]),
    ("volumes/*/secret|configMap|downwardAPI|projected", &["defaultUser"]),
    ("volumes/*/secret|configMap|downwardAPI/items/*", &["user"]),
    ("volumes/*/projected/sources/*/secret|configMap|downwardAPI/items/*", &["user"]),
    ("volumes/*/projected/sources/*/serviceAccountToken|clusterTrustBundle|podCertificate", &["user"]),
];

/// The same of each container.
const OF_CONTAINERS: &[Disabled] = &[
    ("volumeMounts/*", &["bindMountOptions"]),
    ("livenessProbe|readinessProbe|startupProbe/grpc", &["mode"]),
    ("livenessProbe|readinessProbe|startupProbe/httpGet", &["protocol"]),
    ("lifecycle/postStart|preStop/httpGet", &["protocol"]),
];

/// Drops them from the spec of a template, whose place in `object` is written as [`visit`] has it (`DropDisabledTemplateFields`).
pub(in crate::registry) fn drop_disabled_template_fields(object: &mut Value, spec: &str) {
    visit(object, spec, &mut drop_disabled_fields);
}

/// Drops them from a pod's spec.
pub(in crate::registry) fn drop_disabled_fields(spec: &mut Value) {
    drop_disabled(spec, DISABLED);
    visit(spec, "containers|initContainers|ephemeralContainers/*", &mut |container| {
        drop_disabled(container, OF_CONTAINERS);
        let Some(lifecycle) = container.get_mut("lifecycle").and_then(Value::as_object_mut) else { return };
        if lifecycle.remove("stopSignal").is_some()
            && lifecycle.is_empty()
            && let Some(fields) = container.as_object_mut()
        {
            fields.remove("lifecycle");
        }
    });
}
