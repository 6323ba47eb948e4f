//! `VolumeMount` and `VolumeDevice`: the use of a volume in a container.
//!
//! Follows `ValidateVolumeMounts` and `ValidateVolumeDevices` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::file::descending_path;
use crate::error::Errors;
use crate::registry::cursor::At;
use crate::registry::{items, text};
use std::collections::HashSet;
use tree::Value;

/// The texts that a field of the items in a list has.
fn texts<'c>(container: &'c Value, list: &str, field: &str) -> HashSet<&'c str> {
    items(container, list).iter().map(|item| text(item, field)).collect()
}

/// Rules for `volumeMounts` of a container; `volumes` are the names of those that can be mounted.
pub(super) fn volume_mounts(container: &At<'_, '_>, volumes: &HashSet<&str>, errors: &mut Errors) {
    let devices = texts(container.value(), "/volumeDevices", "/name");
    let device_paths = texts(container.value(), "/volumeDevices", "/devicePath");
    let mut places = HashSet::new();
    let mounts = container.field("volumeMounts");
    for mount in mounts.items() {
        let (volume, place) = (mount.field("name"), mount.field("mountPath"));
        volume.set(errors);
        if !volumes.contains(volume.text()) {
            volume.not_found(errors);
        }
        place.set(errors);
        if !places.insert(place.text()) {
            place.invalid("must be unique", errors);
        }
        if devices.contains(volume.text()) {
            volume.invalid("must not already exist in volumeDevices", errors);
        }
        if device_paths.contains(place.text()) {
            place.invalid("must not already exist as a path in volumeDevices", errors);
        }
        let (path, expression) = (mount.field("subPath"), mount.field("subPathExpr"));
        // From here on upstream mostly does not say which of the mounts is wrong.
        descending_path(mounts.path().child("subPath"), path.text(), errors);
        if !path.is_empty() && !expression.is_empty() {
            expression.invalid("subPathExpr and subPath are mutually exclusive", errors);
        }
        descending_path(mounts.path().child("subPathExpr"), expression.text(), errors);
        let propagation = mount.field("mountPropagation");
        self::propagation(propagation.shown_at(mounts.path().child("mountPropagation")), container, errors);
        let read_only = mount.field("recursiveReadOnly");
        self::read_only(read_only.shown_at(mounts.path().child("recursiveReadOnly")), &mount, errors);
    }
}

/// `validateMountPropagation`.
fn propagation(propagation: At<'_, '_>, container: &At<'_, '_>, errors: &mut Errors) {
    if !propagation.is_set() {
        return;
    }
    propagation.supported(&["Bidirectional", "HostToContainer", "None"], errors);
    if propagation.text() == "Bidirectional" && !container.field("securityContext.privileged").flag() {
        let detail = "Bidirectional mount propagation is available only to privileged containers";
        propagation.forbidden(detail, errors);
    }
}

/// `validateMountRecursiveReadOnly`.
fn read_only(recursive: At<'_, '_>, mount: &At<'_, '_>, errors: &mut Errors) {
    match recursive.text() {
        _ if !recursive.is_set() => {}
        "Disabled" => {}
        "Enabled" | "IfPossible" => {
            if !mount.field("readOnly").flag() {
                recursive.forbidden("may only be specified when readOnly is true", errors);
            }
            let propagation = mount.field("mountPropagation");
            if propagation.is_set() && propagation.text() != "None" {
                recursive.forbidden("may only be specified when mountPropagation is None or not specified", errors);
            }
        }
        _ => recursive.supported(&["Disabled", "Enabled", "IfPossible"], errors),
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
