//! Events about pods; repeated ones are counted.
//!
//! Follows client-go v0.37.1 `tools/record/event.go` and `events_cache.go`, without the aggregation of similar messages
//! and the spam filter. An event that cannot be written is logged and lost. When the cache of events is full, upstream drops
//! the oldest, and this one drops all; an event that is repeated afterwards is a new one.

use crate::clock::Clock;
use controller::client_go::objects::Objects;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt};
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use tracing::error;

/// The `source.component` of the events.
const COMPONENT: &str = "kubelet";

/// The capacity of the cache of events (`maxLruCacheEntries`).
const MAX_EVENTS: usize = 4096;

/// A recorder of events in the name of a node.
pub(super) struct Recorder {
    client: Client,
    node_name: String,
    clock: Arc<dyn Clock>,
    written: Mutex<HashMap<Key, Written>>,
}

/// The key of an event: those with equal keys are counted as one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    pod_uid: String,
    reason: &'static str,
    message: String,
}

#[derive(Debug, Clone)]
struct Written {
    name: String,
    count: i32,
}

impl Recorder {
    pub(super) fn new(client: Client, node_name: &str, clock: Arc<dyn Clock>) -> Self {
        Recorder { client, node_name: node_name.to_owned(), clock, written: Mutex::default() }
    }

    /// Records a warning about `pod`.
    pub(super) async fn warn(&self, pod: &Pod, reason: &'static str, message: &str) {
        let key = Key { pod_uid: pod.uid().unwrap_or_default(), reason, message: message.to_owned() };
        let events = Objects::namespaced(self.client.clone(), pod.namespace().unwrap_or_default());
        let now = self.clock.now();
        let before = self.written().get(&key).cloned();
        let recorded = match &before {
            Some(before) => match self.count(&events, before, now).await {
                Err(kube::Error::Api(status)) if status.code == 404 => self.create(&events, pod, &key, now).await,
                counted => counted,
            },
            None => self.create(&events, pod, &key, now).await,
        };
        match recorded {
            Ok(event) => {
                let written = Written { name: event.name_any(), count: event.count.unwrap_or(1) };
                self.remember(key, written);
            }
            Err(error) => error!(pod = %pod.name_any(), %error, "Server rejected event (will not retry!)"),
        }
    }

    /// Caches an event. The number of events is bounded, as messages may hold file names that differ each time.
    fn remember(&self, key: Key, written: Written) {
        let mut known = self.written();
        if known.len() >= MAX_EVENTS && !known.contains_key(&key) {
            known.clear();
        }
        known.insert(key, written);
    }

    /// Drops the events about the pod with that uid from the cache.
    pub(super) fn forget(&self, pod_uid: &str) {
        self.written().retain(|key, _| key.pod_uid != pod_uid);
    }

    async fn count(&self, events: &Objects<Event>, before: &Written, now: Timestamp) -> kube::Result<Event> {
        let more = json!({"count": before.count.wrapping_add(1), "lastTimestamp": Time(now)});
        events.patch(&before.name, &PatchParams::default(), &Patch::Merge(more)).await
    }

    async fn create(&self, events: &Objects<Event>, pod: &Pod, key: &Key, now: Timestamp) -> kube::Result<Event> {
        let mut event = Event {
            involved_object: ObjectReference {
                api_version: Some("v1".to_owned()),
                kind: Some("Pod".to_owned()),
                namespace: pod.namespace(),
                name: Some(pod.name_any()),
                uid: pod.uid(),
                resource_version: pod.resource_version(),
                field_path: None,
            },
            type_: Some("Warning".to_owned()),
            reason: Some(key.reason.to_owned()),
            message: Some(key.message.clone()),
            source: Some(EventSource { component: Some(COMPONENT.to_owned()), host: Some(self.node_name.clone()) }),
            reporting_component: Some(COMPONENT.to_owned()),
            reporting_instance: Some(self.node_name.clone()),
            first_timestamp: Some(Time(now)),
            last_timestamp: Some(Time(now)),
            count: Some(1),
            ..Event::default()
        };
        // A pod can have two events at one time, so the name needs more than the time.
        event.metadata.name = Some(format!("{}.{:x}{:04x}", pod.name_any(), now.as_nanosecond(), fastrand::u16(..)));
        event.metadata.namespace = pod.namespace();
        events.create(&PostParams::default(), &event).await
    }

    fn written(&self) -> MutexGuard<'_, HashMap<Key, Written>> {
        self.written.lock().expect("no holder of this lock can panic")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;
    use kube::client::Body;
    use std::convert::Infallible;

    #[tokio::test]
    async fn what_is_remembered_has_an_end() {
        let nobody = |_: http::Request<Body>| std::future::pending::<Result<http::Response<Body>, Infallible>>();
        let recorder = Recorder::new(Client::new(tower::service_fn(nobody), "default"), "n", Arc::new(SystemClock));
        let remember = |message: usize| {
            let key = Key { pod_uid: "uid".into(), reason: "FailedMount", message: message.to_string() };
            recorder.remember(key, Written { name: "event".into(), count: 1 });
            recorder.written().len()
        };
        assert_eq!((0..MAX_EVENTS).map(remember).last(), Some(MAX_EVENTS));
        assert_eq!(remember(0), MAX_EVENTS, "a repetition takes no room");
        assert_eq!(remember(MAX_EVENTS), 1);
    }
}
