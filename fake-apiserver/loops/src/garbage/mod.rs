//! The garbage collector: objects whose owners are gone are deleted; owners wait for their dependents, or leave them behind.
//!
//! Follows `pkg/controller/garbagecollector` (v1.37.1). There a graph lags behind the server, so that owners may be virtual, and all that is
//! decided is verified by reading objects anew. Here what is known is what there is: the graph is the index of the objects by uid and by
//! owner, an owner that it lacks does not exist, and nothing is read.

mod reference;

use crate::act::{Act, Deletion, PatchType, Propagation, Refusal};
use crate::kinds::ServedKind;
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use machinery::object::meta;
use reference::{Differences, Reference, task};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tree::{Value, json};

static PROFILE: Profile = Profile {
    name: "garbage-collector-controller",
    alias: "garbagecollector",
    user: "system:serviceaccount:kube-system:generic-garbage-collector",
    program: "kube-controller-manager",
    component: "garbage-collector-controller",
};

/// The finalizer of an object that waits until its dependents are deleted.
const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an object that waits until its dependents are orphaned.
const ORPHAN: &str = "orphan";
/// The reason of events about owners in other namespaces.
const INVALID_NAMESPACE: &str = "OwnerRefInvalidNamespace";

const DELETE: &str = "delete";
const ORPHAN_DEPENDENTS: &str = "orphan dependents of";

/// The garbage collector.
#[derive(Default)]
pub(crate) struct GarbageCollector {
    /// The uids of the objects that it was told of.
    seen: HashSet<String>,
    /// The uids of owners in other namespaces, to be reported once, by that of the dependent.
    misplaced: HashMap<String, BTreeSet<String>>,
    /// The uids of objects that are to be looked at again.
    more: Vec<String>,
}

/// The owners of an object, by what has become of them.
#[derive(Default)]
struct Owners<'a> {
    solid: Vec<Reference<'a>>,
    dangling: Vec<Reference<'a>>,
    /// Those that wait until their dependents are deleted.
    waiting: Vec<Reference<'a>>,
}

/// Why the owners of an object are not known.
enum Unknown {
    /// It is in no namespace, and refers to an owner that is in one: nothing will ever change that.
    NoNamespace,
    /// The server does not know the owner's kind; it may, later.
    NoKind(String),
}

impl Loop for GarbageCollector {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        &[]
    }

    fn wants(&mut self, change: &Change<'_>, objects: &Objects, keys: &mut Keys) {
        if &*change.resource.plural == "events" {
            return;
        }
        match (change.old, change.new) {
            (old, Some(new)) => self.there(change.key, old, new, objects, keys),
            (Some(old), None) => self.gone(old, objects, keys),
            (None, None) => {}
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let Some((resource, key_of, object)) = view.objects.by_uid(&key.name) else { return Plan::default() };
        let node = Node { resource, key: key_of, object, objects: view.objects };
        if key.namespace == ORPHAN_DEPENDENTS {
            return node.orphan();
        }
        let mut plan = self.delete(&node);
        if let Some(owners) = self.misplaced.remove(&key.name) {
            plan.acts.splice(0..0, node.reports(&owners));
        }
        plan
    }

    fn follow_up(&mut self, keys: &mut Keys) {
        self.more.drain(..).for_each(|uid| keys.add(task(DELETE, &uid)));
    }

    fn says(&self, key: &Key, objects: &Objects) -> String {
        match objects.by_uid(&key.name) {
            Some((resource, of, _)) => format!("{} {resource} {of}", key.namespace),
            None => format!("{} {}", key.namespace, key.name),
        }
    }

    /// Custom resources take no strategic merge patches.
    fn refused(&mut self, _key: &Key, act: &Act, refusal: &Refusal, view: &View<'_>) -> Option<Plan> {
        let Act::Patch { resource, key, patch_type: PatchType::Strategic, patch, .. } = act else { return None };
        let object = view.objects.get(resource, key);
        let acts = match (refusal.code, object) {
            (415, Some(object)) => vec![patched(resource, key, PatchType::Merge, merged(object, patch))],
            _ => return None,
        };
        Some(Plan { acts, again: Some(Duration::ZERO), failed: None })
    }
}

impl GarbageCollector {
    /// An object is there, new or changed.
    fn there(&mut self, key: &Key, old: Option<&Value>, new: &Value, objects: &Objects, keys: &mut Keys) {
        let uid = meta::uid(new);
        let added = match old.filter(|_| self.seen.contains(uid)) {
            Some(old) => {
                let differences = Differences::between(old, new);
                differences.released.iter().for_each(|owner| keys.add(task(DELETE, owner)));
                differences.added
            }
            None => {
                self.observed(key, new, objects, keys);
                self.seen.insert(uid.to_owned());
                Reference::of(new).collect()
            }
        };
        self.owned(key, new, &added, objects, keys);
        if begins(old, new, ORPHAN) {
            keys.add(task(ORPHAN_DEPENDENTS, uid));
        } else if begins(old, new, FOREGROUND) {
            let dependents = objects.owned(uid);
            dependents.for_each(|(_, _, dependent)| keys.add(task(DELETE, meta::uid(dependent))));
            keys.add(task(DELETE, uid));
        }
    }

    /// The dependents that came before their owner may have misplaced it.
    fn observed(&mut self, key: &Key, owner: &Value, objects: &Objects, keys: &mut Keys) {
        let uid = meta::uid(owner);
        for (_, _, dependent) in objects.owned(uid).filter(|(.., dependent)| self.seen.contains(meta::uid(dependent))) {
            let misplaced = !key.namespace.is_empty() && key.namespace != meta::namespace(dependent);
            if misplaced {
                self.misplaced.entry(meta::uid(dependent).to_owned()).or_default().insert(uid.to_owned());
            }
            if misplaced || !names(dependent, owner) {
                keys.add(task(DELETE, meta::uid(dependent)));
            }
        }
    }

    /// An object has owners that it did not have before.
    fn owned(&mut self, key: &Key, object: &Value, added: &[Reference<'_>], objects: &Objects, keys: &mut Keys) {
        let mut doubtful = false;
        for reference in added {
            let Some((_, owner_key, owner)) = objects.by_uid(reference.uid) else {
                doubtful = true;
                continue;
            };
            if doubtful || !self.seen.contains(reference.uid) {
                continue;
            }
            let misplaced = !owner_key.namespace.is_empty() && owner_key.namespace != key.namespace;
            if misplaced {
                let owners = self.misplaced.entry(meta::uid(object).to_owned()).or_default();
                owners.insert(reference.uid.to_owned());
            }
            doubtful = misplaced || !is_of(reference, owner);
        }
        if doubtful {
            keys.add(task(DELETE, meta::uid(object)));
        }
    }

    /// An object is gone.
    fn gone(&mut self, old: &Value, objects: &Objects, keys: &mut Keys) {
        let uid = meta::uid(old);
        self.seen.remove(uid);
        self.misplaced.remove(uid);
        for (_, _, dependent) in objects.owned(uid) {
            keys.add(task(DELETE, meta::uid(dependent)));
        }
        for reference in Reference::of(old) {
            let owner = objects.by_uid(reference.uid);
            if owner.is_some_and(|(_, _, owner)| waits(owner)) {
                keys.add(task(DELETE, reference.uid));
            }
        }
    }

    /// Decides whether an object is to be deleted.
    fn delete(&mut self, node: &Node<'_>) -> Plan {
        let object = node.object;
        if waits(object) {
            let mut is_held = false;
            for dependent in node.dependents().filter(|dependent| node.is_blocked_by(dependent)) {
                is_held = true;
                // Those that are going already need no other look.
                if meta::deletion_timestamp(dependent).is_none() {
                    self.more.push(meta::uid(dependent).to_owned());
                }
            }
            return match is_held {
                false => Plan::of(node.without_finalizer(FOREGROUND)),
                true => Plan::default(),
            };
        }
        if meta::deletion_timestamp(object).is_some() || meta::owner_references(object).is_empty() {
            return Plan::default();
        }
        let Owners { solid, dangling, waiting } = match node.owners() {
            Ok(owners) => owners,
            Err(Unknown::NoNamespace) => return Plan::default(),
            Err(Unknown::NoKind(why)) => return Plan::failed(why),
        };
        if !solid.is_empty() {
            let lost: Vec<&str> = dangling.iter().chain(&waiting).map(|reference| reference.uid).collect();
            return Plan::of(if lost.is_empty() { Vec::new() } else { vec![node.disowned(&lost)] });
        }
        let mut acts = Vec::new();
        let policy = if !waiting.is_empty() && node.dependents().next().is_some() {
            if node.dependents().any(|dependent| waits(dependent)) {
                acts.extend(node.unblocked());
            }
            Propagation::Foreground
        } else if has(object, ORPHAN) {
            Propagation::Orphan
        } else if has(object, FOREGROUND) {
            Propagation::Foreground
        } else {
            Propagation::Background
        };
        if acts.is_empty() {
            acts.push(node.deletion(policy));
            return Plan::of(acts);
        }
        // The patch makes another revision, under which it is deleted.
        Plan { acts, again: Some(Duration::ZERO), failed: None }
    }
}

/// An object in the graph.
struct Node<'a> {
    resource: &'a Resource,
    key: &'a Key,
    object: &'a Value,
    objects: &'a Objects,
}

impl<'a> Node<'a> {
    fn dependents(&self) -> impl Iterator<Item = &'a Arc<Value>> {
        self.objects.owned(meta::uid(self.object)).map(|(_, _, dependent)| dependent)
    }

    /// Whether a dependent holds up its deletion.
    fn is_blocked_by(&self, dependent: &Value) -> bool {
        let uid = meta::uid(self.object);
        Reference::of(dependent).any(|reference| reference.uid == uid && reference.blocks)
    }

    /// The state of its owners.
    fn owners(&self) -> Result<Owners<'a>, Unknown> {
        let mut owners = Owners::default();
        for reference in Reference::of(self.object) {
            let place = match self.owner(&reference)? {
                None => &mut owners.dangling,
                Some(owner) if waits(owner) => &mut owners.waiting,
                Some(_) => &mut owners.solid,
            };
            place.push(reference);
        }
        Ok(owners)
    }

    /// The owner, if it exists.
    fn owner(&self, reference: &Reference<'a>) -> Result<Option<&'a Arc<Value>>, Unknown> {
        let Reference { api_version, kind, .. } = reference;
        let served = self.objects.kinds().kind(api_version, kind);
        let ServedKind { resource, namespaced, .. } =
            served.ok_or_else(|| Unknown::NoKind(format!("unable to get REST mapping for {api_version}/{kind}.")))?;
        let namespace = match (*namespaced, &*self.key.namespace) {
            (true, "") => return Err(Unknown::NoNamespace),
            (true, namespace) => namespace.to_owned(),
            (false, _) => String::new(),
        };
        let found = self.objects.get(resource, &Key { namespace, name: reference.name.to_owned() });
        Ok(found.filter(|owner| meta::uid(owner) == reference.uid))
    }

    /// Its dependents lose it as their owner, and then it goes.
    fn orphan(&self) -> Plan {
        let uid = meta::uid(self.object);
        let dependents = self
            .objects
            .owned(uid)
            .map(|(resource, key, object)| Node { resource, key, object, objects: self.objects }.disowned(&[uid]));
        let mut acts: Vec<Act> = dependents.collect();
        acts.extend(self.without_finalizer(ORPHAN));
        Plan::of(acts)
    }

    /// The patch by which it has those owners no more.
    fn disowned(&self, owners: &[&str]) -> Act {
        let references: Vec<Value> = owners.iter().map(|uid| json!({"$patch": "delete", "uid": *uid})).collect();
        let patch = json!({"metadata": {"uid": meta::uid(self.object), "ownerReferences": references}});
        patched(self.resource, self.key, PatchType::Strategic, patch)
    }

    /// The patch by which it holds up none of its owners.
    fn unblocked(&self) -> Option<Act> {
        let blocking = Reference::of(self.object).filter(|reference| reference.blocks);
        let references: Vec<Value> = blocking
            .map(|reference| {
                let mut reference = reference.value();
                reference["blockOwnerDeletion"] = false.into();
                reference
            })
            .collect();
        let patch = json!({"metadata": {"uid": meta::uid(self.object), "ownerReferences": references.clone()}});
        (!references.is_empty()).then(|| patched(self.resource, self.key, PatchType::Strategic, patch))
    }

    /// The patch by which it has a finalizer no more.
    fn without_finalizer(&self, finalizer: &str) -> Vec<Act> {
        if !has(self.object, finalizer) {
            return Vec::new();
        }
        let others: Vec<Value> =
            meta::finalizers(self.object).filter(|other| *other != finalizer).map(Value::from).collect();
        let others = if others.is_empty() { Value::Null } else { others.into() };
        let revision = meta::resource_version(self.object);
        let patch = json!({"metadata": {"resourceVersion": revision, "finalizers": others}});
        vec![patched(self.resource, self.key, PatchType::Merge, patch)]
    }

    fn deletion(&self, propagation: Propagation) -> Act {
        let options = Deletion {
            uid: Some(meta::uid(self.object).to_owned()),
            resource_version: Some(meta::resource_version(self.object).to_owned()),
            propagation: Some(propagation),
            grace: None,
        };
        Act::Delete { resource: self.resource.clone(), key: self.key.clone(), options }
    }

    /// The events about owners in other namespaces.
    fn reports(&self, owners: &BTreeSet<String>) -> Vec<Act> {
        let references = Reference::of(self.object).filter(|reference| owners.contains(reference.uid));
        let kind = self.objects.kinds().of(self.resource);
        let mut about = json!({"metadata": {"name": self.key.name.as_str(), "uid": meta::uid(self.object)}});
        if let Some(ServedKind { api_version, kind, .. }) = kind {
            about["apiVersion"] = api_version.as_str().into();
            about["kind"] = kind.as_str().into();
        }
        if !self.key.namespace.is_empty() {
            about["metadata"]["namespace"] = self.key.namespace.as_str().into();
        }
        let namespace = &self.key.namespace;
        let reports = references.map(|reference| Act::Event {
            about: about.clone(),
            warning: true,
            reason: INVALID_NAMESPACE.into(),
            action: "",
            message: format!(
                "ownerRef {} does not exist in namespace {namespace:?}",
                reference.in_namespace(namespace)
            ),
        });
        reports.collect()
    }
}

fn patched(resource: &Resource, key: &Key, patch_type: PatchType, patch: Value) -> Act {
    Act::Patch { resource: resource.clone(), key: key.clone(), subresource: "", patch_type, patch }
}

/// The merge patch that does to an object what a strategic one would.
fn merged(object: &Value, strategic: &Value) -> Value {
    let wanted = strategic["metadata"]["ownerReferences"].as_array().map(Vec::as_slice).unwrap_or_default();
    let references = meta::owner_references(object).iter().filter_map(|reference| {
        let change = wanted.iter().find(|change| change.get("uid") == reference.get("uid"));
        match change {
            None => Some(reference.clone()),
            Some(change) if change.get("$patch").is_some() => None,
            Some(change) => Some(change.clone()),
        }
    });
    let references: Vec<Value> = references.collect();
    let references = if references.is_empty() { Value::Null } else { references.into() };
    json!({"metadata": {"resourceVersion": meta::resource_version(object), "ownerReferences": references}})
}

/// Whether a reference says of an owner what it is.
fn is_of(reference: &Reference<'_>, owner: &Value) -> bool {
    let text = |field: &str| owner.get(field).and_then(Value::as_str).unwrap_or_default();
    reference.name == meta::name(owner) && reference.kind == text("kind") && reference.api_version == text("apiVersion")
}

/// Whether all references of a dependent to its owner say what it is.
fn names(dependent: &Value, owner: &Value) -> bool {
    let uid = meta::uid(owner);
    Reference::of(dependent).filter(|reference| reference.uid == uid).all(|reference| is_of(&reference, owner))
}

fn has(object: &Value, finalizer: &str) -> bool {
    meta::finalizers(object).any(|own| own == finalizer)
}

/// Whether an object waits until its dependents are deleted.
fn waits(object: &Value) -> bool {
    meta::deletion_timestamp(object).is_some() && has(object, FOREGROUND)
}

/// Whether the deletion of an object has begun with this change, with that finalizer.
fn begins(old: Option<&Value>, new: &Value, finalizer: &str) -> bool {
    let is_so = |object: &Value| meta::deletion_timestamp(object).is_some() && has(object, finalizer);
    is_so(new) && old.is_none_or(|old| !is_so(old))
}
