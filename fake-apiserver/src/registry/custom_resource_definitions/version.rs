//! The versions of a definition.
//!
//! Follows `validateCustomResourceDefinitionVersion` and its callees in `pkg/apis/apiextensions/validation/validation.go`, and
//! `Convert_v1_CustomResourceDefinitionSpec_To_apiextensions_CustomResourceDefinitionSpec` of
//! `pkg/apis/apiextensions/v1/conversion.go` of `k8s.io/apiextensions-apiserver` (v0.37.1).

use super::old::Leniency;
use super::visit::word;
use super::{flag, items, root, selectable, text};
use crate::error::{Errors, FieldError, Path};
use crate::schema::{encode_any, is_printable};
use std::collections::HashSet;
use tree::Value;

/// A field of versions that is one of the spec in the internal version, if it is the same in all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shared {
    Schema,
    Subresources,
    Columns,
    SelectableFields,
}

impl Shared {
    pub(super) const ALL: [Shared; 4] =
        [Shared::Schema, Shared::Subresources, Shared::Columns, Shared::SelectableFields];

    pub(super) fn field(self) -> &'static str {
        match self {
            Shared::Schema => "schema",
            Shared::Subresources => "subresources",
            Shared::Columns => "additionalPrinterColumns",
            Shared::SelectableFields => "selectableFields",
        }
    }
}

/// The versions of a definition.
pub(super) struct Versions<'a> {
    all: &'a [Value],
    shared: [bool; 4],
}

impl<'a> Versions<'a> {
    pub(super) fn of(definition: &'a Value) -> Self {
        let all = super::spec::versions(definition);
        let shared = Shared::ALL.map(|shared| {
            let mut values = all.iter().map(|version| version.get(shared.field()));
            let first = values.next();
            values.all(|value| Some(value) == first)
        });
        Versions { all, shared }
    }

    pub(super) fn all(&self) -> &'a [Value] {
        self.all
    }

    /// Whether a field is the same in all versions, or missing.
    pub(super) fn is_shared(&self, field: Shared) -> bool {
        self.shared[field as usize]
    }

    /// The value of a field that is the same in all versions.
    pub(super) fn shared(&self, field: Shared) -> Option<&'a Value> {
        self.all.first().filter(|_| self.is_shared(field))?.get(field.field())
    }

    /// The value of a field of one version, unless it is the same in all of them.
    pub(super) fn own(&self, version: &'a Value, field: Shared) -> Option<&'a Value> {
        version.get(field.field()).filter(|_| !self.is_shared(field))
    }

    /// `hasAnyStatusEnabled`.
    pub(super) fn any_status(&self) -> bool {
        self.all.iter().any(has_status)
    }
}

fn has_status(version: &Value) -> bool {
    version.get("subresources").is_some_and(|subresources| subresources.get("status").is_some())
}

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
    // Of versions with equal names the first one counts.
    let namesake = versions.all().iter().find(|version| word(version, "name") == name).unwrap_or(version);
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

/// The JSON of a value, as messages show values behind pointers.
pub(super) fn quoted(value: &Value) -> String {
    encode_any(value)
}

/// `ValidateCustomResourceDefinitionStoredVersions`; upstream reports missing versions in the order of a map.
pub(super) fn stored(definition: &Value, errors: &mut Errors) {
    let at = Path::new("status.storedVersions");
    let stored = items(definition, "/status/storedVersions");
    let all = definition.pointer("/status/storedVersions").cloned().unwrap_or_default();
    if stored.is_empty() {
        return errors.invalid(at, all, "must have at least one stored version");
    }
    let versions = super::spec::versions(definition);
    let mut left: HashSet<&str> = stored.iter().filter_map(Value::as_str).collect();
    for version in versions {
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
