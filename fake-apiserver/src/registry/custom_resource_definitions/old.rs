//! Leniency for findings that the old definition had, too.
//!
//! Follows `ValidateCustomResourceDefinitionUpdate` and its callees in `pkg/apis/apiextensions/validation/validation.go` of
//! `k8s.io/apiextensions-apiserver` (v0.37.1). Not ported: defaults with unknown fields, which only very old versions
//! accepted.

use super::visit::{self, of_versions, word};
use super::{conversion, is_true, items, lists, schema, spec, structural};
use crate::error::Path;
use serde_json::Value;

/// `validationOptions`: the requirements, which may exempt an old definition.
#[derive(Debug, Clone)]
pub(super) struct Leniency {
    /// One of the conversion review versions must be known (`requireRecognizedConversionReviewVersion`).
    pub(super) review_versions: bool,
    /// Every version must have a schema (`requireOpenAPISchema`).
    pub(super) schemas: bool,
    /// Types must be known ones (`requireValidPropertyType`).
    pub(super) types: bool,
    /// Schemas must be structural (`requireStructuralSchema`).
    pub(super) structural: bool,
    /// Items of sets must be atomic (`requireAtomicSetType`).
    pub(super) atomic_sets: bool,
    /// Keys of lists must be set, and items not null (`requireMapListKeysMapSetValidation`).
    pub(super) keys: bool,
    /// Certificates of webhooks must be well-formed (not `allowInvalidCABundle`).
    pub(super) certificates: bool,
    /// The versions that may have too many selectable fields, "" for all of them.
    pub(super) selectable_fields: Vec<String>,
}

impl Leniency {
    /// The requirements on a new definition.
    pub(super) const NONE: Leniency = Leniency {
        review_versions: true,
        schemas: true,
        types: true,
        structural: true,
        atomic_sets: true,
        keys: true,
        certificates: false,
        selectable_fields: Vec::new(),
    };

    /// The requirements on a definition that replaces another.
    pub(super) fn of(new: &Value, old: &Value) -> Self {
        let reviews = items(old, "/spec/conversion/webhook/conversionReviewVersions");
        let versions = spec::versions(old);
        Leniency {
            review_versions: reviews.is_empty() || reviews.iter().any(conversion::is_known_review),
            // Without any version all of them have a schema.
            schemas: versions.iter().all(|version| version.pointer("/schema/openAPIV3Schema").is_some()),
            types: !visit::any(old, |schema| schema::is_unknown_type(word(schema, "type"))),
            structural: of_versions(old).all(structural::is_structural),
            atomic_sets: !visit::any(old, lists::is_set_of_parts),
            keys: !visit::any(old, |schema| !lists::keys(Path::ROOT, schema).is_empty()),
            certificates: is_true(old, "Established") && !conversion::has_bad_certificates(old),
            selectable_fields: too_many(new, old),
        }
    }

    /// Whether a version, or "" for all of them, may have too many selectable fields.
    pub(super) fn may_have_too_many(&self, version: &str) -> bool {
        self.selectable_fields.iter().any(|name| name == version)
    }
}

/// `findTooManySelectableFieldsAllowed`: the versions that had too many, and have the same.
fn too_many(new: &Value, old: &Value) -> Vec<String> {
    let fields = |version: &Value| items(version, "/selectableFields").to_vec();
    let unchanged = |(name, new, old): (&str, Vec<Value>, Vec<Value>)| {
        (old.len() > super::selectable::MAX && new == old).then(|| name.to_owned())
    };
    let shared = |definition| {
        let shared = super::version::Versions::of(definition).shared(super::version::Shared::SelectableFields).cloned();
        shared.and_then(|shared| shared.as_array().cloned()).unwrap_or_default()
    };
    let own = |definition, version| {
        if shared(definition).is_empty() { fields(version) } else { Vec::new() }
    };
    let versions = spec::versions(new).iter().filter_map(|version| {
        let name = word(version, "name");
        let before = spec::versions(old).iter().rfind(|version| word(version, "name") == name)?;
        Some((name, own(new, version), own(old, before)))
    });
    std::iter::once(("", shared(new), shared(old))).chain(versions).filter_map(unchanged).collect()
}
