//! `ProjectedVolumeSource`, and the rules that it shares with the volumes that it projects: keys and fields that become files.
//!
//! Follows `validateProjectionSources`, `validateKeyToPath` and `validateDownwardAPIVolumeFile` of
//! `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::field_selector::{OF_FILES, object_field, resource_field};
use super::file::{Paths, local_path, mode};
use super::projected_certificates::{pod_certificate, trust_bundle};
use crate::error::{Errors, Path};
use crate::registry::cursor::At;
use crate::registry::{items, number, text};
use tree::Value;

/// Rules for the sources of a projected volume.
pub(super) fn projected(volume: At<'_, '_>, errors: &mut Errors) {
    let mut paths = Paths::default();
    for source in volume.field("sources").items() {
        for field in ["secret", "configMap"] {
            let files = source.field(field);
            if files.is_set() {
                files.field("name").set(errors);
                key_to_path(files.path().child("items"), files.value(), errors);
                items_once(&mut paths, volume.path(), files.value(), Some(files.field("name").text()), errors);
            }
        }
        let fields = source.field("downwardAPI");
        if fields.is_set() {
            downward_api(fields.path(), fields.value(), errors);
            items_once(&mut paths, volume.path(), fields.value(), None, errors);
        }
        let token = source.field("serviceAccountToken");
        if token.is_set() {
            service_account_token(volume.path(), token.path(), token.value(), errors);
        }
        let bundle = source.field("clusterTrustBundle");
        if bundle.is_set() {
            trust_bundle(volume.path(), bundle, &mut paths, errors);
        }
        let certificate = source.field("podCertificate");
        if certificate.is_set() {
            pod_certificate(volume.path(), certificate, &mut paths, errors);
        }
        if source.len() > 1 {
            source.forbidden("may not specify more than 1 volume type per source", errors);
        }
    }
}

/// The rule that the files of a source have paths of their own; findings show `name`, or the path.
fn items_once(paths: &mut Paths, volume: Path<'_>, source: &Value, name: Option<&str>, errors: &mut Errors) {
    for path in items(source, "/items").iter().map(|item| text(item, "/path")).filter(|path| !path.is_empty()) {
        paths.once(volume, path, name.unwrap_or(path), errors);
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
