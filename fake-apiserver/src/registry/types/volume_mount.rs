//! `VolumeMount` and `VolumeDevice`: the use of a volume in a container.
//!
//! Follows `ValidateVolumeMounts` and `ValidateVolumeDevices` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::file::descending_path;
use crate::error::{Errors, Path};
use crate::registry::cursor::At;
use crate::registry::{flag, items, text};
use std::collections::HashSet;
use tree::Value;

/// The texts that a field of the items in a list has.
fn texts<'c>(container: &'c Value, list: &str, field: &str) -> HashSet<&'c str> {
    items(container, list).iter().map(|item| text(item, field)).collect()
}

/// Rules for `volumeMounts` of a container; `volumes` are the names of those that can be mounted.
pub(super) fn volume_mounts(at: Path<'_>, container: &Value, volumes: &HashSet<&str>, errors: &mut Errors) {
    let devices = texts(container, "/volumeDevices", "/name");
    let device_paths = texts(container, "/volumeDevices", "/devicePath");
    let mut places = HashSet::new();
    for (index, mount) in items(container, "/volumeMounts").iter().enumerate() {
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
        if devices.contains(volume) {
            errors.invalid(item.child("name"), volume, "must not already exist in volumeDevices");
        }
        if device_paths.contains(place) {
            errors.invalid(item.child("mountPath"), place, "must not already exist as a path in volumeDevices");
        }
        // From here on upstream does not say which of the mounts is wrong.
        let (path, expression) = (text(mount, "/subPath"), text(mount, "/subPathExpr"));
        descending_path(at.child("subPath"), path, errors);
        if !path.is_empty() && !expression.is_empty() {
            let detail = "subPathExpr and subPath are mutually exclusive";
            errors.invalid(item.child("subPathExpr"), expression, detail);
        }
        descending_path(at.child("subPathExpr"), expression, errors);
        propagation(at.child("mountPropagation"), mount, container, errors);
        read_only(at.child("recursiveReadOnly"), mount, errors);
    }
}

/// `validateMountPropagation`.
fn propagation(at: Path<'_>, mount: &Value, container: &Value, errors: &mut Errors) {
    let Some(propagation) = mount["mountPropagation"].as_str() else { return };
    errors.supported(at, propagation, &["Bidirectional", "HostToContainer", "None"]);
    if propagation == "Bidirectional" && !flag(container, "/securityContext/privileged") {
        errors.forbidden(at, "Bidirectional mount propagation is available only to privileged containers");
    }
}

/// `validateMountRecursiveReadOnly`.
fn read_only(at: Path<'_>, mount: &Value, errors: &mut Errors) {
    match mount["recursiveReadOnly"].as_str() {
        None | Some("Disabled") => {}
        Some("Enabled" | "IfPossible") => {
            if !flag(mount, "/readOnly") {
                errors.forbidden(at, "may only be specified when readOnly is true");
            }
            if mount["mountPropagation"].as_str().is_some_and(|propagation| propagation != "None") {
                errors.forbidden(at, "may only be specified when mountPropagation is None or not specified");
            }
        }
        Some(other) => errors.supported(at, other, &["Disabled", "Enabled", "IfPossible"]),
    }
}

/// Rules for `volumeDevices` of a container; `volumes` are the names of the pod's volumes, `devices` of those that can be devices.
pub(super) fn volume_devices(
    container: At<'_, '_>,
    volumes: &HashSet<&str>,
    devices: &HashSet<&str>,
    errors: &mut Errors,
) {
    let mounted = texts(container.value(), "/volumeMounts", "/name");
    let mount_paths = texts(container.value(), "/volumeMounts", "/mountPath");
    let (mut names, mut paths) = (HashSet::new(), HashSet::new());
    for device in container.field("volumeDevices").items() {
        let (name, path) = (device.field("name"), device.field("devicePath"));
        name.set(errors);
        if !name.is_empty() && !names.insert(name.text()) {
            name.invalid("must be unique", errors);
        }
        match (volumes.contains(name.text()), devices.contains(name.text())) {
            (true, false) => {
                let detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                name.invalid(detail, errors);
            }
            (false, _) => name.not_found(errors),
            (true, true) => {}
        }
        path.set(errors);
        if paths.contains(path.text()) {
            path.invalid("must be unique", errors);
        }
        match path.text().split('/').any(|part| part == "..") {
            true => path.invalid("can not contain backsteps ('..')", errors),
            false => drop(paths.insert(path.text())),
        }
        if mounted.contains(name.text()) {
            name.invalid("must not already exist in volumeMounts", errors);
        }
        if mount_paths.contains(path.text()) {
            path.invalid("must not already exist as a path in volumeMounts", errors);
        }
    }
}
