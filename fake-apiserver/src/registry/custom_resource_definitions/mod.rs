//! CustomResourceDefinitions: their defaults, the fields that clients cannot set, validation, and columns. Serving their
//! resources is in `reconcile/definitions/`.
//!
//! Follows `pkg/registry/customresourcedefinition/strategy.go` and `pkg/apis/apiextensions/v1/{defaults,conversion}.go` of
//! `k8s.io/apiextensions-apiserver` (v0.37.1). The files here work on canonical trees, in which no field has Go's zero
//! value.

mod completeness;
mod conditions;
mod context;
mod conversion;
mod cost;
mod expressions;
mod leniency;
mod lists;
mod meta;
mod names;
mod old;
mod place;
mod printed;
mod root;
mod schema;
mod selectable;
mod spec;
mod structural;
mod version;
mod versions;
mod visit;
mod warnings;

#[cfg(test)]
mod tests;

pub(crate) use conversion::has_bad_certificates;
pub(crate) use meta::{Approval, approval_of};

use super::context::Context;
use super::rules::{Cell, Closes, Encoding, NameRule, Rules, Strategy};
use super::{child, default_to, flag, items, text};
use crate::error::Errors;
use crate::schema::float;
use conditions::is_true;
use leniency::Leniency;
use tree::{Map, Value};

pub(super) const RULES: Rules = Rules {
    name_rule: NameRule::Of(meta::name),
    qualified_finalizers: false,
    owns_generation: true,
    closes: Some(Closes::Definition),
    stored_as: Encoding::Json,
    subresources: &[(
        "status",
        Strategy { default, validate: |_, new, _, errors| names::accepted(new, errors), ..Strategy::NONE },
    )],
    cells: CELLS,
    strategy: Strategy {
        default,
        prepare: |_, definition, _| store(definition, true),
        validate,
        warnings: |_, new, old| warnings::warnings(new, old),
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

/// `SetDefaults_CustomResourceDefinition`, and the changes by converting to the internal version and back.
fn default(definition: &mut Value) {
    let spec = child(definition, "spec");
    let names = child(spec, "names");
    let kind = text(names, "/kind").to_owned();
    if !kind.is_empty() {
        default_to(names, "singular", kind.to_lowercase());
        default_to(names, "listKind", format!("{kind}List"));
    }
    let conversion = child(spec, "conversion");
    if conversion.is_null() {
        *conversion = Value::Object(Map::from_iter([("strategy", "None".into())]));
    }
    if let Some(service) = conversion.pointer_mut("/webhook/clientConfig/service") {
        default_to(service, "port", 443);
    }
    // The internal version has only its two fields, and neither is set.
    if conversion["webhook"].as_object().is_some_and(Map::is_empty) {
        conversion.as_object_mut().map(|conversion| conversion.remove("webhook"));
    }
    for version in definition.pointer_mut("/spec/versions").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(schema) = version.get_mut("schema") {
            plain_numbers(schema);
        }
    }
    store(definition, false);
}

/// Writes whole numbers without a fraction or an exponent, as the internal version does, which does not keep their texts.
fn plain_numbers(value: &mut Value) {
    match value {
        Value::Number(number) if !number.is_i64() => {
            if let Some(plain) = number.as_f64().and_then(float) {
                *number = plain;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(plain_numbers),
        Value::Object(fields) => fields.values_mut().for_each(plain_numbers),
        _ => {}
    }
}

/// Adds the storage version to `status.storedVersions`; unless `always`, only if that is empty.
fn store(definition: &mut Value, always: bool) {
    let Some(version) = items(definition, "/spec/versions").iter().find(|version| flag(version, "/storage")) else {
        return;
    };
    let version = Value::from(text(version, "/name"));
    let stored = items(definition, "/status/storedVersions");
    if stored.is_empty() || always && !stored.contains(&version) {
        let stored: Vec<Value> = stored.iter().cloned().chain([version]).collect();
        child(definition, "status")["storedVersions"] = stored.into();
    }
}

/// `ValidateCustomResourceDefinition` and `ValidateCustomResourceDefinitionUpdate` without the metadata. If the time is up, the findings are
/// too few.
fn validate(context: &Context<'_>, definition: &Value, old: Option<&Value>, errors: &mut Errors) {
    let leniency = old.map_or_else(Leniency::none, |old| old::leniency(definition, old));
    let leniency = Leniency { deadline: context.deadline.clone(), ..leniency };
    spec::spec(definition, &leniency, errors);
    if let Some(old) = old {
        spec::immutable(definition, old, errors);
    }
    names::accepted(definition, errors);
    version::stored(definition, errors);
    meta::approval(definition, old, errors);
    spec::preserve_unknown_fields(definition, old, errors);
}

/// The cells of `pkg/registry/customresourcedefinition/tableconvertor`.
const CELLS: &[(&str, Cell)] = &[
    ("Scope", |definition, _| text(definition, "/spec/scope").into()),
    ("Versions", |definition, _| served(definition).into()),
    ("Group", |definition, _| text(definition, "/spec/group").into()),
    ("Kind", |definition, _| text(definition, "/spec/names/kind").into()),
    ("ShortNames", |definition, _| {
        let names = items(definition, "/spec/names/shortNames").iter().filter_map(Value::as_str);
        names.collect::<Vec<_>>().join(",").into()
    }),
    // Another item of that type would count as well.
    ("Established", |definition, _| is_true(definition, "Established").into()),
];

/// The served versions, sorted.
fn served(definition: &Value) -> String {
    let versions = items(definition, "/spec/versions").iter().filter(|version| flag(version, "/served"));
    let mut labels: Vec<String> = versions
        .map(|version| {
            format!("{}{}", text(version, "/name"), if flag(version, "/storage") { "(storage)" } else { "" })
        })
        .collect();
    labels.sort();
    labels.join(",")
}
