//! Validation of claims.
//!
//! Follows `ValidatePersistentVolumeClaim`, `ValidatePersistentVolumeClaimUpdate` and
//! `ValidatePersistentVolumeClaimStatusUpdate` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::class::CLASS_ANNOTATION;
use crate::error::{Errors, Path};
use crate::object::validate::IMMUTABLE;
use crate::object::{meta, name};
use crate::registry::amount;
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::types::{basic_resource, is_native_resource, persistent_volume_claim_spec};
use crate::registry::{carry_over, child, text};
use tree::Value;

/// `resizeStatusSet`.
const RESIZE_STATES: [&str; 5] = [
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
];

fn at(claim: &Value) -> At<'static, '_> {
    At::object(claim, "v1", "PersistentVolumeClaim")
}

pub(super) fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let before = old.map(at);
    let spec = before.as_ref().map(|old| old.field("spec"));
    persistent_volume_claim_spec(at(new).field("spec"), spec, errors);
    if let Some(old) = old {
        changes(new, old, errors);
    }
}

fn changes(new: &Value, old: &Value, errors: &mut Errors) {
    same_spec(new, old, errors);
    storage(new, old, errors);
    let (new, old) = (at(new), at(old));
    new.field("spec.volumeMode").shown_at(Path::new("volumeMode")).immutable(&old.field("spec.volumeMode"), errors);
    let (class, before) = (new.field("spec.volumeAttributesClassName"), old.field("spec.volumeAttributesClassName"));
    if !class.equals(&before) && old.field("status.currentVolumeAttributesClassName").is_set() && class.is_empty() {
        let unset = if class.is_set() { "empty string" } else { "nil" };
        let detail = format!("update to {unset} is forbidden when status.currentVolumeAttributesClassName is not nil");
        class.forbidden(detail, errors);
    }
}

/// The spec stays, but for the volume that a claim is bound to, once, a storage class that moves to its field, and, once bound, the
/// amount of storage and the class of attributes.
fn same_spec(new: &Value, old: &Value, errors: &mut Errors) {
    let (mut same, mut before) = (new["spec"].clone(), old["spec"].clone());
    if text(&before, "/volumeName").is_empty() {
        carry_over(&mut before, &same, "volumeName");
    }
    storage_class(new, old, &mut same, errors);
    if text(new, "/status/phase") == "Bound" {
        if let Some(requests) = same.pointer_mut("/resources/requests").filter(|requests| requests.is_object()) {
            let storage = old["spec"]["resources"]["requests"].get("storage");
            *child(requests, "storage") = storage.cloned().unwrap_or_else(|| "0".into());
        }
        carry_over(&mut same, &before, "volumeAttributesClassName");
    }
    let claim = |spec: Value| Value::from_iter([("spec", spec)]);
    let (same, before) = (claim(same), claim(before));
    let (same, before) = (at(&same), at(&before));
    let (same, before) = (same.field("spec"), before.field("spec"));
    if !same.equals(&before) {
        let difference = same.difference_from(&before);
        let detail =
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        same.forbidden(format!("{detail}\n{difference}"), errors);
    }
}

/// The storage class stays, but may move from the annotation to the field, or be set where there was none; then it is left out of the
/// comparison in `same`.
fn storage_class(new: &Value, old: &Value, same: &mut Value, errors: &mut Errors) {
    const FIELD: &str = "storageClassName";
    let annotation = |claim| meta::annotations(claim).get(CLASS_ANNOTATION);
    let class = |claim: &Value| claim["spec"].get(FIELD).and_then(Value::as_str).map(str::to_owned);
    let (was, is) = (annotation(old), annotation(new));
    let is_upgrade =
        class(old).is_none() && class(new).is_some() && was.is_none_or(|was| class(new).as_deref() == Some(was));
    if is_upgrade {
        carry_over(same, &old["spec"], FIELD);
    }
    let moves = is_upgrade && was.is_some() && is.is_none_or(|is| Some(is) == was);
    if !moves && was.unwrap_or_default() != is.unwrap_or_default() {
        let annotations = Path::new("metadata.annotations");
        errors.invalid(annotations.child(CLASS_ANNOTATION), is.unwrap_or_default(), IMMUTABLE);
    }
}

/// The amount of storage may become less only while more than what there is, that is, after an expansion has failed.
fn storage(new: &Value, old: &Value, errors: &mut Errors) {
    let requested = |claim: &Value| amount(text(claim, "/spec/resources/requests/storage"));
    let present = amount(text(old, "/status/capacity/storage"));
    if requested(new) < requested(old) && requested(new) <= present {
        let at = Path::new("spec.resources.requests.storage");
        errors.forbidden(at, "field can not be less than status.capacity");
    }
}

/// Findings about a change of the status.
pub(super) fn status(_: &Context<'_>, new: &Value, _: Option<&Value>, errors: &mut Errors) {
    let claim = at(new);
    if claim.field("spec.accessModes").is_empty() {
        errors.required(Path::new("Spec.accessModes"), "");
    }
    let status = claim.field("status");
    for (_, amount) in status.field("capacity").entries() {
        basic_resource(amount.path(), amount.text(), errors);
    }
    let states = status.field("allocatedResourceStatuses");
    for (resource, state) in states.entries() {
        resource_key(states.path(), resource, errors);
        if !RESIZE_STATES.contains(&state.text()) {
            let resource = Value::from(resource);
            At::untyped(&resource, states.path()).unsupported(&RESIZE_STATES, errors);
        }
    }
    let allocated = status.field("allocatedResources");
    for (resource, amount) in allocated.entries() {
        let before = errors.len();
        resource_key(allocated.path(), resource, errors);
        if errors.len() == before {
            basic_resource(amount.path(), amount.text(), errors);
        }
    }
}

/// `validatePersistentVolumeClaimResourceKey`: storage, or a resource of another domain.
fn resource_key(at: Path<'_>, resource: &str, errors: &mut Errors) {
    let objections = name::label_key(resource);
    if objections.is_empty() && is_native_resource(resource) {
        errors.supported(at, resource, &["storage"]);
    }
    errors.invalid_each(at, resource, objections);
}
