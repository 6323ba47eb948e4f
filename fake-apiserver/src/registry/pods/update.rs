//! The allowed changes of a pod: a few fields of its spec, and the fields of its status that kubelets report.
//!
//! Follows `ValidatePodUpdate` and `ValidatePodStatusUpdate` of `pkg/apis/core/validation/validation.go` (v1.37.1).
//!
//! GAP: pods: rules for a status about the transitions, users, resources and volumes of containers, about claims of resources, observed
//! generations and addresses of hosts

use super::gated;
use super::validate::{self, SPEC};
use crate::error::{Errors, Path};
use crate::object::generation::of_field;
use crate::object::validate::immutable;
use crate::object::{meta, name};
use crate::registry::cursor::At;
use crate::registry::types::{APP_ARMOR, ip, tolerations};
use crate::registry::{MIRROR_POD_ANNOTATION, carry_over, items, number, text};
use crate::schema::{self, TypeRef};
use std::collections::HashSet;
use tree::Value;

/// `updatablePodSpecFields`.
const UPDATABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
    `spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` \
    (allow it to be set to 1 if it was previously negative)";

/// Findings about a change of a pod.
pub(super) fn spec(new: &Value, old: &Value, errors: &mut Errors) {
    validate::spec(new, Some(old), errors);
    annotations(new, old, errors);
    for (field, list) in [("containers", "/spec/containers"), ("initContainers", "/spec/initContainers")] {
        if items(new, list).len() != items(old, list).len() {
            return errors.forbidden(SPEC.child(field), "pod updates may not add or remove containers");
        }
    }
    if deadline(errors, new, old) {
        return;
    }
    kept_tolerations(errors, new, old);
    only_deleted_gates(errors, new, old);
    if let (Some(new), Some(old)) = (new.get("spec"), old.get("spec")) {
        rest(errors, new, old);
    }
}

/// `ValidatePodSpecificAnnotationUpdates`.
fn annotations(new: &Value, old: &Value, errors: &mut Errors) {
    let at = Path::new("metadata.annotations");
    let (new, old) = (meta::annotations(new), meta::annotations(old));
    let fixed = |key: &str| match key {
        MIRROR_POD_ANNOTATION => Some("mirror pod annotation"),
        key => key.starts_with(APP_ARMOR).then_some("AppArmor annotations"),
    };
    let mut forbid = |key: &str, change: &str| {
        if let Some(what) = fixed(key) {
            errors.forbidden(at.key(key), format!("may not {change} {what}"));
        }
    };
    for (key, _) in old.iter().filter(|(key, value)| new.get(key) != Some(*value)) {
        forbid(key, "remove or update");
    }
    for (key, _) in new.iter().filter(|(key, _)| old.get(key).is_none()) {
        forbid(key, "add");
    }
}

/// Rule for the fields of the spec that may not change.
fn rest(errors: &mut Errors, new: &Value, old: &Value) {
    if new == old {
        return;
    }
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
        gated::fewer_nodes(errors, &mut rest, old);
    }
    let pod = |spec: &Value| Value::from_iter([("spec", spec.clone())]);
    let (rest, old) = (pod(&rest), pod(old));
    let (rest, old) = (At::object(&rest, "v1", "Pod"), At::object(&old, "v1", "Pod"));
    let (rest, old) = (rest.field("spec"), old.field("spec"));
    if !rest.equals(&old) {
        let difference = rest.difference_from(&old);
        rest.forbidden(format!("pod updates may not change fields other than {UPDATABLE}\n{difference}"), errors);
    }
}

/// Rule for `activeDeadlineSeconds`, which may be set, and lowered. True if the validation ends there.
fn deadline(errors: &mut Errors, new: &Value, old: &Value) -> bool {
    let whole = At::object(new, "v1", "Pod");
    let seconds = whole.field("spec.activeDeadlineSeconds");
    let before = errors.len();
    seconds.between(0..=i64::from(i32::MAX), errors);
    match (seconds.number(), number(old, "/spec/activeDeadlineSeconds")) {
        _ if errors.len() > before => true,
        (Some(new), Some(old)) if new > old => {
            seconds.invalid("must be less than or equal to previous value", errors);
            true
        }
        (None, Some(_)) => {
            seconds.invalid_value(Value::Null, "must not update from a positive integer to nil value", errors);
            false
        }
        _ => false,
    }
}

/// `validateOnlyAddedTolerations`: only the seconds of an existing one may change.
fn kept_tolerations(errors: &mut Errors, new: &Value, old: &Value) {
    let without_seconds = |toleration: &Value| {
        let mut toleration = toleration.clone();
        toleration.as_object_mut().map(|fields| fields.remove("tolerationSeconds"));
        toleration
    };
    let now: HashSet<Value> = items(new, "/spec/tolerations").iter().map(without_seconds).collect();
    if items(old, "/spec/tolerations").iter().all(|before| now.contains(&without_seconds(before))) {
        return tolerations(At::object(new, "v1", "Pod").field("spec.tolerations"), errors);
    }
    let detail = "existing toleration can not be modified except its tolerationSeconds";
    errors.forbidden(SPEC.child("tolerations"), detail);
}

fn only_deleted_gates(errors: &mut Errors, new: &Value, old: &Value) {
    let before: HashSet<&str> = items(old, "/spec/schedulingGates").iter().map(|gate| text(gate, "/name")).collect();
    for (index, gate) in items(new, "/spec/schedulingGates").iter().enumerate() {
        let gate = text(gate, "/name");
        if !before.contains(gate) {
            let detail = format!("only deletion is allowed, but found new scheduling gate '{gate}'");
            errors.forbidden(SPEC.item("schedulingGates", index).child("name"), detail);
        }
    }
}

/// The type of a pod's spec.
pub(super) fn spec_type() -> TypeRef<'static> {
    let pod = schema::lookup("v1", "Pod").expect("pods have a type");
    pod.of(pod.field("spec").expect("pods have a spec"))
}

/// The type of the containers in a list of the spec.
pub(super) fn container_type(list: &str) -> Option<TypeRef<'static>> {
    of_field(spec_type(), list)?.target().element()
}

/// Findings about a change of a pod's status.
pub(super) fn status(new: &Value, old: &Value, errors: &mut Errors) {
    let at = Path::new("status");
    for (index, condition) in items(new, "/status/conditions").iter().enumerate() {
        let type_ = text(condition, "/type");
        if !["PodScheduled", "Ready", "Initialized"].contains(&type_) {
            errors.invalid_each(at.item("conditions", index).child("Type"), type_, name::label_key(type_));
        }
    }
    let nominated = text(new, "/status/nominatedNodeName");
    if !nominated.is_empty() && nominated != text(old, "/status/nominatedNodeName") {
        let at = at.child("nominatedNodeName");
        errors.invalid_each(at, nominated, name::dns_subdomain(nominated));
        if !text(old, "/spec/nodeName").is_empty() {
            errors.forbidden(at, "may not be set on pods that are already bound to a node");
        }
    }
    errors.extend(immutable(new, old, "status.qosClass"));
    addresses(At::object(new, "v1", "Pod").field("status.podIPs"), text(new, "/status/podIP"), errors);
}

/// Rules for `podIPs` (`validatePodIPs`), of which the first is also the pod's `own` address.
fn addresses(list: At<'_, '_>, own: &str, errors: &mut Errors) {
    let addresses: Vec<&str> = list.items().map(|entry| text(entry.value(), "/ip")).collect();
    for (index, address) in addresses.iter().enumerate() {
        ip(list.path().index(index), address, errors);
    }
    let of_both =
        addresses.iter().any(|address| address.contains(':')) && addresses.iter().any(|one| !one.contains(':'));
    if addresses.len() > 2 || addresses.len() == 2 && !of_both {
        list.invalid("may specify no more than one IP for each IP family", errors);
    }
    match addresses.first() {
        first if first.is_some() == own.is_empty() => {
            list.invalid("podIP and podIPs must either both be set or both be unset", errors);
        }
        Some(first) if *first != own => {
            errors.invalid(list.path().index(0).child("ip"), *first, "must be equal to `podIP`");
        }
        _ => {}
    }
}
