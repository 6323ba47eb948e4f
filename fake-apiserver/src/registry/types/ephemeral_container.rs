//! `EphemeralContainer`: a container that joins a running pod.
//!
//! Follows `validateEphemeralContainers` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::container::{Scope, common, trimmed_image};
use crate::error::Errors;
use crate::registry::cursor::At;
use std::collections::HashSet;

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
    let lists = ["containers", "initContainers"].map(|list| pod.field(list));
    let containers = lists.iter().flat_map(|list| list.items());
    let others: HashSet<&str> = containers.map(|container| container.field("name").text()).collect();
    let mut names = HashSet::new();
    for container in pod.field("ephemeralContainers").items() {
        common(container, scope, errors);
        trimmed_image(container, errors);
        let name = container.field("name");
        if !names.insert(name.text()) || others.contains(name.text()) {
            name.duplicate(errors);
        }
        let target = container.field("targetContainerName");
        if !target.is_empty() && !others.contains(target.text()) {
            target.not_found(errors);
        }
        const DETAIL: &str = "cannot be set for an Ephemeral Container";
        for field in FORBIDDEN.map(|field| container.field(field)).iter().filter(|field| is_set(field)) {
            field.forbidden(DETAIL, errors);
        }
        for mount in container.field("volumeMounts").items() {
            for path in
                ["subPath", "subPathExpr"].map(|field| mount.field(field)).iter().filter(|path| !path.is_empty())
            {
                path.forbidden(DETAIL, errors);
            }
        }
    }
}

/// Whether the field is not Go's zero value. A struct is zero only if it is empty, a pointer to one only if it is not there.
fn is_set(field: &At<'_, '_>) -> bool {
    match field.ty().is_some_and(|ty| ty.go_kind() == "ptr") {
        true => field.is_set(),
        false => !field.is_empty(),
    }
}
