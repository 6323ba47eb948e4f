//! Leniency for findings that the old definition had, too.
//!
//! Follows `ValidateCustomResourceDefinitionUpdate` and its callees in `pkg/apis/apiextensions/validation/validation.go` of
//! `k8s.io/apiextensions-apiserver` (v0.37.1). Not ported: defaults with unknown fields, which only very old versions
//! accepted.

use super::visit::{self, of_versions, word};
use super::{conversion, expressions, is_true, items, lists, schema, spec, structural};
use crate::error::Path;
use kubernetes_cel::Stage;
use std::collections::HashSet;
use std::rc::Rc;
use tree::Value;

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
    /// Rules may cost whatever they do (`suppressPerExpressionCost`).
    pub(super) any_cost: bool,
    pub(super) stored: Option<Rc<Stored>>,
}

/// The parts of the stored definition that matter for its update.
#[derive(Debug)]
pub(super) struct Stored {
    rules: HashSet<String>,
    message_expressions: HashSet<String>,
    /// The versions whose schemas are the same as before.
    versions: Vec<String>,
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
        any_cost: false,
        stored: None,
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
            any_cost: false,
            stored: Some(Rc::new(Stored::of(new, old))),
        }
    }

    /// The leniency for a version: costs are not limited if its schema is unchanged.
    pub(super) fn of_version(&self, name: &str) -> Self {
        let is_unchanged = |stored: &Rc<Stored>| stored.versions.iter().any(|version| version == name);
        Leniency { any_cost: self.stored.as_ref().is_some_and(is_unchanged), ..self.clone() }
    }

    /// The functions that an expression in a field of a rule may call: more, if the stored definition has the expression.
    pub(super) fn stage(&self, field: &str, expression: &str) -> Stage {
        let was_there = |stored: &Rc<Stored>| match field {
            "rule" => stored.rules.contains(expression),
            _ => stored.message_expressions.contains(expression),
        };
        if self.stored.as_ref().is_some_and(was_there) { Stage::Stored } else { Stage::New }
    }

    /// Whether a version, or "" for all of them, may have too many selectable fields.
    pub(super) fn may_have_too_many(&self, version: &str) -> bool {
        self.selectable_fields.iter().any(|name| name == version)
    }
}

impl Stored {
    fn of(new: &Value, old: &Value) -> Self {
        let (mut rules, mut message_expressions) = (HashSet::new(), HashSet::new());
        for schema in of_versions(old) {
            visit::each(schema, &mut |schema| {
                for rule in expressions::of(schema) {
                    rules.insert(word(rule, "rule").to_owned());
                    message_expressions.insert(word(rule, "messageExpression").to_owned());
                }
            });
        }
        let named =
            |definition, name: &str| spec::versions(definition).iter().find(|version| word(version, "name") == name);
        let is_unchanged = |name: &&str| {
            let (Some(new), Some(old)) = (named(new, name), named(old, name)) else { return false };
            new.get("schema") == old.get("schema")
        };
        let names = spec::versions(new).iter().map(|version| word(version, "name"));
        Stored { rules, message_expressions, versions: names.filter(is_unchanged).map(str::to_owned).collect() }
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
