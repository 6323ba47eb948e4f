//! Pods made of templates.
//!
//! Ports `GetPodFromTemplate` and `RealPodControl` of `k8s.io/kubernetes/pkg/controller/controller_utils.go` (v1.37.1).

use super::names::Names;
use super::owners::Kind;
use super::pods::PODS;
use crate::act::{Act, Deletion, Refusal};
use crate::plan::View;
use crate::resource::Key;
use machinery::object::meta;
use std::borrow::Cow;
use tree::{Value, json};

/// A pod of a template that is at `/spec/template` of its owner, without a name.
pub(crate) fn pod(kind: &Kind, owner: &Value) -> Value {
    let none = Value::Null;
    of(owner.pointer("/spec/template").unwrap_or(&none), kind, owner)
}

/// A pod of a template, without a name.
pub(crate) fn of(template: &Value, kind: &Kind, owner: &Value) -> Value {
    let mut metadata = json!({
        "generateName": format!("{}-", meta::name(owner)),
        "namespace": meta::namespace(owner),
        "ownerReferences": [kind.reference(owner)],
    });
    for name in ["labels", "annotations", "finalizers"] {
        if let Some(value) = template.pointer(&format!("/metadata/{name}")).filter(|value| !value.is_null()) {
            metadata[name] = value.clone();
        }
    }
    let spec = template.get("spec").cloned().unwrap_or_default();
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
}

/// The creation of a pod, with the event about it.
pub(crate) fn create(mut pod: Value, owner: &Value, names: &mut Names, view: &View<'_>) -> [Act; 2] {
    let namespace = meta::namespace(owner).to_owned();
    let name = match meta::name(&pod) {
        "" => names.name(&mut pod, meta::uid(owner), &PODS, &namespace, view),
        name => name.to_owned(),
    };
    let key = Key { namespace, name: name.clone() };
    [
        Act::Create { resource: PODS, key, subresource: "", object: pod },
        event(owner, false, "SuccessfulCreate", format!("Created pod: {name}")),
    ]
}

/// The deletion of a pod, with the event about it.
pub(crate) fn delete(pod: &Value, owner: &Value) -> [Act; 2] {
    let message = format!("Deleted pod: {}", meta::name(pod));
    [
        Act::Delete { resource: PODS, key: super::owners::key(pod), options: Deletion::default() },
        event(owner, false, "SuccessfulDelete", message),
    ]
}

/// An event.
pub(crate) fn event(about: &Value, warning: bool, reason: impl Into<Cow<'static, str>>, message: String) -> Act {
    Act::Event { about: about.clone(), warning, reason: reason.into(), action: "", message }
}

/// Whether a creation was refused because its namespace is being deleted.
pub(crate) fn is_of_terminating_namespace(refusal: &Refusal) -> bool {
    refusal.code == 403 && refusal.message.contains("because it is being terminated")
}

/// The event about a creation or deletion of a pod that was refused, and what the controller makes of the refusal.
pub(crate) fn failed(act: &Act, owner: &Value, refusal: &Refusal) -> Option<(Act, &'static str, String)> {
    match act {
        Act::Create { .. } => {
            let message = format!("Error creating: {refusal}");
            Some((event(owner, true, "FailedCreate", message), "FailedCreate", refusal.to_string()))
        }
        Act::Delete { .. } if refusal.code != 404 => {
            let (message, error) = (format!("Error deleting: {refusal}"), format!("unable to delete pods: {refusal}"));
            Some((event(owner, true, "FailedDelete", message), "FailedDelete", error))
        }
        _ => None,
    }
}
