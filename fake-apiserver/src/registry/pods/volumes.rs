//! What is wrong with a pod's volumes.
//!
//! Follows `ValidateVolumes` of `pkg/apis/core/validation/validation.go` (v1.37.1), for the sources that tests use:
//! hostPath, emptyDir, secret, configMap, downwardAPI, persistentVolumeClaim and projected. Others are only counted.

use super::validate::{Findings, required};
use crate::error::FieldError;
use crate::object::name;
use crate::object::validate::objections;
use crate::registry::{items, text};
use serde_json::{Map, Value};

/// `spec.volumes`; the names of those with which nothing is wrong, for others cannot be mounted.
pub(super) fn volumes<'s>(errors: &mut Findings, spec: &'s Value) -> Vec<&'s str> {
    let mut sound = Vec::new();
    for (index, volume) in items(spec, "/volumes").iter().enumerate() {
        let path = format!("spec.volumes[{index}]");
        let mut own_errors = Vec::new();
        source(&mut own_errors, &path, volume);
        let own_name = text(volume, "/name");
        let path = format!("{path}.name");
        match own_name {
            "" => own_errors.push(FieldError::required(path, "")),
            _ => {
                own_errors.extend(objections(&path, own_name, name::dns_label(own_name)));
                if sound.contains(&own_name) {
                    own_errors.push(FieldError::duplicate(path, &own_name.into()));
                }
            }
        }
        match own_errors.is_empty() {
            true => sound.push(own_name),
            false => errors.extend(own_errors),
        }
    }
    sound
}

/// In the order in which the real server looks, since only the first counts.
fn source(errors: &mut Findings, path: &str, volume: &Value) {
    let sources = volume.as_object().into_iter().flat_map(Map::keys).filter(|key| *key != "name");
    let mut sources: Vec<&str> = sources.map(String::as_str).collect();
    sources.sort_by_key(|source| *source != "emptyDir");
    for extra in sources.iter().skip(1) {
        errors.push(FieldError::forbidden(format!("{path}.{extra}"), "may not specify more than 1 volume type"));
    }
    let field = |pointer: &str| text(volume, pointer);
    match sources.first().copied().unwrap_or_default() {
        "hostPath" => {
            let value = field("/hostPath/path");
            required(errors, format!("{path}.hostPath.path"), value);
            if value.split('/').any(|part| part == "..") {
                let detail = "must not contain '..'";
                errors.push(FieldError::invalid(format!("{path}.hostPath.path"), &value.into(), detail));
            }
        }
        "secret" => {
            required(errors, format!("{path}.secret.secretName"), field("/secret/secretName"));
            mode(errors, &format!("{path}.secret.defaultMode"), &volume["secret"]["defaultMode"]);
            keys(errors, &format!("{path}.secret"), &volume["secret"]);
        }
        "configMap" => {
            required(errors, format!("{path}.configMap.name"), field("/configMap/name"));
            mode(errors, &format!("{path}.configMap.defaultMode"), &volume["configMap"]["defaultMode"]);
            keys(errors, &format!("{path}.configMap"), &volume["configMap"]);
        }
        "downwardAPI" => {
            let path = format!("{path}.downwardAPI");
            mode(errors, &format!("{path}.defaultMode"), &volume["downwardAPI"]["defaultMode"]);
            files(errors, &path, &volume["downwardAPI"]);
        }
        "emptyDir" if field("/emptyDir/sizeLimit").starts_with('-') => {
            let detail = "SizeLimit field must be a valid resource quantity";
            errors.push(FieldError::forbidden(format!("{path}.emptyDir.sizeLimit"), detail));
        }
        "persistentVolumeClaim" => {
            let value = field("/persistentVolumeClaim/claimName");
            required(errors, format!("{path}.persistentVolumeClaim.claimName"), value);
        }
        "projected" => projected(errors, &format!("{path}.projected"), volume),
        "" => errors.push(FieldError::required(path, "must specify a volume type")),
        _ => {}
    }
}

fn projected(errors: &mut Findings, path: &str, volume: &Value) {
    mode(errors, &format!("{path}.defaultMode"), &volume["projected"]["defaultMode"]);
    for (index, source) in items(volume, "/projected/sources").iter().enumerate() {
        let at = format!("{path}.sources[{index}]");
        for field in ["secret", "configMap"] {
            let Some(source) = source.get(field) else { continue };
            required(errors, format!("{at}.{field}.name"), text(source, "/name"));
            keys(errors, &format!("{at}.{field}"), source);
        }
        if let Some(source) = source.get("downwardAPI") {
            files(errors, &format!("{at}.downwardAPI"), source);
        }
        if let Some(token) = source.get("serviceAccountToken") {
            projected_token(errors, path, &format!("{at}.serviceAccountToken"), token);
        }
        if source.as_object().is_some_and(|sources| sources.len() > 1) {
            errors.push(FieldError::forbidden(at, "may not specify more than 1 volume type per source"));
        }
    }
}

fn projected_token(errors: &mut Findings, path: &str, at: &str, token: &Value) {
    let seconds = token.get("expirationSeconds").and_then(Value::as_i64).unwrap_or_default();
    let detail = match seconds {
        ..600 => Some("may not specify a duration less than 10 minutes"),
        4_294_967_297.. => Some("may not specify a duration larger than 2^32 seconds"),
        _ => None,
    };
    errors.extend(detail.map(|detail| FieldError::invalid(format!("{at}.expirationSeconds"), &seconds.into(), detail)));
    // Its path has ever been misplaced.
    let path = format!("{path}.path");
    match text(token, "/path") {
        "" => errors.push(FieldError::required(path, "")),
        file => local_path(errors, &path, file),
    }
}

/// The keys of a secret or config map that become files.
fn keys(errors: &mut Findings, path: &str, source: &Value) {
    for (index, key) in items(source, "/items").iter().enumerate() {
        let path = format!("{path}.items[{index}]");
        required(errors, format!("{path}.key"), text(key, "/key"));
        required(errors, format!("{path}.path"), text(key, "/path"));
        local_path(errors, &format!("{path}.path"), text(key, "/path"));
        mode(errors, &format!("{path}.mode"), &key["mode"]);
    }
}

/// What a pod is told of itself, as files. Upstream does not say which of them is wrong.
fn files(errors: &mut Findings, path: &str, source: &Value) {
    for file in items(source, "/items") {
        required(errors, format!("{path}.path"), text(file, "/path"));
        local_path(errors, &format!("{path}.path"), text(file, "/path"));
        match (file.get("fieldRef"), file.get("resourceFieldRef")) {
            (Some(_), Some(_)) => {
                let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
                errors.push(FieldError::invalid(path, &"resource".into(), detail));
            }
            (None, None) => errors.push(FieldError::required(path, "one of fieldRef and resourceFieldRef is required")),
            _ => {}
        }
        mode(errors, &format!("{path}.mode"), &file["mode"]);
    }
}

fn mode(errors: &mut Findings, path: &str, mode: &Value) {
    if mode.as_i64().is_some_and(|mode| !(0..=0o777).contains(&mode)) {
        errors.push(FieldError::invalid(path, mode, "must be a number between 0 and 0777 (octal), both inclusive"));
    }
}

/// `ValidateLocalNonReservedPath`.
fn local_path(errors: &mut Findings, path: &str, file: &str) {
    descending_path(errors, path, file);
    if file.starts_with("..") && !file.starts_with("../") {
        errors.push(FieldError::invalid(path, &file.into(), "must not start with '..'"));
    }
}

/// `validateLocalDescendingPath`.
pub(super) fn descending_path(errors: &mut Findings, path: &str, file: &str) {
    if file.starts_with('/') {
        errors.push(FieldError::invalid(path, &file.into(), "must be a relative path"));
    }
    if file.split('/').any(|part| part == "..") {
        errors.push(FieldError::invalid(path, &file.into(), "must not contain '..'"));
    }
}
