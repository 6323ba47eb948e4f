//! Labels and annotations, wherever they stand, and the metadata of templates.
//!
//! Follows `ValidateLabels` of `k8s.io/apimachinery/pkg/apis/meta/v1/validation` and `ValidateAnnotations` of
//! `k8s.io/apimachinery/pkg/api/validation/objectmeta.go` (v0.37.1).

use crate::error::{Errors, FieldError, Path};
use crate::object::name;
use crate::object::validate::TOTAL_ANNOTATION_SIZE_LIMIT;
use crate::registry::cursor::At;
use tree::{Text, Value};

fn texts(map: &Value) -> impl Iterator<Item = (&Text, &str)> {
    map.as_object().into_iter().flatten().map(|(key, value)| (key, value.as_str().unwrap_or_default()))
}

/// Rules for labels.
pub(in crate::registry) fn labels(at: Path<'_>, labels: &Value, errors: &mut Errors) {
    for (key, value) in texts(labels) {
        errors.invalid_each(at, key, name::label_key(key));
        errors.invalid_each(at, value, name::label_value(value));
    }
}

/// Rules for annotations.
pub(in crate::registry) fn annotations(at: Path<'_>, annotations: &Value, errors: &mut Errors) {
    for (key, _) in texts(annotations) {
        errors.invalid_each(at, key, name::label_key(&key.to_lowercase()));
    }
    let size: usize = texts(annotations).map(|(key, value)| key.len() + value.len()).sum();
    if size > TOTAL_ANNOTATION_SIZE_LIMIT {
        errors.push(FieldError::too_long(at, TOTAL_ANNOTATION_SIZE_LIMIT));
    }
}

/// Rules for the metadata of a template, which has labels and annotations only (`ValidateTemplateObjectMeta`).
pub(in crate::registry) fn template_metadata(metadata: At<'_, '_>, errors: &mut Errors) {
    annotations(metadata.path().child("annotations"), metadata.field("annotations").value(), errors);
    labels(metadata.path().child("labels"), metadata.field("labels").value(), errors);
    let Some(ty) = metadata.ty() else { return };
    for field in ty.target().fields() {
        let at = metadata.field(field.name());
        let is_zero = at.is_empty() || at.number() == Some(0);
        if !["annotations", "labels"].contains(&field.name()) && !is_zero {
            // Upstream makes names of Go's.
            let shown = if field.name() == "uid" { "uID" } else { field.name() };
            errors.forbidden(metadata.path().child(shown), "cannot be set");
        }
    }
}
