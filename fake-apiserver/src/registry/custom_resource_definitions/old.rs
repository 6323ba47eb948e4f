//! Leniency for findings that the old definition had, too.
//!
//! Follows `ValidateCustomResourceDefinitionUpdate` and its callees in `pkg/apis/apiextensions/validation/validation.go` of
//! `k8s.io/apiextensions-apiserver` (v0.37.1). Without defaults that have unknown fields, which only very old versions
//! accepted.

use super::conditions::is_true;
use super::leniency::{Leniency, Stored};
use super::versions::{self, Shared, Versions};
use super::visit::{self, of_versions, word};
use super::{conversion, items, lists, schema, selectable, structural};
use crate::deadline::Deadline;
use crate::error::Path;
use crate::registry::types::is_known_review;
use std::collections::HashSet;
use std::rc::Rc;
use tree::Value;

/// The requirements on a definition that replaces another.
pub(super) fn leniency(new: &Value, old: &Value) -> Leniency {
    let reviews = items(old, "/spec/conversion/webhook/conversionReviewVersions");
    let versions = versions::of(old);
    Leniency {
        review_versions: reviews.is_empty() || reviews.iter().any(is_known_review),
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
        deadline: Deadline::default(),
    }
}

impl Stored {
    fn of(new: &Value, old: &Value) -> Self {
        let (mut rules, mut message_expressions) = (HashSet::new(), HashSet::new());
        for schema in of_versions(old) {
            visit::each(schema, &mut |schema| {
                for rule in visit::rules(schema) {
                    rules.insert(word(rule, "rule").to_owned());
                    message_expressions.insert(word(rule, "messageExpression").to_owned());
                }
            });
        }
        let named =
            |definition, name: &str| versions::of(definition).iter().find(|version| word(version, "name") == name);
        let is_unchanged = |name: &&str| {
            let (Some(new), Some(old)) = (named(new, name), named(old, name)) else { return false };
            new.get("schema") == old.get("schema")
        };
        let names = versions::of(new).iter().map(|version| word(version, "name"));
        Stored { rules, message_expressions, versions: names.filter(is_unchanged).map(str::to_owned).collect() }
    }
}

/// `findTooManySelectableFieldsAllowed`: the versions that had too many, and have the same.
fn too_many(new: &Value, old: &Value) -> Vec<String> {
    let fields = |version: &Value| items(version, "/selectableFields").to_vec();
    let unchanged = |(name, new, old): (&str, Vec<Value>, Vec<Value>)| {
        (old.len() > selectable::MAX && new == old).then(|| name.to_owned())
    };
    let shared = |definition| {
        let shared = Versions::of(definition).shared(Shared::SelectableFields).cloned();
        shared.and_then(|shared| shared.as_array().cloned()).unwrap_or_default()
    };
    let own = |definition, version| {
        if shared(definition).is_empty() { fields(version) } else { Vec::new() }
    };
    let versions = versions::of(new).iter().filter_map(|version| {
        let name = word(version, "name");
        let before = versions::of(old).iter().rfind(|version| word(version, "name") == name)?;
        Some((name, own(new, version), own(old, before)))
    });
    std::iter::once(("", shared(new), shared(old))).chain(versions).filter_map(unchanged).collect()
}
