//! The objects that the loops know: one set for all of them.

use crate::kinds::Kinds;
use crate::resource::{Key, Resource};
use machinery::object::meta;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use tree::Value;

/// The resources whose objects controllers adopt.
const ADOPTED: [&str; 4] = ["pods", "replicasets", "jobs", "controllerrevisions"];

fn has_controller(object: &Value) -> bool {
    let is_controller = |owner: &Value| owner.get("controller").and_then(Value::as_bool) == Some(true);
    meta::owner_references(object).iter().any(is_controller)
}

/// A change of an object.
pub struct Change<'a> {
    /// The resource.
    pub resource: &'a Resource,
    /// The object's key.
    pub key: &'a Key,
    /// The object before, unless it is new.
    pub old: Option<&'a Value>,
    /// The object now, unless it is gone.
    pub new: Option<&'a Value>,
}

impl<'a> Change<'a> {
    /// The object, as it is or last was.
    pub fn object(&self) -> Option<&'a Value> {
        self.new.or(self.old)
    }
}

/// The present objects of the resources that the loops follow.
#[derive(Default)]
pub struct Objects {
    all: BTreeMap<Resource, BTreeMap<Key, Arc<Value>>>,
    /// Those that name an owner, by its uid.
    owned: HashMap<String, BTreeSet<(Resource, Key)>>,
    /// Those that have no controller, of the resources that controllers adopt.
    orphans: BTreeMap<Resource, BTreeSet<Key>>,
    /// All, by uid.
    uids: HashMap<String, (Resource, Key)>,
    kinds: Kinds,
}

impl Objects {
    /// Takes note of an object, or with `None` that it is gone, and returns what it was before.
    pub fn set(&mut self, resource: &Resource, key: &Key, new: Option<Arc<Value>>) -> Option<Arc<Value>> {
        let uids = |object: &Option<Arc<Value>>| -> Vec<String> {
            let owners = object.iter().flat_map(|object| meta::owner_references(object));
            owners.filter_map(|owner| Some(owner.get("uid")?.as_str()?.to_owned())).collect()
        };
        let of_resource = self.all.entry(resource.clone()).or_default();
        let added = uids(&new);
        let old = match new {
            Some(new) => of_resource.insert(key.clone(), new),
            None => of_resource.remove(key),
        };
        if ADOPTED.contains(&&*resource.plural) {
            self.note_controller(resource, key);
        }
        if let Some(old) = &old {
            self.uids.remove(meta::uid(old));
        }
        if let Some(new) = self.get(resource, key) {
            let uid = meta::uid(new).to_owned();
            self.uids.insert(uid, (resource.clone(), key.clone()));
        }
        for uid in uids(&old) {
            if let Some(dependents) = self.owned.get_mut(&uid) {
                dependents.remove(&(resource.clone(), key.clone()));
                if dependents.is_empty() {
                    self.owned.remove(&uid);
                }
            }
        }
        for uid in added {
            self.owned.entry(uid).or_default().insert((resource.clone(), key.clone()));
        }
        old
    }

    /// Takes note of whether an object has a controller.
    fn note_controller(&mut self, resource: &Resource, key: &Key) {
        let is_orphan = self.get(resource, key).is_some_and(|object| !has_controller(object));
        let orphans = self.orphans.entry(resource.clone()).or_default();
        match is_orphan {
            true => orphans.insert(key.clone()),
            false => orphans.remove(key),
        };
    }

    /// The objects of a resource in a namespace that have no controller, by name. Only those of resources are known that controllers adopt:
    /// pods, replica sets, jobs and revisions.
    pub fn orphans<'a>(&'a self, resource: &Resource, namespace: &'a str) -> impl Iterator<Item = &'a Arc<Value>> {
        let first = Key { namespace: namespace.to_owned(), name: String::new() };
        let all = self.all.get(resource);
        let orphans = self.orphans.get(resource).into_iter().flat_map(move |orphans| orphans.range(first.clone()..));
        let orphans = orphans.take_while(move |key| key.namespace == namespace);
        orphans.filter_map(move |key| all?.get(key))
    }

    /// An object.
    pub fn get(&self, resource: &Resource, key: &Key) -> Option<&Arc<Value>> {
        self.all.get(resource)?.get(key)
    }

    /// All objects of a resource, by namespace and name.
    pub fn all<'a>(&'a self, resource: &Resource) -> impl Iterator<Item = (&'a Key, &'a Arc<Value>)> + use<'a> {
        self.all.get(resource).into_iter().flatten()
    }

    /// The objects of a resource in a namespace, by name.
    pub fn within<'a>(
        &'a self,
        resource: &Resource,
        namespace: &'a str,
    ) -> impl Iterator<Item = (&'a Key, &'a Arc<Value>)> + use<'a> {
        let first = Key { namespace: namespace.to_owned(), name: String::new() };
        let of_resource = self.all.get(resource).into_iter().flat_map(move |all| all.range(first.clone()..));
        of_resource.take_while(move |(key, _)| key.namespace == namespace)
    }

    /// All objects in a namespace.
    pub fn in_namespace<'a>(&'a self, namespace: &'a str) -> impl Iterator<Item = (&'a Resource, &'a Arc<Value>)> {
        let of =
            move |resource: &'a Resource| self.within(resource, namespace).map(move |(_, object)| (resource, object));
        self.all.keys().flat_map(of)
    }

    /// The objects that name an owner, by its uid.
    pub fn owned(&self, uid: &str) -> impl Iterator<Item = (&Resource, &Key, &Arc<Value>)> {
        let dependents = self.owned.get(uid).into_iter().flatten();
        dependents.filter_map(|(resource, key)| Some((resource, key, self.get(resource, key)?)))
    }

    /// The object with that uid.
    pub fn by_uid(&self, uid: &str) -> Option<(&Resource, &Key, &Arc<Value>)> {
        let (resource, key) = self.uids.get(uid)?;
        Some((resource, key, self.get(resource, key)?))
    }

    /// The places of all objects.
    pub fn places(&self) -> impl Iterator<Item = (&Resource, &Key)> {
        self.all.iter().flat_map(|(resource, all)| all.keys().map(move |key| (resource, key)))
    }

    /// The kinds that the server serves.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// Takes note of the kinds that the server serves from now on.
    pub fn set_kinds(&mut self, kinds: Kinds) {
        self.kinds = kinds;
    }
}
