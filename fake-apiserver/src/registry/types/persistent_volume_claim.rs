//! `PersistentVolumeClaim`: an object, or a template of one.
//!
//! Follows `SetDefaults_PersistentVolumeClaim` and `SetDefaults_PersistentVolumeClaimSpec` of
//! `pkg/apis/core/v1/defaults.go`, what `zz_generated.defaults.go` calls with them, and `ValidatePersistentVolumeClaimSpec` and
//! `ValidatePersistentVolumeClaimTemplate` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::access_modes::{VOLUME_MODES, access_modes};
use super::object_meta::template_metadata;
use super::resource_list::round_resources;
use crate::error::{Errors, Path};
use crate::object::name;
use crate::object::selector::validate_structured_update;
use crate::registry::cursor::At;
use crate::registry::defaults::visit;
use crate::registry::{amount, child, default_to, is_whole};
use tree::{Map, Value};

/// Rules for the template of a claim (`ValidatePersistentVolumeClaimTemplate`).
pub(in crate::registry) fn persistent_volume_claim_template(template: At<'_, '_>, errors: &mut Errors) {
    template_metadata(template.field("metadata"), errors);
    persistent_volume_claim_spec(template.field("spec"), None, errors);
}

/// Rules for the spec of a claim, which may keep some errors of the `old` one (`ValidatePersistentVolumeClaimSpec`).
pub(in crate::registry) fn persistent_volume_claim_spec(
    spec: At<'_, '_>,
    old: Option<At<'_, '_>>,
    errors: &mut Errors,
) {
    let modes = spec.field("accessModes");
    if modes.is_empty() {
        modes.required("at least 1 access mode is required", errors);
    }
    let selector = spec.field("selector");
    if selector.is_set() {
        let old = old.map(|old| old.field("selector").value());
        validate_structured_update(selector.path(), selector.value(), old, errors);
    }
    access_modes(modes, errors);
    storage_request(spec, errors);
    spec.field("storageClassName").optional(name::dns_subdomain, errors);
    let mode = spec.field("volumeMode");
    if mode.is_set() {
        mode.supported(&VOLUME_MODES, errors);
    }
    data_sources(spec, old, errors);
    spec.field("volumeAttributesClassName").optional(name::dns_subdomain, errors);
}

/// The amount of storage that a claim asks for, whose path in messages lacks `requests`.
fn storage_request(spec: At<'_, '_>, errors: &mut Errors) {
    let (resources, requests) = (spec.field("resources"), spec.field("resources.requests"));
    let at = resources.path();
    let storage = At::untyped(&requests.value()["storage"], at.key("storage"));
    if !storage.is_set() {
        storage.required("", errors);
    } else if amount(storage.text()).sign().is_le() {
        storage.invalid("must be greater than zero", errors);
    }
}

/// Rules for `dataSource` and `dataSourceRef`, which name the same object unless that is in another namespace.
fn data_sources(spec: At<'_, '_>, old: Option<At<'_, '_>>, errors: &mut Errors) {
    const FIELDS: [&str; 2] = ["dataSource", "dataSourceRef"];
    let had_group = |old: At<'_, '_>| FIELDS.iter().any(|field| old.field(field).field("apiGroup").is_set());
    let any_group = old.is_some_and(had_group);
    let sources = FIELDS.map(|field| spec.value().get(field));
    for field in FIELDS {
        let source = spec.field(field);
        if source.is_set() {
            data_source(source, any_group, errors);
        }
    }
    let namespace = spec.field("dataSourceRef.namespace");
    namespace.optional(name::dns_label, errors);
    let [Some(source), Some(reference)] = sources else { return };
    let parts = |source: &Value| ["apiGroup", "kind", "name"].map(|part| source[part].clone());
    let detail = match namespace.text() {
        "" if parts(source) == parts(reference) => return,
        "" => "must match dataSourceRef",
        _ => "may not be specified when dataSourceRef.namespace is specified",
    };
    // The value that upstream passes is a path, of which nothing is printed.
    spec.invalid_value(Value::Object(Map::new()), detail, errors);
}

/// `validateDataSource` and the beginning of `validateDataSourceRef`.
fn data_source(source: At<'_, '_>, any_group: bool, errors: &mut Errors) {
    for field in ["name", "kind"] {
        source.field(field).set(errors);
    }
    let (group, kind) = (source.field("apiGroup"), source.field("kind").text());
    if group.is_empty() && kind != "PersistentVolumeClaim" {
        source.invalid_value(kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup", errors);
    }
    if !any_group {
        group.optional(name::dns_subdomain, errors);
    }
}

/// Warnings about the spec of a claim (`GetWarningsForPersistentVolumeClaimSpec`).
pub(in crate::registry) fn persistent_volume_claim_spec_warnings(at: Path<'_>, spec: &Value) -> Vec<String> {
    let resources = at.child("resources");
    let fractional = |list: &str| {
        let own = spec["resources"][list]["storage"].as_str().map(amount).filter(|own| !is_whole(own))?;
        let at = resources.child(list);
        let at = at.key("storage");
        Some(format!("{at}: fractional byte value {:?} is invalid, must be an integer", own.text()))
    };
    ["requests", "limits"].into_iter().filter_map(fractional).collect()
}

/// Fills in a claim.
pub(in crate::registry) fn default_persistent_volume_claim(claim: &mut Value) {
    default_to(child(claim, "status"), "phase", "Pending");
    default_to(child(claim, "spec"), "volumeMode", "Filesystem");
    visit(claim, "spec/resources/limits|requests", &mut round_resources);
    visit(claim, "status/capacity|allocatedResources", &mut round_resources);
}
