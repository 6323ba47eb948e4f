//! `EnvVar` and `EnvFromSource`: the environment of a container.
//!
//! Follows `ValidateEnv` and `ValidateEnvFrom` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::field_selector::{OF_VARIABLES, object_field, resource_field};
use crate::error::Errors;
use crate::object::name;
use crate::registry::cursor::At;

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
pub(super) fn env(variables: At<'_, '_>, errors: &mut Errors) {
    for variable in variables.items() {
        let name = variable.field("name");
        name.set(errors);
        name.follows(variable_name, errors);
        let from = variable.field("valueFrom");
        if from.is_set() {
            env_var_source(from, !variable.field("value").is_empty(), errors);
        }
    }
}

/// Rules for `valueFrom` of a variable, which may have a value as well.
fn env_var_source(from: At<'_, '_>, has_value: bool, errors: &mut Errors) {
    let sources = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];
    let mut count = 0;
    for source in sources {
        let reference = from.field(source);
        if !reference.is_set() {
            continue;
        }
        count += 1;
        match source {
            "fieldRef" => object_field(reference.path(), reference.value(), OF_VARIABLES, errors),
            "resourceFieldRef" => resource_field(reference.path(), reference.value(), false, errors),
            "configMapKeyRef" | "secretKeyRef" => {
                reference.field("name").follows(name::dns_subdomain, errors);
                reference.field("key").required_by(name::data_key, errors);
            }
            _ => {}
        }
    }
    let detail = match count {
        0 => "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
        _ if has_value => "may not be specified when `value` is not empty",
        1 => return,
        _ => "may not have more than one field specified at a time",
    };
    from.invalid_value("", detail, errors);
}

/// Rules for `envFrom`.
pub(super) fn env_from(sources: At<'_, '_>, errors: &mut Errors) {
    for source in sources.items() {
        source.field("prefix").follows(variable_name, errors);
        let mut count = 0;
        for reference in ["configMapRef", "secretRef"].map(|one| source.field(one)).iter().filter(|one| one.is_set()) {
            count += 1;
            reference.field("name").required_by(name::dns_subdomain, errors);
        }
        let detail = match count {
            0 => "must specify one of: `configMapRef` or `secretRef`",
            1 => continue,
            _ => "may not have more than one field specified at a time",
        };
        // The real server leaves out which.
        sources.invalid_value("", detail, errors);
    }
}
