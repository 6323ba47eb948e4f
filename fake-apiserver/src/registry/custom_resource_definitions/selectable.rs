//! The selectable fields of custom resources.
//!
//! Follows `ValidateCustomResourceSelectableFields` of `pkg/apis/apiextensions/validation/validation.go` of
//! `k8s.io/apiextensions-apiserver` (v0.37.1). Of a schema without a structural form, which panics there, only that is reported.

use super::structural;
use super::visit::word;
use crate::custom::field_path;
use crate::error::{Errors, FieldError, Path};
use std::collections::HashSet;
use tree::Value;

/// `MaxSelectableFields`.
pub(super) const MAX: usize = 8;

/// Rules for the selectable fields of a version; `parent` is the path of their parent, and `too_many` is whether too many
/// are allowed.
pub(super) fn fields(
    at: Path<'_>,
    parent: Path<'_>,
    fields: &[Value],
    schema: Option<&Value>,
    too_many: bool,
    errors: &mut Errors,
) {
    let empty = Value::Null;
    let schema = schema.unwrap_or(&empty);
    if let Some(refusal) = structural::refusal(schema) {
        return errors.invalid(parent.child("schema.openAPIV3Schema"), "", refusal);
    }
    let mut seen = HashSet::new();
    for (index, field) in fields.iter().enumerate() {
        let (at, path) = (at.index(index), word(field, "jsonPath"));
        let at = at.child("jsonPath");
        if path.is_empty() {
            errors.required(at, "");
            continue;
        }
        let found = match field_path::find(path, schema, false) {
            Ok(found) => found,
            Err(error) => {
                errors.invalid(at, path, format!("is an invalid path: {error}"));
                continue;
            }
        };
        if found.root == "metadata" {
            errors.invalid(at, path, "must not point to fields in metadata");
        }
        let type_ = found.schema.map(|schema| word(schema, "type")).unwrap_or_default();
        if !matches!(type_, "string" | "boolean" | "integer") {
            let detail = "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
            errors.invalid(at, path, detail);
        }
        if !seen.insert(found.path) {
            errors.duplicate(at, path);
        }
    }
    if seen.len() > MAX && !too_many {
        errors.push(FieldError::too_many(at, seen.len(), MAX));
    }
}
