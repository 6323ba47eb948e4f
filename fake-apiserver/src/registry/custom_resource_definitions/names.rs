//! The names of a definition: those of its spec, and the accepted ones of its status.
//!
//! Follows `ValidateCustomResourceDefinitionNames` of `pkg/apis/apiextensions/validation/validation.go` of
//! `k8s.io/apiextensions-apiserver` (v0.37.1).

use crate::error::{Errors, Path};
use crate::object::name;
use crate::registry::{items, text};
use tree::Value;

/// Rules for the names of the spec, of which some are required.
pub(super) fn wanted(at: Path<'_>, names: &Value, errors: &mut Errors) {
    for field in ["plural", "singular", "kind", "listKind"] {
        errors.set(at.child(field), names[field].as_str().unwrap_or_default());
    }
    all(at, names, errors);
}

/// `ValidateCustomResourceDefinitionStatus`: rules for the names in the status.
pub(super) fn accepted(definition: &Value, errors: &mut Errors) {
    all(Path::new("status.acceptedNames"), &definition["status"]["acceptedNames"], errors);
}

fn all(at: Path<'_>, names: &Value, errors: &mut Errors) {
    for field in ["plural", "singular"] {
        label(at.child(field), names[field].as_str().unwrap_or_default(), errors);
    }
    let (kind, list) = (text(names, "/kind"), text(names, "/listKind"));
    for (field, name) in [("kind", kind), ("listKind", list)] {
        let objections = name::dns1035_label(&name.to_lowercase());
        if !name.is_empty() && !objections.is_empty() {
            let detail = format!("may have mixed case, but should otherwise match: {}", objections.join(","));
            errors.invalid(at.child(field), name, detail);
        }
    }
    labels(at.child("shortNames"), items(names, "/shortNames"), errors);
    if !kind.is_empty() && kind == list {
        errors.invalid(at.child("listKind"), list, "kind and listKind may not be the same");
    }
    labels(at.child("categories"), items(names, "/categories"), errors);
}

/// Checks that a text is a label (RFC 1035) or empty; one finding for all errors.
fn label(at: Path<'_>, text: &str, errors: &mut Errors) {
    if !text.is_empty() {
        required_label(at, text, errors);
    }
}

fn labels(at: Path<'_>, texts: &[Value], errors: &mut Errors) {
    for (index, text) in texts.iter().enumerate() {
        required_label(at.index(index), text.as_str().unwrap_or_default(), errors);
    }
}

/// Checks that a text is a label (RFC 1035); one finding for all errors.
pub(super) fn required_label(at: Path<'_>, text: &str, errors: &mut Errors) {
    let objections = name::dns1035_label(text);
    if !objections.is_empty() {
        errors.invalid(at, text, objections.join(","));
    }
}
