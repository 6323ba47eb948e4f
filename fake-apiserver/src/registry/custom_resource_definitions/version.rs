//! A version of a definition.
//!
//! Follows `validateCustomResourceDefinitionVersion` and its callees in `pkg/apis/apiextensions/validation/validation.go` of
//! `k8s.io/apiextensions-apiserver` (v0.37.1).

use super::leniency::Leniency;
use super::printed::quoted;
use super::versions::{self, Shared, Versions, has_status};
use super::visit::word;
use super::{flag, items, root, selectable, text};
use crate::error::{Errors, FieldError, Path};
use crate::schema::is_printable;
use std::collections::HashSet;
use tree::Value;

/// `validateCustomResourceDefinitionVersion`.
pub(super) fn version(
    at: Path<'_>,
    version: &Value,
    versions: &Versions<'_>,
    leniency: &Leniency,
    errors: &mut Errors,
) {
    if let Some(warning) = version.get("deprecationWarning").and_then(Value::as_str) {
        for objection in deprecation_warning(warning, flag(version, "/deprecated")) {
            let printed = quoted(&Value::from(warning));
            errors.push(FieldError::invalid_printed(at.child("deprecationWarning"), printed, objection));
        }
    }
    let name = word(version, "name");
    let namesake = versions.named(name).unwrap_or(version);
    let schema = versions.own(version, Shared::Schema);
    if let Some(schema) = schema {
        let leniency = leniency.of_version(name);
        validation(at.child("schema"), schema, has_status(namesake), &leniency, errors);
    }
    subresources(at.child("subresources"), versions.own(version, Shared::Subresources), errors);
    columns(at.child("additionalPrinterColumns"), versions.own(version, Shared::Columns), errors);
    if let Some(Value::Array(fields)) = versions.own(version, Shared::SelectableFields) {
        let here = at.child("selectableFields");
        match schema.and_then(|schema| schema.get("openAPIV3Schema")) {
            // Upstream's message says the opposite of what it means.
            None => {
                errors.invalid(here, "", "may only be set when `version.schema.openAPIV3Schema` is not included");
            }
            schema => {
                let too_many = leniency.may_have_too_many(name);
                selectable::fields(here, at, fields, schema, too_many, errors);
            }
        }
    }
}

/// `validateCustomResourceDefinitionValidation`.
pub(super) fn validation(at: Path<'_>, schema: &Value, status: bool, leniency: &Leniency, errors: &mut Errors) {
    if let Some(schema) = schema.get("openAPIV3Schema") {
        root::schema(at, schema, status, leniency, errors);
    }
}

/// `validateDeprecationWarning`.
fn deprecation_warning(warning: &str, deprecated: bool) -> Vec<String> {
    if !deprecated {
        return vec!["can only be set for deprecated versions".into()];
    }
    let mut objections = Vec::new();
    if warning.len() > 256 {
        objections.push("must be <= 256 characters long".into());
    }
    if warning.is_empty() {
        objections.push("must not be an empty string".into());
    }
    if let Some((index, _)) = warning.char_indices().find(|(_, char)| !is_printable(*char)) {
        objections.push(format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {index}"
        ));
    }
    objections
}

/// `ValidateCustomResourceDefinitionSubresources`.
pub(super) fn subresources(at: Path<'_>, subresources: Option<&Value>, errors: &mut Errors) {
    let Some(scale) = subresources.and_then(|subresources| subresources.get("scale")) else { return };
    for (field, below) in [("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")] {
        let (name, path) = (format!("scale.{field}"), word(scale, field));
        let at = at.child(&name);
        if path.is_empty() {
            errors.required(at, "");
        } else if simple_path(at, path, errors) && !path.starts_with(below) {
            errors.invalid(at, path, format!("should be a json path under {}", below.trim_end_matches('.')));
        }
    }
    let (at, path) = (at.child("scale.labelSelectorPath"), word(scale, "labelSelectorPath"));
    let is_below = [".spec.", ".status."].iter().any(|below| path.starts_with(below));
    if !path.is_empty() && simple_path(at, path, errors) && !is_below {
        let detail = "should be a json path under either .spec or .status";
        errors.push(FieldError::invalid_printed(at, quoted(&Value::from(path)), detail));
    }
}

/// `ValidateCustomResourceColumnDefinition`, of all columns.
pub(super) fn columns(at: Path<'_>, columns: Option<&Value>, errors: &mut Errors) {
    const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
    const FORMATS: [&str; 8] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
    let columns = columns.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (index, column) in columns.iter().enumerate() {
        let at = at.index(index);
        errors.set(at.child("name"), word(column, "name"));
        let must = |supported: &[&str]| format!("must be one of {}", supported.join(","));
        match word(column, "type") {
            "" => errors.required(at.child("type"), &must(&TYPES)),
            type_ if !TYPES.contains(&type_) => errors.invalid(at.child("type"), type_, must(&TYPES)),
            _ => {}
        }
        match word(column, "format") {
            format if format.is_empty() || FORMATS.contains(&format) => {}
            format => errors.invalid(at.child("format"), format, must(&FORMATS)),
        }
        match word(column, "jsonPath") {
            "" => errors.required(at.child("JSONPath"), ""),
            path => _ = simple_path(at.child("JSONPath"), path, errors),
        }
    }
}

/// `validateSimpleJSONPath`; returns whether the path is valid.
fn simple_path(at: Path<'_>, path: &str, errors: &mut Errors) -> bool {
    let good = path.starts_with('.');
    if !good {
        errors.invalid(at, path, "must be a simple json path starting with .");
    }
    good
}

/// `ValidateCustomResourceDefinitionStoredVersions`; upstream reports missing versions in the order of a map.
pub(super) fn stored(definition: &Value, errors: &mut Errors) {
    let at = Path::new("status.storedVersions");
    let stored = items(definition, "/status/storedVersions");
    let all = definition.pointer("/status/storedVersions").cloned().unwrap_or_default();
    if stored.is_empty() {
        return errors.invalid(at, all, "must have at least one stored version");
    }
    let mut left: HashSet<&str> = stored.iter().filter_map(Value::as_str).collect();
    for version in versions::of(definition) {
        // A repeated name is reported once.
        let name = text(version, "/name");
        if !left.remove(name) && flag(version, "/storage") {
            errors.invalid(at, all.clone(), format!("must have the storage version {name}"));
        }
    }
    for (index, name) in stored.iter().enumerate() {
        let name = name.as_str().unwrap_or_default();
        let last = stored.iter().rposition(|stored| stored == name) == Some(index);
        if last && left.contains(name) {
            let detail = format!(
                "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until \
                 a storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
            );
            errors.invalid(at.index(index), name, detail);
        }
    }
}
