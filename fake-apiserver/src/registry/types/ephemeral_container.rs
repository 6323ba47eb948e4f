//! `EphemeralContainer`: a container that joins a running pod.
//!
//! Follows `validateEphemeralContainers` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::container::{Scope, common, trimmed_image};
use crate::error::Errors;
use crate::registry::cursor::At;
use crate::registry::{items, text};
use std::collections::HashSet;
use tree::Value;

/// Common fields of containers that `allowedEphemeralContainerFields` does not allow, in the order of Go's struct.
const FORBIDDEN: [&str; 8] = [
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
];

/// Rules for `ephemeralContainers` of a pod's spec with other containers.
pub(super) fn ephemeral_containers(pod: At<'_, '_>, scope: &Scope<'_>, errors: &mut Errors) {
    let others: HashSet<&str> = ["/containers", "/initContainers"]
        .iter()
        .flat_map(|list| items(pod.value(), list))
        .map(|container| text(container, "/name"))
        .collect();
    let mut names = HashSet::new();
    for container in pod.field("ephemeralContainers").items() {
        common(container, scope, errors);
        let (at, container) = (container.path(), container.value());
        trimmed_image(at, container, errors);
        let name = text(container, "/name");
        if !names.insert(name) || others.contains(name) {
            errors.duplicate(at.child("name"), name);
        }
        let target = text(container, "/targetContainerName");
        if !target.is_empty() && !others.contains(target) {
            errors.not_found(at.child("targetContainerName"), target);
        }
        const DETAIL: &str = "cannot be set for an Ephemeral Container";
        for field in FORBIDDEN.iter().filter(|field| is_set(container, field)) {
            errors.forbidden(at.child(field), DETAIL);
        }
        for (index, mount) in items(container, "/volumeMounts").iter().enumerate() {
            for field in ["subPath", "subPathExpr"] {
                if !mount[field].as_str().unwrap_or_default().is_empty() {
                    errors.forbidden(at.item("volumeMounts", index).child(field), DETAIL);
                }
            }
        }
    }
}

/// Whether the field is not Go's zero value. Resources and lists may be present and empty.
fn is_set(container: &Value, field: &str) -> bool {
    match &container[field] {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => field != "resources" || !fields.is_empty(),
        _ => true,
    }
}
