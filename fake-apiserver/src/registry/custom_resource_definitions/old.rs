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
use std::collections::{HashMap, HashSet};
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
        let (now, before) = (Versions::of(new), Versions::of(old));
        let is_unchanged = |name: &&str| {
            let (Some(new), Some(old)) = (now.named(name), before.named(name)) else { return false };
            new.get("schema") == old.get("schema")
        };
        let names = now.all().iter().map(|version| word(version, "name"));
        Stored { rules, message_expressions, versions: names.filter(is_unchanged).map(str::to_owned).collect() }
    }
}

/// `findTooManySelectableFieldsAllowed`: the versions that had too many, and have the same.
fn too_many(new: &Value, old: &Value) -> HashSet<String> {
    let shared = |definition| {
        let shared = Versions::of(definition).shared(Shared::SelectableFields);
        shared.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    };
    let own = |shared: &[Value], version| if shared.is_empty() { items(version, "/selectableFields") } else { &[] };
    let (shared_new, shared_old) = (shared(new), shared(old));
    // Of versions with equal names the last one counts.
    let before: HashMap<&str, &Value> =
        versions::of(old).iter().map(|version| (word(version, "name"), version)).collect();
    let versions = versions::of(new).iter().filter_map(|version| {
        let name = word(version, "name");
        Some((name, own(shared_new, version), own(shared_old, before.get(name)?)))
    });
    let unchanged = std::iter::once(("", shared_new, shared_old))
        .chain(versions)
        .filter(|(_, new, old)| old.len() > selectable::MAX && new == old);
    unchanged.map(|(name, ..)| name.to_owned()).collect()
}
