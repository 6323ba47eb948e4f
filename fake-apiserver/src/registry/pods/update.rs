//! What may change in a pod: little of its spec, and of its status what kubelets report.
//!
//! Follows `ValidatePodUpdate` and `ValidatePodStatusUpdate` of `pkg/apis/core/validation/validation.go` (v1.37.1).
//! Where the real server appends a diff of its Go structs, the changed fields are listed. Not ported: node affinity of
//! gated pods, transitions of container states.

use super::dns::ip_error;
use super::validate::{Findings, active_deadline, pod_and_spec, tolerations};
use crate::error::FieldError;
use crate::object::generation::equal;
use crate::object::name;
use crate::object::validate::{immutable, objections};
use crate::registry::{carry_over, items, text};
use serde_json::{Map, Value};

/// `updatablePodSpecFields`.
const UPDATABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
    `spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` \
    (allow it to be set to 1 if it was previously negative)";

/// Findings about a change of a pod.
pub(super) fn spec(new: &Value, old: &Value) -> Findings {
    let mut errors = pod_and_spec(new);
    for list in ["containers", "initContainers"] {
        let pointer = format!("/spec/{list}");
        if items(new, &pointer).len() != items(old, &pointer).len() {
            let detail = "pod updates may not add or remove containers";
            errors.push(FieldError::forbidden(format!("spec.{list}"), detail));
            return errors;
        }
    }
    if deadline(&mut errors, new, old) {
        return errors;
    }
    kept_tolerations(&mut errors, new, old);
    only_deleted_gates(&mut errors, new, old);
    let (Some(new), Some(old)) = (new.get("spec"), old.get("spec")) else { return errors };
    let mut rest = new.clone();
    for list in ["containers", "initContainers"] {
        for (index, container) in rest.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten().enumerate() {
            carry_over(container, &old[list][index], "image");
        }
    }
    for field in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        carry_over(&mut rest, old, field);
    }
    if !items(old, "/schedulingGates").is_empty() {
        added_selectors(&mut errors, &rest, old);
        carry_over(&mut rest, old, "nodeSelector");
    }
    if !equal(Some(&rest), Some(old)) {
        let detail = format!("pod updates may not change fields other than {UPDATABLE}\n{}", differences(&rest, old));
        errors.push(FieldError::forbidden("spec", detail));
    }
    errors
}

/// `activeDeadlineSeconds` may be set, and lowered. Tells whether to look no further.
fn deadline(errors: &mut Findings, new: &Value, old: &Value) -> bool {
    let path = "spec.activeDeadlineSeconds";
    let of = |pod: &Value| pod.pointer("/spec/activeDeadlineSeconds").and_then(Value::as_i64);
    let before = errors.len();
    if let Some(spec) = new.get("spec") {
        active_deadline(errors, spec, 0);
    }
    match (of(new), of(old)) {
        _ if errors.len() > before => true,
        (Some(new), Some(old)) if new > old => {
            let detail = "must be less than or equal to previous value";
            errors.push(FieldError::invalid(path, &new.into(), detail));
            true
        }
        (None, Some(_)) => {
            let detail = "must not update from a positive integer to nil value";
            errors.push(FieldError::invalid(path, &Value::Null, detail));
            false
        }
        _ => false,
    }
}

/// `validateOnlyAddedTolerations`: only the seconds of an existing one may change.
fn kept_tolerations(errors: &mut Findings, new: &Value, old: &Value) {
    let same = |a: &Value, b: &Value| {
        let without_seconds = |one: &Value| {
            let mut one = one.clone();
            one.as_object_mut().map(|fields| fields.remove("tolerationSeconds"));
            one
        };
        without_seconds(a) == without_seconds(b)
    };
    let now = items(new, "/spec/tolerations");
    if items(old, "/spec/tolerations").iter().all(|before| now.iter().any(|after| same(before, after))) {
        if let Some(spec) = new.get("spec") {
            tolerations(errors, spec);
        }
        return;
    }
    let detail = "existing toleration can not be modified except its tolerationSeconds";
    errors.push(FieldError::forbidden("spec.tolerations", detail));
}

fn only_deleted_gates(errors: &mut Findings, new: &Value, old: &Value) {
    let before = items(old, "/spec/schedulingGates");
    for (index, gate) in items(new, "/spec/schedulingGates").iter().enumerate() {
        let gate = text(gate, "/name");
        if !before.iter().any(|other| text(other, "/name") == gate) {
            let detail = format!("only deletion is allowed, but found new scheduling gate '{gate}'");
            errors.push(FieldError::forbidden(format!("spec.schedulingGates[{index}].name"), detail));
        }
    }
}

/// A gated pod may become more selective.
fn added_selectors(errors: &mut Findings, new: &Value, old: &Value) {
    let selectors = |spec: &Value| spec.get("nodeSelector").and_then(Value::as_object).cloned().unwrap_or_default();
    let (new, old) = (selectors(new), selectors(old));
    if old.iter().any(|(key, value)| new.get(key) != Some(value)) {
        let detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        errors.push(FieldError::invalid("spec.nodeSelector", &Value::Object(new), detail));
    }
}

/// The fields that differ, before and after.
pub(super) fn differences(new: &Value, old: &Value) -> String {
    let fields = |spec: &Value| spec.as_object().cloned().unwrap_or_default();
    let (new, old): (Map<String, Value>, Map<String, Value>) = (fields(new), fields(old));
    let mut text = String::new();
    for key in old.keys().chain(new.keys().filter(|key| !old.contains_key(*key))) {
        let (before, after) = (old.get(key), new.get(key));
        if !equal(before, after) {
            let print = |value: Option<&Value>| value.unwrap_or(&Value::Null).to_string();
            text.push_str(&format!("- {key:?}: {}\n+ {key:?}: {}\n", print(before), print(after)));
        }
    }
    text
}

/// Findings about a change of a pod's status.
pub(super) fn status(new: &Value, old: &Value) -> Findings {
    let mut errors = Vec::new();
    for (index, condition) in items(new, "/status/conditions").iter().enumerate() {
        let type_ = text(condition, "/type");
        if !["PodScheduled", "Ready", "Initialized"].contains(&type_) {
            errors.extend(objections(&format!("status.conditions[{index}].Type"), type_, name::label_key(type_)));
        }
    }
    let nominated = text(new, "/status/nominatedNodeName");
    if !nominated.is_empty() && nominated != text(old, "/status/nominatedNodeName") {
        let path = "status.nominatedNodeName";
        errors.extend(objections(path, nominated, name::dns_subdomain(nominated)));
        if !text(old, "/spec/nodeName").is_empty() {
            errors.push(FieldError::forbidden(path, "may not be set on pods that are already bound to a node"));
        }
    }
    errors.extend(immutable(new, old, "status.qosClass"));
    for (index, entry) in items(new, "/status/podIPs").iter().enumerate() {
        errors.extend(ip_error(format!("status.podIPs[{index}]"), text(entry, "/ip")));
    }
    errors
}
