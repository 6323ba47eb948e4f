//! When that happened for which endpoints change.
//!
//! Follows `util/trigger_time_tracker.go` of `k8s.io/endpointslice` (v0.37.1).

use crate::resource::Key;
use crate::workloads::facts::{conditions, read};
use jiff::Timestamp;
use machinery::object::meta;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tree::Value;

/// The annotation with that time.
pub(super) const ANNOTATION: &str = "endpoints.kubernetes.io/last-change-trigger-time";

/// The times that were seen, by service.
#[derive(Default)]
pub(super) struct Triggers(BTreeMap<Key, Seen>);

#[derive(Default)]
struct Seen {
    service: Option<Timestamp>,
    pods: HashMap<String, Timestamp>,
}

impl Triggers {
    /// The earliest time that is new; for a new service that of its creation.
    pub(super) fn last(&mut self, key: &Key, service: &Value, pods: &[&Arc<Value>]) -> Option<Timestamp> {
        let created = read::time(service, "/metadata/creationTimestamp");
        let ready = pods.iter().filter_map(|pod| {
            let condition = conditions::get(pod, "Ready")?;
            Some((meta::name(pod).to_owned(), read::time(condition, "/lastTransitionTime")?))
        });
        let now = Seen { service: created, pods: ready.collect() };
        let before = self.0.remove(key);
        let new = match &before {
            None => created,
            Some(before) => {
                let pods = now.pods.iter().filter(|(name, time)| before.pods.get(*name).is_none_or(|old| old < time));
                let service = created.filter(|created| before.service.is_none_or(|old| old < *created));
                pods.map(|(_, time)| *time).chain(service).min()
            }
        };
        self.0.insert(key.clone(), now);
        new
    }

    /// The services that were seen.
    pub(super) fn known(&self) -> impl Iterator<Item = &Key> {
        self.0.keys()
    }

    /// Forgets a service.
    pub(super) fn forget(&mut self, key: &Key) {
        self.0.remove(key);
    }
}

/// Puts the time into an object's annotations.
pub(super) fn annotate(object: &mut Value, time: Option<Timestamp>) {
    match time {
        Some(time) => object["metadata"]["annotations"][ANNOTATION] = read::stamp(time).into(),
        None => {
            let annotations = object["metadata"].get_mut("annotations").and_then(Value::as_object_mut);
            annotations.map(|annotations| annotations.remove(ANNOTATION));
        }
    }
}
