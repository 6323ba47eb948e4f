//! Controllers and what they own.
//!
//! Ports `BaseControllerRefManager.ClaimObject` of `k8s.io/kubernetes/pkg/controller/controller_ref_manager.go` (v1.37.1).

use crate::act::{Act, PatchType};
use crate::objects::{Change, Objects};
use crate::plan::Keys;
use crate::resource::{Key, Resource};
use machinery::object::meta;
use machinery::object::selector::LabelSelector;
use std::sync::Arc;
use tree::{Value, json};

/// A kind of controllers.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) resource: Resource,
    pub(crate) api_version: &'static str,
    pub(crate) kind: &'static str,
}

impl Kind {
    pub(crate) const fn new(resource: Resource, api_version: &'static str, kind: &'static str) -> Kind {
        Kind { resource, api_version, kind }
    }

    /// The reference to an owner that is a controller.
    pub(crate) fn reference(&self, owner: &Value) -> Value {
        json!({
            "apiVersion": self.api_version,
            "kind": self.kind,
            "name": meta::name(owner),
            "uid": meta::uid(owner),
            "controller": true,
            "blockOwnerDeletion": true,
        })
    }
}

/// The key of an object.
pub(crate) fn key(object: &Value) -> Key {
    Key { namespace: meta::namespace(object).to_owned(), name: meta::name(object).to_owned() }
}

/// The reference to an object's controller.
pub(crate) fn controller(object: &Value) -> Option<&Value> {
    meta::owner_references(object).iter().find(|owner| owner.get("controller").and_then(Value::as_bool) == Some(true))
}

/// Whether an object's controller is that one.
pub(crate) fn is_controlled_by(object: &Value, owner: &Value) -> bool {
    controller(object).is_some_and(|reference| meta::uid(owner) == uid_of(reference))
}

fn uid_of(reference: &Value) -> &str {
    reference.get("uid").and_then(Value::as_str).unwrap_or_default()
}

/// Adds the controllers of a dependent, before and after its change, if they are of that kind; and all of that kind that select it, if it
/// has no controller.
pub(crate) fn wanted(
    kind: &Kind,
    selector: impl Fn(&Value) -> Option<LabelSelector>,
    change: &Change<'_>,
    objects: &Objects,
    keys: &mut Keys,
) {
    let group = |version: &str| version.rsplit_once('/').map(|(group, _)| group.to_owned());
    for object in [change.old, change.new].into_iter().flatten() {
        let Some(reference) = controller(object) else { continue };
        let is = |name: &str| reference.get(name).and_then(Value::as_str).unwrap_or_default();
        if is("kind") == kind.kind && group(is("apiVersion")) == group(kind.api_version) {
            keys.add(Key { namespace: change.key.namespace.clone(), name: is("name").to_owned() });
        }
    }
    let Some(orphan) = change.new.filter(|object| controller(object).is_none()) else { return };
    for (key, owner) in objects.within(&kind.resource, &change.key.namespace) {
        if selector(owner).is_some_and(|selector| !selector.is_empty() && selects(&selector, orphan)) {
            keys.add(key.clone());
        }
    }
}

/// Whether a selector selects an object.
pub(crate) fn selects(selector: &LabelSelector, object: &Value) -> bool {
    selector.matches(meta::labels(object).iter())
}

/// The selector in an object's spec.
pub(crate) fn selector(owner: &Value) -> Option<LabelSelector> {
    LabelSelector::structured(owner.pointer("/spec/selector")?)
}

/// The objects of a resource that an owner controls, and those in its namespace that nobody does, by name.
pub(crate) fn candidates<'o>(objects: &'o Objects, resource: &Resource, owner: &'o Value) -> Vec<&'o Arc<Value>> {
    let namespace = meta::namespace(owner);
    let owned = objects
        .owned(meta::uid(owner))
        .filter(|(of, key, object)| *of == resource && key.namespace == namespace && is_controlled_by(object, owner));
    let all = owned.map(|(_, _, object)| object).chain(objects.orphans(resource, namespace));
    let mut all: Vec<&Arc<Value>> = all.collect();
    all.sort_by_key(|object| meta::name(object));
    all
}

/// The objects that belong to an owner, and the acts that make it so.
pub(crate) struct Claim<'o> {
    pub(crate) mine: Vec<&'o Arc<Value>>,
    pub(crate) acts: Vec<Act>,
}

/// Adopts those of the candidates that the owner selects, and releases those that it does not select any more.
pub(crate) fn claim<'o>(
    kind: &Kind,
    owner: &Value,
    selects: impl Fn(&Value) -> bool,
    resource: &Resource,
    candidates: impl IntoIterator<Item = &'o Arc<Value>>,
    finalizer: Option<&str>,
) -> Claim<'o> {
    let mut claim = Claim { mine: Vec::new(), acts: Vec::new() };
    let is_going = meta::deletion_timestamp(owner).is_some();
    for object in candidates {
        let patch = match (controller(object).is_some(), selects(object)) {
            (true, true) => {
                claim.mine.push(object);
                continue;
            }
            _ if is_going => continue,
            (true, false) => release(owner, object, finalizer),
            (false, true) if meta::deletion_timestamp(object).is_none() => {
                claim.mine.push(object);
                adopt(kind, owner, object, finalizer)
            }
            (false, _) => continue,
        };
        let (resource, key, patch_type) = (resource.clone(), key(object), PatchType::Strategic);
        claim.acts.push(Act::Patch { resource, key, subresource: "", patch_type, patch });
    }
    claim
}

fn adopt(kind: &Kind, owner: &Value, object: &Value, finalizer: Option<&str>) -> Value {
    let mut patch = json!({"metadata": {"ownerReferences": [kind.reference(owner)], "uid": meta::uid(object)}});
    if let Some(finalizer) = finalizer {
        patch["metadata"]["finalizers"] = json!([finalizer]);
    }
    patch
}

fn release(owner: &Value, object: &Value, finalizer: Option<&str>) -> Value {
    let mut patch = json!({"metadata": {"uid": meta::uid(object), "ownerReferences": [
        {"$patch": "delete", "uid": meta::uid(owner)},
    ]}});
    if let Some(finalizer) = finalizer {
        patch["metadata"]["$deleteFromPrimitiveList/finalizers"] = json!([finalizer]);
    }
    patch
}
