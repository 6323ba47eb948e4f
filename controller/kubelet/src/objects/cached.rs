//! The strategy `Cache`: an object that was read is fresh for a TTL.
//!
//! ```text
//!              add reference                      read: object            read: 404
//!   (any state) ───────────▶ nothing ──┬──────────────────────▶ object ◀──────────▶ missing
//!                               ▲      │ read: other error         │ good: no request
//!                               └──────┘ (the caller gets it)      │ stale: read from the API server's cache;
//!                                                                  │ errors and older objects are ignored
//! ```
//!
//! Follows kubernetes v1.37.1 `pkg/kubelet/util/manager/cache_based_manager.go` (`objectStore`).

use super::registry::Store;
use super::{GetError, NodeTtl, PodObject};
use crate::clock::Clock;
use controller::client_go::informer::ObjectKey;
use controller::client_go::objects::Objects;
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use kube::api::GetParams;
use kube::core::Status;
use kube::{Client, ResourceExt};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// The TTL of an object if the node states none (`defaultTTL`).
const DEFAULT_TTL: SignedDuration = SignedDuration::from_mins(1);

/// A store of referenced objects, with the last answer about each.
pub struct CachedObjects<K> {
    client: Client,
    clock: Arc<dyn Clock>,
    node_ttl: NodeTtl,
    items: Mutex<HashMap<ObjectKey, Item<K>>>,
}

struct Item<K> {
    references: usize,
    /// Locked during a read, so that concurrent readers share its answer. A new reference replaces it.
    answer: Arc<tokio::sync::Mutex<Answer<K>>>,
}

/// The last valid answer about an object.
enum Answer<K> {
    Nothing,
    Object { object: Arc<K>, read: Timestamp },
    Missing(Box<Status>),
}

impl<K: PodObject> CachedObjects<K> {
    /// An empty store that reads through `client`. `node_ttl` is called on every read.
    pub fn new(client: Client, clock: Arc<dyn Clock>, node_ttl: NodeTtl) -> Self {
        CachedObjects { client, clock, node_ttl, items: Mutex::default() }
    }

    fn items(&self) -> MutexGuard<'_, HashMap<ObjectKey, Item<K>>> {
        self.items.lock().expect("no holder of this lock can panic")
    }

    async fn get(&self, namespace: &str, name: &str) -> Result<Arc<K>, GetError> {
        let answer = self.items().get(&ObjectKey::new(namespace, name)).map(|item| item.answer.clone());
        let answer = answer.ok_or_else(|| GetError::NotRegistered(namespace.to_owned(), name.to_owned()))?;
        let mut answer = answer.lock().await;
        if !self.is_good(&answer) {
            let params = match *answer {
                Answer::Object { .. } => GetParams::any(),
                Answer::Nothing | Answer::Missing(_) => GetParams::default(),
            };
            let api = Objects::<K>::namespaced(self.client.clone(), namespace);
            let read = api.get_with(name, &params).await;
            answer.update(read, self.clock.now())?;
        }
        answer.to_result()
    }

    fn is_good(&self, answer: &Answer<K>) -> bool {
        let Answer::Object { read, .. } = answer else { return false };
        let ttl = (self.node_ttl)().unwrap_or(DEFAULT_TTL);
        read.saturating_add(ttl).is_ok_and(|stale| self.clock.now() < stale)
    }
}

impl<K: PodObject> Answer<K> {
    /// Takes the answer of a read at `now`, unless it is older or an error. Without an answer before, the error is returned.
    fn update(&mut self, read: kube::Result<K>, now: Timestamp) -> Result<(), GetError> {
        match read {
            Ok(object) if !self.is_newer_than(&object) => {
                *self = Answer::Object { object: Arc::new(object), read: now };
            }
            Err(kube::Error::Api(status)) if status.is_not_found() => *self = Answer::Missing(status),
            Err(error) if matches!(self, Answer::Nothing) => return Err(error.into()),
            Ok(_) | Err(_) => {}
        }
        Ok(())
    }

    fn is_newer_than(&self, object: &K) -> bool {
        matches!(self, Answer::Object { object: known, .. } if revision(object) < revision(known.as_ref()))
    }

    fn to_result(&self) -> Result<Arc<K>, GetError> {
        match self {
            Answer::Object { object, .. } => Ok(object.clone()),
            Answer::Missing(status) => Err(GetError::Api(status.clone())),
            Answer::Nothing => unreachable!("an update without an error leaves something"),
        }
    }
}

/// The resource version as a number, 0 if it is not one (`APIObjectVersioner`).
fn revision<K: PodObject>(object: &K) -> u64 {
    object.resource_version().and_then(|revision| revision.parse().ok()).unwrap_or(0)
}

impl<K: PodObject> Store<K> for CachedObjects<K> {
    fn get<'a>(&'a self, namespace: &'a str, name: &'a str) -> BoxFuture<'a, Result<Arc<K>, GetError>> {
        Box::pin(self.get(namespace, name))
    }

    fn add_reference(&self, namespace: &str, name: &str, _: &str) {
        let answer = Arc::new(tokio::sync::Mutex::new(Answer::Nothing));
        let mut items = self.items();
        let item = items.entry(ObjectKey::new(namespace, name));
        let item = item.or_insert_with(|| Item { references: 0, answer: answer.clone() });
        item.references += 1;
        // The next read asks the API server.
        item.answer = answer;
    }

    fn delete_reference(&self, namespace: &str, name: &str, _: &str) {
        let key = ObjectKey::new(namespace, name);
        let mut items = self.items();
        if let Some(item) = items.get_mut(&key) {
            item.references -= 1;
            if item.references == 0 {
                items.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::Secret;
    use kube::core::response::reason;

    fn object(revision: &str) -> Secret {
        let mut secret = Secret::default();
        secret.metadata.resource_version = Some(revision.to_owned());
        secret
    }

    fn status(reason: &str, code: u16) -> Box<Status> {
        Status::failure(reason, reason).with_code(code).boxed()
    }

    fn describe(answer: &Answer<Secret>) -> String {
        match answer {
            Answer::Nothing => "nothing".to_owned(),
            Answer::Object { object, read } => {
                format!("{} read at {}", object.resource_version().unwrap_or_default(), read.as_second())
            }
            Answer::Missing(status) => status.message.clone(),
        }
    }

    /// The answer known since 1 s, the one read at 2 s, the one known then, and whether the caller gets an error.
    #[test]
    fn what_is_read_counts_unless_it_is_older_or_an_error() {
        let at = |second| Timestamp::from_second(second).expect("in range");
        let known = |revision: &str| Answer::Object { object: Arc::new(object(revision)), read: at(1) };
        let missing = || Answer::Missing(status(reason::NOT_FOUND, 404));
        let found = |revision: &str| Ok(object(revision));
        let refused = |reason: &str, code| Err(kube::Error::Api(status(reason, code)));
        let broken = || Err(kube::Error::LinesCodecMaxLineLengthExceeded);
        for (mut answer, read, expected, fails) in [
            (Answer::Nothing, found("5"), "5 read at 2", false),
            (Answer::Nothing, refused(reason::NOT_FOUND, 404), "NotFound", false),
            (Answer::Nothing, refused(reason::EXPIRED, 410), "nothing", true),
            (Answer::Nothing, broken(), "nothing", true),
            (known("10"), found("11"), "11 read at 2", false),
            (known("10"), found("10"), "10 read at 2", false),
            (known("10"), found("9"), "10 read at 1", false),
            (known("10"), found("no number"), "10 read at 1", false),
            (known("10"), refused(reason::NOT_FOUND, 404), "NotFound", false),
            (known("10"), refused(reason::FORBIDDEN, 403), "10 read at 1", false),
            (known("10"), broken(), "10 read at 1", false),
            (missing(), found("9"), "9 read at 2", false),
            (missing(), refused(reason::NOT_FOUND, 404), "NotFound", false),
            (missing(), refused(reason::INTERNAL_ERROR, 500), "NotFound", false),
            (missing(), broken(), "NotFound", false),
        ] {
            let before = describe(&answer);
            let failed = answer.update(read, at(2)).is_err();
            assert_eq!((describe(&answer).as_str(), failed), (expected, fails), "{before}");
        }
    }
}
