//! Writes into claims and volumes as they are bound, a step at a time.

use super::matching::is_bound_to;
use super::{CLAIMS, VOLUMES};
use crate::act::Act;
use crate::plan::Plan;
use crate::resource::Resource;
use crate::workloads::facts::{read, status, template};
use machinery::object::meta;
use quantity::Quantity;
use std::time::Duration;
use tree::{Value, json};

/// The annotation of a claim that was bound once.
const COMPLETED: &str = "pv.kubernetes.io/bind-completed";
/// The annotation of what the binder has bound, rather than a user.
pub(super) const BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
/// The annotation of a volume that is being resized, with its size before.
const SIZE_BEFORE: &str = "volume.alpha.kubernetes.io/pre-resize-capacity";

/// Whether an object has an annotation.
pub(crate) fn has(object: &Value, annotation: &str) -> bool {
    meta::annotations(object).get(annotation).is_some()
}

/// Whether a claim was bound.
pub(crate) fn is_bound(claim: &Value) -> bool {
    has(claim, COMPLETED)
}

/// Sets an annotation.
pub(crate) fn annotate(object: &mut Value, annotation: &str, value: &str) {
    object["metadata"]["annotations"][annotation] = value.into();
}

/// Takes an annotation away, and the list if it was the last one.
pub(super) fn strip(object: &mut Value, annotation: &str) {
    let Some(all) = object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) else { return };
    all.remove(annotation);
    if all.is_empty() {
        meta::remove(object, "annotations");
    }
}

fn update(resource: Resource, subresource: &'static str, object: Value) -> Act {
    Act::Update { resource, subresource, object }
}

/// A plan of these acts, after which the object is looked at again.
pub(super) fn step(acts: Vec<Act>) -> Plan {
    Plan { again: Some(Duration::ZERO), ..Plan::of(acts) }
}

/// Writes a claim.
pub(crate) fn claim(object: Value) -> Act {
    update(CLAIMS, "", object)
}

/// Writes a volume.
pub(crate) fn volume(object: Value) -> Act {
    update(VOLUMES, "", object)
}

/// The volume that belongs to a claim, if it does not yet (`GetBindVolumeToClaim`).
pub(crate) fn reserved(volume: &Value, claim: &Value) -> Option<Value> {
    let mut bound = volume.clone();
    let names = read::text(volume, "/spec/claimRef/uid") == meta::uid(claim) && is_bound_to(volume, claim);
    if !names {
        bound["spec"]["claimRef"] = reference(claim);
    }
    let by_controller = !is_bound_to(volume, claim) && !has(volume, BY_CONTROLLER);
    if by_controller {
        annotate(&mut bound, BY_CONTROLLER, "yes");
    }
    (!names || by_controller).then_some(bound)
}

/// The reference to a claim.
pub(super) fn reference(claim: &Value) -> Value {
    json!({
        "kind": "PersistentVolumeClaim",
        "namespace": meta::namespace(claim),
        "name": meta::name(claim),
        "uid": meta::uid(claim),
        "apiVersion": "v1",
        "resourceVersion": meta::resource_version(claim),
    })
}

/// The next step in which a volume and a claim become each other's: the volume first, each before its status.
pub(super) fn bind(of_volume: &Value, of_claim: &Value) -> Plan {
    let next = reserved(of_volume, of_claim).map(volume);
    let next = next.or_else(|| phase(of_volume, "Bound", ""));
    let next = next.or_else(|| bound(of_claim, of_volume).map(claim));
    let next = next.or_else(|| claim_status(of_claim, "Bound", Some(of_volume)));
    next.map(|act| step(vec![act])).unwrap_or_default()
}

/// The claim that has a volume, if it does not say so yet.
fn bound(claim: &Value, volume: &Value) -> Option<Value> {
    let mut bound = claim.clone();
    let names = read::text(claim, "/spec/volumeName") == meta::name(volume);
    if !names {
        bound["spec"]["volumeName"] = meta::name(volume).into();
        if !has(claim, BY_CONTROLLER) {
            annotate(&mut bound, BY_CONTROLLER, "yes");
        }
    }
    if !is_bound(claim) {
        annotate(&mut bound, COMPLETED, "yes");
    }
    (!names || !is_bound(claim)).then_some(bound)
}

/// The volume that belongs to nobody, or again to the claim that a user has reserved it for.
pub(super) fn unbound(of_volume: &Value) -> Plan {
    let mut free = of_volume.clone();
    match has(of_volume, BY_CONTROLLER) {
        true => {
            status::unset(&mut free["spec"], "claimRef");
            strip(&mut free, BY_CONTROLLER);
        }
        false => status::unset(&mut free["spec"]["claimRef"], "uid"),
    }
    step(vec![volume(free)])
}

/// The phase of a volume, with a message, unless it has that phase.
pub(super) fn phase(volume: &Value, phase: &str, message: &str) -> Option<Act> {
    if read::text(volume, "/status/phase") == phase {
        return None;
    }
    let mut object = volume.clone();
    object["status"] = status::of(volume);
    object["status"]["phase"] = phase.into();
    status::text(&mut object["status"], "message", message);
    Some(update(VOLUMES, "status", object))
}

/// The phase of a volume, and a warning about it, unless it has that phase.
pub(super) fn failed(volume: &Value, reason: &'static str, message: &str) -> Plan {
    let act = phase(volume, "Failed", message);
    let event = |act| vec![act, template::event(volume, true, reason, message.to_owned())];
    Plan::of(act.map(event).unwrap_or_default())
}

/// The status of a claim, unless it has that: the phase, and what it has of its volume.
pub(super) fn claim_status(claim: &Value, phase: &str, volume: Option<&Value>) -> Option<Act> {
    let mut new = status::of(claim);
    let before = read::text(claim, "/status/phase");
    new["phase"] = phase.into();
    match volume {
        None => {
            for field in ["accessModes", "capacity", "currentVolumeAttributesClassName"] {
                status::unset(&mut new, field);
            }
        }
        Some(volume) => {
            new["accessModes"] = volume.pointer("/spec/accessModes").cloned().unwrap_or_default();
            if before != phase {
                capacity(&mut new, volume);
            }
            let class = read::text(volume, "/spec/volumeAttributesClassName");
            if (before, phase) == ("Pending", "Bound") {
                status::text(&mut new, "currentVolumeAttributesClassName", class);
            }
        }
    }
    status::changed(claim, new).map(|object| update(CLAIMS, "status", object))
}

/// The capacity of a claim: that of its volume, or the one before, while that is being resized.
fn capacity(status: &mut Value, volume: &Value) {
    let all = volume.pointer("/spec/capacity").cloned().unwrap_or_default();
    let before = meta::annotations(volume).get(SIZE_BEFORE);
    if let Some(before) = before {
        let size = Quantity::parse(before).map_or_else(|_| all["storage"].clone(), |_| before.into());
        status["capacity"]["storage"] = size;
        return;
    }
    let size = |of: Option<&Value>| of.and_then(Value::as_str).and_then(|text| Quantity::parse(text).ok());
    let own = size(status.pointer("/capacity/storage"));
    if own.is_none() || own != size(all.get("storage")) {
        status["capacity"] = all;
    }
}

/// The claim is lost: a warning says why, once.
pub(super) fn lost(claim: &Value, reason: &'static str, message: &str) -> Plan {
    if read::text(claim, "/status/phase") == "Lost" {
        return Plan::default();
    }
    let act = claim_status(claim, "Lost", None);
    let event = template::event(claim, true, reason, message.to_owned());
    Plan::of(act.into_iter().chain([event]).collect())
}
