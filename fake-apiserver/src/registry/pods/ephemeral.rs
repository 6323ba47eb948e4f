//! The subresource `ephemeralcontainers`: containers can be added to a pod, but neither changed nor removed.
//!
//! Follows `podEphemeralContainersStrategy` of `pkg/registry/core/pod/strategy.go` and
//! `ValidatePodEphemeralContainersUpdate` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::update::container_type;
use super::validate::{self, SPEC};
use crate::diff;
use crate::error::{Errors, Path};
use crate::object::generation::equal_as;
use crate::object::meta;
use crate::registry::{carry_over, child, is_mirror_pod, items, text};
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
    let now: HashMap<&str, &Value> =
        items(new, "/spec/ephemeralContainers").iter().map(|container| (text(container, "/name"), container)).collect();
    let ty = container_type("ephemeralContainers");
    for container in items(old, "/spec/ephemeralContainers") {
        let name = text(container, "/name");
        let change = match now.get(name) {
            None => "removed\n".to_string(),
            Some(other) if !equal_as(ty, Some(other), Some(container)) => {
                format!("changed\n{}", ty.map(|ty| diff::structs(ty, container, other)).unwrap_or_default())
            }
            Some(_) => continue,
        };
        let detail = format!("existing ephemeral containers {name:?} may not be {change}");
        errors.forbidden(SPEC.child("ephemeralContainers"), detail);
    }
}
