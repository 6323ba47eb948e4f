//! What is wrong with a pod's volumes.
//!
//! Follows `ValidateVolumes` of `pkg/apis/core/validation/validation.go` (v1.37.1), for the sources that tests use:
//! hostPath, secret, configMap, persistentVolumeClaim and projected. Others are only counted.

use super::validate::{Findings, required};
use crate::error::FieldError;
use crate::object::name;
use crate::object::validate::objections;
use crate::registry::{items, text};
use serde_json::{Map, Value};

/// `spec.volumes`.
pub(super) fn volumes(errors: &mut Findings, spec: &Value) {
    let all = items(spec, "/volumes");
    for (index, volume) in all.iter().enumerate() {
        let path = format!("spec.volumes[{index}]");
        source(errors, &path, volume);
        let own_name = text(volume, "/name");
        let path = format!("{path}.name");
        match own_name {
            "" => errors.push(FieldError::required(path, "")),
            _ => {
                let bad = name::dns_label(own_name);
                let duplicate = bad.is_empty() && all[..index].iter().any(|other| text(other, "/name") == own_name);
                errors.extend(objections(&path, own_name, bad));
                if duplicate {
                    errors.push(FieldError::duplicate(path, &own_name.into()));
                }
            }
        }
    }
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
        "secret" => required(errors, format!("{path}.secret.secretName"), field("/secret/secretName")),
        "configMap" => required(errors, format!("{path}.configMap.name"), field("/configMap/name")),
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
    for (index, source) in items(volume, "/projected/sources").iter().enumerate() {
        let Some(token) = source.get("serviceAccountToken") else { continue };
        let at = format!("{path}.sources[{index}].serviceAccountToken");
        let seconds = token.get("expirationSeconds").and_then(Value::as_i64).unwrap_or_default();
        let detail = match seconds {
            ..600 => Some("may not specify a duration less than 10 minutes"),
            4_294_967_297.. => Some("may not specify a duration larger than 2^32 seconds"),
            _ => None,
        };
        errors.extend(
            detail.map(|detail| FieldError::invalid(format!("{at}.expirationSeconds"), &seconds.into(), detail)),
        );
        // Its path has ever been misplaced.
        required(errors, format!("{path}.path"), text(token, "/path"));
    }
}
