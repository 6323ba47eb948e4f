//! The spec of a definition.
//!
//! Follows `validateCustomResourceDefinitionSpec` and its callers in `pkg/apis/apiextensions/validation/validation.go` of
//! `k8s.io/apiextensions-apiserver` (v0.37.1), which validate the internal version: there a field that all versions share is
//! one of the spec, and findings are about that.

use super::conditions::is_true;
use super::leniency::Leniency;
use super::versions::{Shared, Versions};
use super::{conversion, flag, names, printed, selectable, text, version, visit};
use crate::error::{Errors, FieldError, Path};
use crate::object::name;
use crate::object::validate::IMMUTABLE;
use std::collections::HashSet;
use tree::Value;

pub(super) const SPEC: Path<'static> = Path::new("spec");

/// `validateCustomResourceDefinitionSpec`.
pub(super) fn spec(definition: &Value, leniency: &Leniency, errors: &mut Errors) {
    let spec = &definition["spec"];
    let versions = Versions::of(definition);
    group(text(spec, "/group"), errors);
    errors.one_of(SPEC.child("scope"), text(spec, "/scope"), &["Cluster", "Namespaced"]);
    let preserve = flag(spec, "/preserveUnknownFields");
    schemas_are_there(&versions, leniency, preserve, errors);
    let has = |predicate: fn(&Value) -> bool| visit::any(definition, predicate);
    let defaults = has(|schema| schema.get("default").is_some());
    if defaults && preserve {
        let detail = "must be false in order to use defaults in the schema";
        errors.invalid(SPEC.child("preserveUnknownFields"), true, detail);
    }
    let structural = leniency.structural || !preserve || defaults || has(has_extensions);
    let leniency = &Leniency { structural, ..leniency.clone() };
    for (index, version) in versions.all().iter().enumerate() {
        names::required_label(SPEC.item("versions", index).child("name"), visit::word(version, "name"), errors);
        version::version(SPEC.item("versions", index), version, &versions, leniency, errors);
    }
    let all = |detail: &str| FieldError::invalid_printed(SPEC.child("versions"), printed::versions(&versions), detail);
    let mut seen = HashSet::new();
    if !versions.all().iter().all(|version| seen.insert(visit::word(version, "name"))) {
        errors.push(all("must contain unique version names"));
    }
    if versions.all().iter().filter(|version| flag(version, "/storage")).count() != 1 {
        errors.push(all("must have exactly one version marked as storage version"));
    }
    if let Some(first) = versions.all().first() {
        let name = visit::word(first, "name");
        if !name.is_empty() {
            names::required_label(SPEC.child("version"), name, errors);
        }
    }
    names::wanted(SPEC.child("names"), &spec["names"], errors);
    shared(&versions, leniency, errors);
    let strategy = text(spec, "/conversion/strategy");
    if strategy != "None" && preserve {
        let detail = "must be None if spec.preserveUnknownFields is true";
        errors.invalid(SPEC.child("conversion.strategy"), strategy, detail);
    }
    conversion::conversion(SPEC.child("conversion"), &spec["conversion"], leniency, errors);
}

fn group(group: &str, errors: &mut Errors) {
    let at = SPEC.child("group");
    let objections = name::dns_subdomain(group);
    match group {
        "" => errors.required(at, ""),
        _ if !objections.is_empty() => errors.invalid(at, group, objections.join(",")),
        _ if !group.contains('.') => errors.invalid(at, group, "should be a domain with at least one dot"),
        _ => {}
    }
}

/// Findings about versions without a schema.
fn schemas_are_there(versions: &Versions<'_>, leniency: &Leniency, preserve: bool, errors: &mut Errors) {
    for (index, version) in versions.all().iter().enumerate() {
        let at = SPEC.item("versions", index);
        if version.get("schema").is_some_and(|schema| schema.get("openAPIV3Schema").is_some()) {
            continue;
        }
        if leniency.schemas {
            errors.required(at.child("schema.openAPIV3Schema"), "");
        } else if !preserve && flag(version, "/served") {
            errors.required(at.child("schema.openAPIV3Schema"), "because otherwise all fields are pruned");
        }
    }
}

/// Findings about the fields that all versions share.
fn shared(versions: &Versions<'_>, leniency: &Leniency, errors: &mut Errors) {
    let schema = versions.shared(Shared::Schema);
    if let Some(schema) = schema {
        let name = versions.all().first().map_or("", |version| visit::word(version, "name"));
        let leniency = leniency.of_version(name);
        version::validation(SPEC.child("validation"), schema, versions.any_status(), &leniency, errors);
    }
    version::subresources(SPEC.child("subresources"), versions.shared(Shared::Subresources), errors);
    version::columns(SPEC.child("additionalPrinterColumns"), versions.shared(Shared::Columns), errors);
    if let Some(Value::Array(fields)) = versions.shared(Shared::SelectableFields) {
        let at = SPEC.child("selectableFields");
        match schema {
            None => errors.invalid(at, "", "may only be set when validations.schema is included"),
            Some(schema) => {
                let too_many = leniency.may_have_too_many("");
                selectable::fields(at, SPEC, fields, schema.get("openAPIV3Schema"), too_many, errors);
            }
        }
    }
}

/// `schemaHasKubernetesExtensions`, of one schema.
fn has_extensions(schema: &Value) -> bool {
    const EXTENSIONS: [&str; 6] = [
        "x-kubernetes-embedded-resource",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-int-or-string",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-list-type",
        "x-kubernetes-validations",
    ];
    EXTENSIONS.iter().any(|extension| schema.get(extension).is_some())
}

/// Findings about immutable fields: always immutable, or once the definition is established.
pub(super) fn immutable(new: &Value, old: &Value, errors: &mut Errors) {
    let established: &[&str] = if is_true(old, "Established") { &["scope", "names.kind"] } else { &[] };
    for field in established.iter().chain(&["group", "names.plural"]) {
        let value = |definition| text(definition, &format!("/spec/{}", field.replace('.', "/"))).to_owned();
        if value(new) != value(old) {
            errors.invalid(SPEC.child(field), value(new), IMMUTABLE);
        }
    }
}

/// `validatePreserveUnknownFields`.
pub(super) fn preserve_unknown_fields(definition: &Value, old: Option<&Value>, errors: &mut Errors) {
    let preserves = |definition| flag(definition, "/spec/preserveUnknownFields");
    if preserves(definition) && !old.is_some_and(preserves) {
        let detail =
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        errors.invalid(SPEC.child("preserveUnknownFields"), true, detail);
    }
}
