//! `EnvVar` and `EnvFromSource`: the environment of a container.
//!
//! Follows `ValidateEnv` and `ValidateEnvFrom` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::field_selector::{OF_VARIABLES, object_field, resource_field};
use crate::error::{Errors, Path};
use crate::object::name;
use crate::registry::text;
use tree::Value;

/// `IsRelaxedEnvVarName`.
fn variable_name(text: &str) -> Vec<String> {
    const DETAIL: &str =
        "a valid environment variable name must consist only of printable ASCII characters other than '='";
    match text.bytes().all(|byte| (b' '..=b'~').contains(&byte) && byte != b'=') {
        true => Vec::new(),
        false => vec![DETAIL.into()],
    }
}

/// Rules for `env`.
pub(super) fn env(at: Path<'_>, variables: &[Value], errors: &mut Errors) {
    for (index, variable) in variables.iter().enumerate() {
        let at = at.index(index);
        let name = text(variable, "/name");
        errors.set(at.child("name"), name);
        errors.invalid_each(at.child("name"), name, variable_name(name));
        if let Some(from) = variable.get("valueFrom") {
            env_var_source(at.child("valueFrom"), from, !text(variable, "/value").is_empty(), errors);
        }
    }
}

/// Rules for `valueFrom` of a variable, which may have a value as well.
fn env_var_source(at: Path<'_>, from: &Value, has_value: bool, errors: &mut Errors) {
    let sources = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];
    let mut count = 0;
    for (source, reference) in sources.iter().filter_map(|source| Some((*source, from.get(source)?))) {
        count += 1;
        let at = at.child(source);
        match source {
            "fieldRef" => object_field(at, reference, OF_VARIABLES, errors),
            "resourceFieldRef" => resource_field(at, reference, false, errors),
            "configMapKeyRef" | "secretKeyRef" => key_selector(at, reference, errors),
            _ => {}
        }
    }
    let detail = match count {
        0 => "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
        _ if has_value => "may not be specified when `value` is not empty",
        1 => return,
        _ => "may not have more than one field specified at a time",
    };
    errors.invalid(at, "", detail);
}

/// Rules for a key of a secret or a config map.
fn key_selector(at: Path<'_>, reference: &Value, errors: &mut Errors) {
    let object = text(reference, "/name");
    errors.invalid_each(at.child("name"), object, name::dns_subdomain(object));
    match text(reference, "/key") {
        "" => errors.required(at.child("key"), ""),
        key => errors.invalid_each(at.child("key"), key, name::data_key(key)),
    }
}

/// Rules for `envFrom`.
pub(super) fn env_from(at: Path<'_>, sources: &[Value], errors: &mut Errors) {
    for (index, source) in sources.iter().enumerate() {
        let item = at.index(index);
        let prefix = text(source, "/prefix");
        errors.invalid_each(item.child("prefix"), prefix, variable_name(prefix));
        let mut count = 0;
        for (field, reference) in ["configMapRef", "secretRef"].iter().filter_map(|one| Some((one, source.get(one)?))) {
            count += 1;
            let at = item.child(field);
            match text(reference, "/name") {
                "" => errors.required(at.child("name"), ""),
                object => errors.invalid_each(at.child("name"), object, name::dns_subdomain(object)),
            }
        }
        let detail = match count {
            0 => "must specify one of: `configMapRef` or `secretRef`",
            1 => continue,
            _ => "may not have more than one field specified at a time",
        };
        // The real server leaves out which.
        errors.invalid(at, "", detail);
    }
}
