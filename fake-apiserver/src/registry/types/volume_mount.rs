//! `VolumeMount`: the mount of a volume in a container.
//!
//! Follows `ValidateVolumeMounts` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::file::descending_path;
use crate::error::{Errors, Path};
use crate::registry::text;
use std::collections::HashSet;
use tree::Value;

/// Rules for `volumeMounts`; `volumes` are the names of those that can be mounted.
pub(super) fn volume_mounts(at: Path<'_>, mounts: &[Value], volumes: &HashSet<&str>, errors: &mut Errors) {
    let mut places = HashSet::new();
    for (index, mount) in mounts.iter().enumerate() {
        let item = at.index(index);
        let volume = text(mount, "/name");
        errors.set(item.child("name"), volume);
        if !volumes.contains(volume) {
            errors.not_found(item.child("name"), volume);
        }
        let place = text(mount, "/mountPath");
        errors.set(item.child("mountPath"), place);
        if !places.insert(place) {
            errors.invalid(item.child("mountPath"), place, "must be unique");
        }
        // Upstream does not say which of the mounts is wrong.
        descending_path(at.child("subPath"), text(mount, "/subPath"), errors);
    }
}
