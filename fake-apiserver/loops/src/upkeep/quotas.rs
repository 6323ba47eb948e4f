//! Quotas: their status says what is used.
//!
//! Follows `pkg/controller/resourcequota` (v1.37.1), except that quotas are not measured anew every five minutes: no change is missed.

use crate::act::Act;
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use crate::tools::Measure;
use crate::workloads::facts::{pods, read};
use machinery::object::meta;
use quantity::Quantity;
use std::sync::Arc;
use tree::{Map, Value, json};

static PROFILE: Profile = Profile {
    name: "resourcequota-controller",
    alias: "resourcequota",
    user: "system:serviceaccount:kube-system:resourcequota-controller",
    program: "kube-controller-manager",
    component: "resourcequota-controller",
};

const QUOTAS: Resource = Resource::new("", "v1", "resourcequotas");

/// The loop that measures what is used of quotas.
pub(crate) struct Quotas(pub(crate) Arc<dyn Measure>);

impl Loop for Quotas {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        &[]
    }

    fn wants(&mut self, change: &Change<'_>, objects: &Objects, keys: &mut Keys) {
        let hard = |quota: &Value| quota.pointer("/spec/hard").cloned().unwrap_or_default();
        match (*change.resource == QUOTAS, change.old, change.new) {
            (true, old, Some(new)) if old.is_none_or(|old| hard(old) != hard(new)) => keys.add(change.key.clone()),
            (_, Some(_), None) => all_within(&change.key.namespace, objects, keys),
            (false, Some(old), Some(new)) if frees(change.resource, old, new) => {
                all_within(&change.key.namespace, objects, keys);
            }
            _ => {}
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let Some(quota) = view.objects.get(&QUOTAS, key) else { return Plan::default() };
        let list = |at: &str| quota.pointer(at).and_then(Value::as_object);
        let hard = list("/spec/hard").cloned().unwrap_or_default();
        let mut used = list("/status/used").cloned().unwrap_or_default();
        let measured = self.0.used(quota, &mut view.objects.in_namespace(&key.namespace), view.now);
        used.extend(measured);
        let used: Map = used.into_iter().filter(|(name, _)| hard.contains_key(name)).collect();
        let is_known = list("/status/hard").is_some_and(|own| is_same(own, &hard))
            && list("/status/used").is_some_and(|own| is_same(own, &used));
        if is_known {
            return Plan::default();
        }
        let mut object = (**quota).clone();
        object["status"] = json!({"hard": Value::Object(hard), "used": Value::Object(used)});
        Plan::of(vec![Act::Update { resource: QUOTAS, subresource: "status", object }])
    }
}

/// Adds the quotas of a namespace.
fn all_within(namespace: &str, objects: &Objects, keys: &mut Keys) {
    objects.within(&QUOTAS, namespace).for_each(|(key, _)| keys.add(key.clone()));
}

/// Whether an object uses less, or something else, than before (`DefaultUpdateFilter`).
fn frees(resource: &Resource, old: &Value, new: &Value) -> bool {
    match (&*resource.group, &*resource.plural) {
        ("", "pods") => {
            let ends = !pods::is_terminal(old) && pods::is_terminal(new);
            let goes = meta::deletion_timestamp(old).is_none() && meta::deletion_timestamp(new).is_some();
            ends || goes
        }
        ("", "services") => {
            let ports = |service: &Value| read::list(service, "/spec/ports").len();
            read::text(old, "/spec/type") != read::text(new, "/spec/type") || ports(old) != ports(new)
        }
        _ => false,
    }
}

/// Whether two lists have the same amounts.
fn is_same(one: &Map, other: &Map) -> bool {
    let amount = |value: &Value| value.as_str().and_then(|text| Quantity::parse(text).ok());
    one.len() == other.len()
        && one.iter().all(|(name, value)| {
            other
                .get(name)
                .is_some_and(|theirs| theirs == value || amount(value).is_some() && amount(value) == amount(theirs))
        })
}
