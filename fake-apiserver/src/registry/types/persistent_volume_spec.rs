//! `PersistentVolumeSpec`: the spec of a persistent volume, or of one that an attachment describes inline.
//!
//! Follows `ValidatePersistentVolumeSpec` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::access_modes::{VOLUME_MODES, access_modes};
use super::affinity::node_selector;
use super::persistent_volume_source::{is_root_of_host, persistent_volume_source};
use crate::error::{Errors, Path};
use crate::object::name;
use crate::registry::amount;
use crate::registry::cursor::At;
use crate::registry::items;
use tree::Value;

/// Rules for the spec of a volume of that name, which may keep some errors of the `old` one.
pub(in crate::registry) fn persistent_volume_spec(
    spec: At<'_, '_>,
    old: Option<&Value>,
    volume: &str,
    errors: &mut Errors,
) {
    let modes = spec.field("accessModes");
    modes.set(errors);
    access_modes(modes, errors);
    capacity(spec, errors);
    let reclaim = spec.field("persistentVolumeReclaimPolicy");
    if !reclaim.is_empty() {
        reclaim.supported(&["Delete", "Recycle", "Retain"], errors);
    }
    let affinity = spec.field("nodeAffinity");
    if affinity.is_set() {
        node_affinity(affinity, old, errors);
    }
    persistent_volume_source(spec, volume, affinity.is_set(), errors);
    no_recycled_root(spec, errors);
    spec.field("storageClassName").optional(name::dns_subdomain, errors);
    let mode = spec.field("volumeMode");
    if mode.is_set() {
        mode.supported(&VOLUME_MODES, errors);
    }
    let class = spec.field("volumeAttributesClassName");
    if class.is_set() {
        match class.is_empty() {
            true => class.required("an empty string is disallowed", errors),
            false => class.follows(name::dns_subdomain, errors),
        }
        let csi = spec.field("csi");
        if !csi.is_set() {
            csi.required("has to be specified when using volumeAttributesClassName", errors);
        }
    }
}

/// Rules for the spec of a volume that is described inline, in an attachment.
pub(in crate::registry) fn inline_persistent_volume_spec(spec: At<'_, '_>, errors: &mut Errors) {
    const INLINE: &str = "in the context of inline volumes";
    let absent = |field: &str, errors: &mut Errors| {
        if !spec.field(field).is_empty() {
            spec.field(field).forbidden(format!("may not be specified {INLINE}"), errors);
        }
    };
    if spec.field("claimRef").is_set() {
        spec.field("claimRef").forbidden(format!("may not be specified {INLINE}"), errors);
    }
    absent("capacity", errors);
    let csi = spec.field("csi");
    if !csi.is_set() {
        csi.required(&format!("has to be specified {INLINE}"), errors);
    }
    let modes = spec.field("accessModes");
    modes.set(errors);
    access_modes(modes, errors);
    let reclaim = spec.field("persistentVolumeReclaimPolicy");
    if !matches!(reclaim.text(), "" | "Retain") {
        reclaim.forbidden(format!("may only be Retain {INLINE}"), errors);
    }
    let affinity = spec.field("nodeAffinity");
    if affinity.is_set() {
        affinity.forbidden(format!("may not be specified {INLINE}"), errors);
    }
    persistent_volume_source(spec, "", false, errors);
    no_recycled_root(spec, errors);
    absent("storageClassName", errors);
    let mode = spec.field("volumeMode");
    if mode.is_set() && mode.text() != "Filesystem" {
        mode.forbidden(format!("may not specify volumeMode other than Filesystem {INLINE}"), errors);
    }
}

/// A volume has an amount of storage, and of nothing else.
fn capacity(spec: At<'_, '_>, errors: &mut Errors) {
    let capacity = spec.field("capacity");
    if capacity.is_empty() {
        capacity.required("", errors);
    }
    if capacity.value().get("storage").is_none() || capacity.len() > 1 {
        capacity.unsupported(&["storage"], errors);
    }
    for (_, own) in capacity.entries() {
        basic_resource(own.path(), own.text(), errors);
        if amount(own.text()).sign().is_le() {
            own.invalid("must be greater than zero", errors);
        }
    }
}

/// Rule for an amount, which is shown as a whole number (`validateBasicResource`).
pub(in crate::registry) fn basic_resource(at: Path<'_>, text: &str, errors: &mut Errors) {
    let whole = amount(text).value();
    if whole < 0 {
        errors.invalid(at, whole, "must be a valid resource quantity");
    }
}

/// `validateVolumeNodeAffinity`.
fn node_affinity(affinity: At<'_, '_>, old: Option<&Value>, errors: &mut Errors) {
    let required = affinity.field("required");
    if !required.is_set() {
        return required.required("must specify required node constraints", errors);
    }
    let strict = !old.is_some_and(has_invalid_values);
    node_selector(required, strict, errors);
}

/// Whether a spec selects nodes by values that no label has (`HasInvalidLabelValueInNodeSelectorTerms`).
fn has_invalid_values(spec: &Value) -> bool {
    let terms = items(spec, "/nodeAffinity/required/nodeSelectorTerms").iter();
    let expressions = terms.flat_map(|term| items(term, "/matchExpressions"));
    let mut values = expressions.flat_map(|expression| items(expression, "/values")).filter_map(Value::as_str);
    values.any(|value| !name::label_value(value).is_empty())
}

fn no_recycled_root(spec: At<'_, '_>, errors: &mut Errors) {
    let reclaim = spec.field("persistentVolumeReclaimPolicy");
    if reclaim.text() == "Recycle" && is_root_of_host(spec.value()) {
        reclaim.forbidden("may not be 'recycle' for a hostPath mount of '/'", errors);
    }
}
