//! The subresource `ephemeralcontainers`: containers can be added to a pod, but neither changed nor removed.
//!
//! Follows `podEphemeralContainersStrategy` of `pkg/registry/core/pod/strategy.go` and
//! `ValidatePodEphemeralContainersUpdate` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::validate;
use crate::error::{Errors, Path};
use crate::object::meta;
use crate::registry::cursor::At;
use crate::registry::{carry_over, child, is_mirror_pod, text};
use std::collections::HashMap;
use tree::Value;

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

/// Findings about the added containers.
pub(super) fn changes(new: &Value, old: &Value, errors: &mut Errors) {
    if is_mirror_pod(old) {
        return errors.forbidden(Path::new("[]"), "static pods do not support ephemeral containers");
    }
    validate::spec(new, Some(old), errors);
    let (new, old) = (At::object(new, "v1", "Pod"), At::object(old, "v1", "Pod"));
    let (new, old) = (new.field("spec.ephemeralContainers"), old.field("spec.ephemeralContainers"));
    let now: HashMap<&str, At<'_, '_>> =
        new.items().map(|container| (text(container.value(), "/name"), container)).collect();
    for container in old.items() {
        let name = text(container.value(), "/name");
        let change = match now.get(name) {
            None => "removed\n".to_string(),
            Some(other) if !other.equals(&container) => format!("changed\n{}", other.difference_from(&container)),
            Some(_) => continue,
        };
        new.forbidden(format!("existing ephemeral containers {name:?} may not be {change}"), errors);
    }
}
