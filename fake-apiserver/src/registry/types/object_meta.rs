//! Labels and annotations, wherever they stand, and the metadata of templates.
//!
//! Follows `ValidateLabels` of `k8s.io/apimachinery/pkg/apis/meta/v1/validation` and `ValidateAnnotations` of
//! `k8s.io/apimachinery/pkg/api/validation/objectmeta.go` (v0.37.1).

use crate::error::{Errors, FieldError};
use crate::object::name;
use crate::object::validate::TOTAL_ANNOTATION_SIZE_LIMIT;
use crate::registry::cursor::At;

/// Rules for labels.
pub(in crate::registry) fn labels(labels: At<'_, '_>, errors: &mut Errors) {
    for (key, value) in labels.entries() {
        errors.invalid_each(labels.path(), key, name::label_key(key));
        errors.invalid_each(labels.path(), value.text(), name::label_value(value.text()));
    }
}

/// Rules for annotations.
pub(in crate::registry) fn annotations(annotations: At<'_, '_>, errors: &mut Errors) {
    for (key, _) in annotations.entries() {
        errors.invalid_each(annotations.path(), key, name::annotation_key(key));
    }
    let size: usize = annotations.entries().map(|(key, value)| key.len() + value.text().len()).sum();
    if size > TOTAL_ANNOTATION_SIZE_LIMIT {
        errors.push(FieldError::too_long(annotations.path(), TOTAL_ANNOTATION_SIZE_LIMIT));
    }
}

/// Rules for the metadata of a template, which has labels and annotations only (`ValidateTemplateObjectMeta`).
pub(in crate::registry) fn template_metadata(metadata: At<'_, '_>, errors: &mut Errors) {
    annotations(metadata.field("annotations"), errors);
    labels(metadata.field("labels"), errors);
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
