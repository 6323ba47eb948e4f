//! `ProjectedVolumeSource`, and the rules that it shares with the volumes that it projects: keys and fields that become files.
//!
//! Follows `validateProjectedVolumeSource`, `validateKeyToPath` and `validateDownwardAPIVolumeFile` of
//! `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::field_selector::{OF_FILES, object_field, resource_field};
use super::file::{local_path, mode};
use crate::error::{Errors, Path};
use crate::registry::{items, number, text};
use std::collections::HashSet;
use tree::Value;

/// Rules for the sources of a projected volume.
pub(super) fn projected(volume: Path<'_>, projected: &Value, errors: &mut Errors) {
    let mut paths = HashSet::new();
    let mut once = |source: &Value, name: Option<&str>, errors: &mut Errors| {
        for path in items(source, "/items").iter().map(|item| text(item, "/path")).filter(|path| !path.is_empty()) {
            if !paths.insert(path.to_owned()) {
                errors.invalid(volume, name.unwrap_or(path), "conflicting duplicate paths");
            }
        }
    };
    for (index, source) in items(projected, "/sources").iter().enumerate() {
        let at = volume.item("sources", index);
        for field in ["secret", "configMap"] {
            let Some(source) = source.get(field) else { continue };
            let at = at.child(field);
            errors.set(at.child("name"), text(source, "/name"));
            key_to_path(at.child("items"), source, errors);
            once(source, Some(text(source, "/name")), errors);
        }
        if let Some(source) = source.get("downwardAPI") {
            downward_api(at.child("downwardAPI"), source, errors);
            once(source, None, errors);
        }
        if let Some(token) = source.get("serviceAccountToken") {
            service_account_token(volume, at.child("serviceAccountToken"), token, errors);
        }
        if source.as_object().is_some_and(|sources| sources.len() > 1) {
            errors.forbidden(at, "may not specify more than 1 volume type per source");
        }
    }
}

fn service_account_token(volume: Path<'_>, at: Path<'_>, token: &Value, errors: &mut Errors) {
    let seconds = number(token, "/expirationSeconds").unwrap_or_default();
    let detail = match seconds {
        ..600 => Some("may not specify a duration less than 10 minutes"),
        4_294_967_297.. => Some("may not specify a duration larger than 2^32 seconds"),
        _ => None,
    };
    if let Some(detail) = detail {
        errors.invalid(at.child("expirationSeconds"), seconds, detail);
    }
    // The real server reports its path as one of the volume.
    match text(token, "/path") {
        "" => errors.required(volume.child("path"), ""),
        file => local_path(volume.child("path"), file, errors),
    }
}

/// Rules for the keys of a secret or config map that become files.
pub(super) fn key_to_path(at: Path<'_>, source: &Value, errors: &mut Errors) {
    for (index, key) in items(source, "/items").iter().enumerate() {
        let at = at.index(index);
        errors.set(at.child("key"), text(key, "/key"));
        errors.set(at.child("path"), text(key, "/path"));
        local_path(at.child("path"), text(key, "/path"), errors);
        mode(at.child("mode"), &key["mode"], errors);
    }
}

/// Rules for the fields of a pod that become files. Upstream does not say which of them is wrong.
pub(super) fn downward_api(at: Path<'_>, source: &Value, errors: &mut Errors) {
    for file in items(source, "/items") {
        errors.set(at.child("path"), text(file, "/path"));
        local_path(at.child("path"), text(file, "/path"), errors);
        match (file.get("fieldRef"), file.get("resourceFieldRef")) {
            (Some(field), resource) => {
                object_field(at.child("fieldRef"), field, OF_FILES, errors);
                if resource.is_some() {
                    errors.invalid(at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
                }
            }
            (None, Some(resource)) => resource_field(at.child("resourceFieldRef"), resource, true, errors),
            (None, None) => errors.required(at, "one of fieldRef and resourceFieldRef is required"),
        }
        mode(at.child("mode"), &file["mode"], errors);
    }
}

/// The rule that a pod without an account has no projected tokens.
pub(in crate::registry) fn no_tokens(at: Path<'_>, volumes: &[Value], errors: &mut Errors) {
    for (index, volume) in volumes.iter().enumerate() {
        for (source_index, source) in items(volume, "/projected/sources").iter().enumerate() {
            if source.get("serviceAccountToken").is_some() {
                let at = at.index(index);
                let at = at.item("projected.sources", source_index);
                let detail = "must not be specified when serviceAccountName is not set";
                errors.forbidden(at.child("serviceAccountToken"), detail);
            }
        }
    }
}
