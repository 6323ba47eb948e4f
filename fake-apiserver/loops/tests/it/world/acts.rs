//! Acts, done.

use super::World;
use loops::{Act, Key, PatchType, Refusal, Resource};
use machinery::object::{generation, meta, patch};
use tree::{Value, json};

fn refusal(code: u16, reason: &str, message: impl Into<String>) -> Refusal {
    Refusal { code, reason: reason.to_owned(), message: message.into() }
}

impl World {
    /// Does an act.
    pub(crate) fn act(&mut self, act: &Act) -> Result<(), Refusal> {
        if let Some(refusal) = self.refuses.and_then(|refuses| refuses(act)) {
            return Err(refusal);
        }
        match act.clone() {
            Act::Create { resource, key, subresource: "", object } => self.create(&resource, key, object),
            Act::Create { resource, key, subresource: "binding", object } => self.bind(&resource, &key, &object),
            Act::Create { subresource, .. } => panic!("no {subresource} here"),
            Act::Update { resource, subresource, object } => self.update(&resource, subresource, object),
            Act::Patch { resource, key, subresource, patch_type, patch } => {
                let old = self.find(&resource, &key)?;
                let new = patched(&old, patch_type, patch);
                self.update(&resource, subresource, new)
            }
            Act::Delete { resource, key, options } => {
                let old = self.find(&resource, &key)?;
                if options.uid.is_some_and(|uid| uid != meta::uid(&old)) {
                    return Err(refusal(409, "Conflict", "another uid"));
                }
                self.delete(&resource, &key, options.grace.map(|grace| grace.as_secs()));
                Ok(())
            }
            Act::Ask { path, .. } => panic!("nobody here answers {path}"),
            Act::Event { warning, reason, message, .. } => {
                self.events.push(format!("{} {reason}: {message}", if warning { "Warning" } else { "Normal" }));
                Ok(())
            }
        }
    }

    fn find(&self, resource: &Resource, key: &Key) -> Result<Value, Refusal> {
        let object = self.objects.get(resource, key).map(|object| (**object).clone());
        object.ok_or_else(|| refusal(404, "NotFound", format!("{resource} \"{}\" not found", key.name)))
    }

    fn create(&mut self, resource: &Resource, mut key: Key, mut object: Value) -> Result<(), Refusal> {
        self.count += 1;
        key.name = meta::name(&object).to_owned();
        assert_ne!(key.name, "", "a name for {object}");
        if self.objects.get(resource, &key).is_some() {
            let message = format!("{resource} \"{}\" already exists", key.name);
            return Err(refusal(409, "AlreadyExists", message));
        }
        if !key.namespace.is_empty() {
            meta::set(&mut object, "namespace", key.namespace.as_str());
        }
        meta::set(&mut object, "uid", format!("uid-{:04}", self.count));
        meta::set(&mut object, "generation", 1);
        meta::set(&mut object, "creationTimestamp", self.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
        if &*resource.plural == "pods" {
            object["status"] = json!({"phase": "Pending"});
        }
        self.set(resource, &key, Some(object));
        Ok(())
    }

    fn bind(&mut self, resource: &Resource, key: &Key, binding: &Value) -> Result<(), Refusal> {
        let mut pod = self.find(resource, key)?;
        pod["spec"]["nodeName"] = binding["target"]["name"].clone();
        let time = self.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let conditions = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let mut conditions: Vec<Value> = conditions.into_iter().filter(|c| c["type"] != "PodScheduled").collect();
        conditions.push(json!({"type": "PodScheduled", "status": "True", "lastTransitionTime": time}));
        pod["status"]["conditions"] = conditions.into();
        self.set(resource, key, Some(pod));
        Ok(())
    }

    fn update(&mut self, resource: &Resource, subresource: &str, new: Value) -> Result<(), Refusal> {
        let key = Key { namespace: meta::namespace(&new).to_owned(), name: meta::name(&new).to_owned() };
        let old = self.find(resource, &key)?;
        if meta::resource_version(&new) != meta::resource_version(&old) {
            return Err(refusal(409, "Conflict", "the object has been modified"));
        }
        let mut object = new.clone();
        match subresource {
            "status" => object["spec"] = old["spec"].clone(),
            _ => {
                object["status"] = old["status"].clone();
                if generation::spec_differs(&new, &old, None) {
                    meta::set(&mut object, "generation", meta::generation(&old) + 1);
                }
            }
        }
        for part in ["spec", "status"] {
            if object[part].is_null() {
                object.as_object_mut().unwrap().remove(part);
            }
        }
        let ended = meta::deletion_timestamp(&object).is_some() && meta::finalizers(&object).next().is_none();
        let waits = &*resource.plural == "pods" && meta::deletion_grace_period_seconds(&object) != Some(0);
        self.set(resource, &key, (!ended || waits).then_some(object));
        Ok(())
    }

    /// Deletes an object: at once, or once its finalizers are gone. A pod on a node gets its grace, and goes with it.
    pub(crate) fn delete(&mut self, resource: &Resource, key: &Key, grace: Option<u64>) {
        let Some(object) = self.objects.get(resource, key) else { return };
        let mut object = (**object).clone();
        let is_running = &*resource.plural == "pods" && !object["spec"]["nodeName"].is_null();
        let is_ended = matches!(object["status"]["phase"].as_str(), Some("Failed" | "Succeeded"));
        let grace = grace.unwrap_or(if is_running && !is_ended { 30 } else { 0 });
        if grace == 0 && meta::finalizers(&object).next().is_none() {
            return self.set(resource, key, None);
        }
        let end = self.now.checked_add(jiff::SignedDuration::from_secs(i64::try_from(grace).unwrap())).unwrap();
        meta::set(&mut object, "deletionTimestamp", end.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
        meta::set(&mut object, "deletionGracePeriodSeconds", grace);
        self.set(resource, key, Some(object));
    }
}

fn patched(old: &Value, patch_type: PatchType, mut patch: Value) -> Value {
    match patch_type {
        PatchType::Merge => patch::merge::apply(old.clone(), patch, true).unwrap(),
        PatchType::Strategic => {
            let kind = (old["apiVersion"].as_str().unwrap(), old["kind"].as_str().unwrap());
            let ty = machinery::schema::lookup(kind.0, kind.1).unwrap();
            let new = patch::strategic::apply(old.clone(), &mut patch, ty);
            new.unwrap_or_else(|_| panic!("the patch {patch} of {old}"))
        }
        other => panic!("no patches like {other:?} here"),
    }
}
