//! Containers that join a running pod, through a subresource of their own: they come, and neither change nor go.
//!
//! Follows `podEphemeralContainersStrategy` of `pkg/registry/core/pod/strategy.go`, `validateEphemeralContainers` and
//! `ValidatePodEphemeralContainersUpdate` of `pkg/apis/core/validation/validation.go` (v1.37.1). Where the real server
//! appends a diff of its Go structs, the changed fields are listed.

use super::containers::common;
use super::update::differences;
use super::validate::{Findings, pod_and_spec};
use crate::error::FieldError;
use crate::object::generation::equal;
use crate::object::meta;
use crate::registry::{carry_over, child, is_mirror_pod, items, text};
use serde_json::Value;

/// Common fields of containers that `allowedEphemeralContainerFields` does not allow, in the order of Go's struct.
const NOT_FOR_THEM: [&str; 8] = [
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
];

/// `dropNonEphemeralContainerUpdates`.
pub(super) fn prepare_update(new: &mut Value, old: &Value) {
    let sent = new.get("spec").cloned().unwrap_or_default();
    for field in ["spec", "status"] {
        carry_over(new, old, field);
    }
    carry_over(child(new, "spec"), &sent, "ephemeralContainers");
    meta::remove(new, "deletionTimestamp");
    for field in ["labels", "annotations", "finalizers", "ownerReferences"] {
        meta::carry_over(new, old, field);
    }
}

/// Findings about what joins a pod.
pub(super) fn changes(new: &Value, old: &Value) -> Findings {
    if is_mirror_pod(old) {
        return vec![FieldError::forbidden("[]", "static pods do not support ephemeral containers")];
    }
    let mut errors = pod_and_spec(new);
    let now = items(new, "/spec/ephemeralContainers");
    for container in items(old, "/spec/ephemeralContainers") {
        let name = text(container, "/name");
        let fate = match now.iter().rfind(|other| text(other, "/name") == name) {
            None => "removed\n".to_string(),
            Some(other) if !equal(Some(other), Some(container)) => {
                format!("changed\n{}", differences(other, container))
            }
            Some(_) => continue,
        };
        let detail = format!("existing ephemeral containers {name:?} may not be {fate}");
        errors.push(FieldError::forbidden("spec.ephemeralContainers", detail));
    }
    errors
}

/// `validateEphemeralContainers`.
pub(super) fn containers(errors: &mut Findings, spec: &Value, volumes: &[&str]) {
    let others: Vec<&str> = ["/containers", "/initContainers"]
        .iter()
        .flat_map(|list| items(spec, list))
        .map(|container| text(container, "/name"))
        .collect();
    let all = items(spec, "/ephemeralContainers");
    for (index, container) in all.iter().enumerate() {
        let path = format!("spec.ephemeralContainers[{index}]");
        common(errors, &path, container, spec, volumes);
        let (name, image) = (text(container, "/name"), text(container, "/image"));
        if image.trim() != image {
            let detail = "must not have leading or trailing whitespace";
            errors.push(FieldError::invalid(format!("{path}.image"), &image.into(), detail));
        }
        if others.contains(&name) || all[..index].iter().any(|other| text(other, "/name") == name) {
            errors.push(FieldError::duplicate(format!("{path}.name"), &name.into()));
        }
        let target = text(container, "/targetContainerName");
        if !target.is_empty() && !others.contains(&target) {
            errors.push(FieldError::not_found(format!("{path}.targetContainerName"), &target.into()));
        }
        const DETAIL: &str = "cannot be set for an Ephemeral Container";
        for field in NOT_FOR_THEM.iter().filter(|field| is_set(container, field)) {
            errors.push(FieldError::forbidden(format!("{path}.{field}"), DETAIL));
        }
        for (index, mount) in items(container, "/volumeMounts").iter().enumerate() {
            for field in ["subPath", "subPathExpr"] {
                if !mount[field].as_str().unwrap_or_default().is_empty() {
                    errors.push(FieldError::forbidden(format!("{path}.volumeMounts[{index}].{field}"), DETAIL));
                }
            }
        }
    }
}

/// Whether Go would not take the field for its zero value. Resources and lists may be there and hold nothing.
fn is_set(container: &Value, field: &str) -> bool {
    match &container[field] {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => field != "resources" || !fields.is_empty(),
        _ => true,
    }
}
