//! Warnings about definitions.
//!
//! Follows `WarningsOnCreate` and `WarningsOnUpdate` of `pkg/registry/customresourcedefinition/strategy.go` and
//! `GetUnrecognizedFormats` of `pkg/apiserver/validation/formats.go` of `k8s.io/apiextensions-apiserver` (v0.37.1).

use super::versions::{Shared, Versions};
use super::visit::{each, of_versions, schema_in, word};
use crate::custom::schema::is_text_format;
use crate::schema::quote;
use std::collections::BTreeSet;
use tree::Value;

/// Warnings about a definition, except those that the old one had, too.
pub(super) fn warnings(definition: &Value, old: Option<&Value>) -> Vec<String> {
    let before = old.map(|old| (formats(old), sets(old))).unwrap_or_default();
    let formats = formats(definition).into_iter().filter(|format| !before.0.contains(format));
    let sets = sets(definition).into_iter().filter(|warning| !before.1.contains(warning));
    formats.map(|format| format!("unrecognized format {}", quote(&format))).chain(sets).collect()
}

/// The schemas of all versions; only one if all are the same.
fn schemas(definition: &Value) -> impl Iterator<Item = &Value> {
    let shared = Versions::of(definition).shared(Shared::Schema).is_some();
    of_versions(definition).take(if shared { 1 } else { usize::MAX })
}

/// `getUnrecognizedFormatsInCRD`.
fn formats(definition: &Value) -> Vec<String> {
    let mut formats = Vec::new();
    for schema in schemas(definition) {
        each(schema, &mut |schema| {
            let format = word(schema, "format");
            if !format.is_empty() && !is_known(format, word(schema, "type")) {
                formats.push(format.to_owned());
            }
        });
    }
    formats
}

/// `GetUnrecognizedFormats`.
fn is_known(format: &str, type_: &str) -> bool {
    match type_ {
        "" | "string" => is_text_format(format),
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        _ => false,
    }
}

/// `getNonScalarListTypeSetWarnings`.
fn sets(definition: &Value) -> BTreeSet<String> {
    let mut warnings = BTreeSet::new();
    for schema in schemas(definition) {
        each(schema, &mut |schema| {
            let type_ = schema_in(schema, "items").map(|item| word(item, "type")).unwrap_or_default();
            if word(schema, "x-kubernetes-list-type") == "set" && matches!(type_, "object" | "array") {
                warnings.insert(format!(
                    "x-kubernetes-list-type: set for items of type {type_:?} is not supported by server-side apply or CEL \
                     validation rules"
                ));
            }
        });
    }
    warnings
}
