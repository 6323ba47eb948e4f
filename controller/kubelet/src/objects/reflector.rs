//! The reflector of one object: it lists, then watches.
//!
//! ```text
//!            ┌──────────────────────── pause ◀───────────────────────┐
//!            ▼                  error                                │
//!   ──▶ list the object ───────────────────────────────────────────▶ │
//!            │                                                       │
//!            ▼       refused, busy: pause       error, 410, or closed│at once without an event
//!   ┌─▶ watch from the last revision ──────────────────────────────▶─┘
//!   └────────┘ closed
//! ```
//!
//! Follows client-go v0.37.1 `tools/cache/reflector.go`, as `pkg/kubelet/util/manager/watch_based_manager.go` of kubernetes
//! v1.37.1 uses it:
//! * The first list may come from the API server's cache (revision 0); later ones are not older than the last revision
//!   seen, even if the reflector was stopped in between. If that revision is unavailable, the newest is listed.
//! * A watch lasts a random time between 30 and 60 minutes. One that was closed is resumed at once, where it ended.
//!
//! GAP: kubelet-volumes: `WatchListClient`, which begins with a watch that sends the initial objects
//!
//! It is on by default in v1.37.1, and falls back to this. For one object that would save a request, but no data.

use super::PodObject;
use super::backoff::Backoff;
use crate::clock::Clock;
use controller::client_go::api_errors::{has_status_cause, is_expired, is_too_many_requests};
use controller::client_go::objects::segment;
use futures::io::{AsyncBufRead, AsyncBufReadExt};
use http::Request;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ListMeta;
use kube::api::{ListParams, WatchEvent, WatchParams};
use kube::{Client, Error, ResourceExt};
use serde::Deserialize;
use std::convert::Infallible;
use std::error::Error as _;
use std::io;
use std::marker::PhantomData;
use std::pin::pin;
use std::sync::Arc;
use tracing::{debug, warn};

/// The minimum timeout of a watch, in seconds (`MinWatchTimeout`); the maximum is twice as long.
const WATCH_SECONDS: u32 = 30 * 60;
/// The duration below which a watch that closes without an event counts as failed (`VeryShortWatchError`).
const VERY_SHORT: SignedDuration = SignedDuration::from_secs(1);
/// The `StatusCause` of a request for a future revision (`CauseTypeResourceVersionTooLarge`).
const TOO_LARGE: &str = "ResourceVersionTooLarge";

/// The receiver of a reflector's events.
pub(super) trait Sink<K> {
    /// Takes the object as it was listed; `None` if it does not exist.
    fn listed(&self, object: Option<K>);

    /// Takes a change after a [`listed`](Self::listed); `None` if the object was deleted.
    fn changed(&self, object: Option<K>);
}

/// A reflector, with the last revision that it has seen.
pub(super) struct Reflector<K> {
    client: Client,
    clock: Arc<dyn Clock>,
    namespace: String,
    name: String,
    backoff: Backoff,
    /// The last revision seen.
    revision: Option<String>,
    /// Whether the server did not have that revision.
    revision_unavailable: bool,
    kind: PhantomData<fn() -> K>,
}

/// The parts of a list that are read.
#[derive(Deserialize)]
struct List<K> {
    metadata: ListMeta,
    items: Vec<K>,
}

/// The end of a watch that had begun.
enum End {
    /// It was closed or broke off after that number of events.
    Closed { events: usize },
    /// The server sent an error, or an event that cannot be decoded.
    Failed(Error),
}

impl<K: PodObject> Reflector<K> {
    pub(super) fn new(client: Client, clock: Arc<dyn Clock>, namespace: &str, name: &str) -> Self {
        let backoff = Backoff::new(clock.now());
        let (namespace, name) = (namespace.to_owned(), name.to_owned());
        Reflector {
            client,
            clock,
            namespace,
            name,
            backoff,
            revision: None,
            revision_unavailable: false,
            kind: PhantomData,
        }
    }

    /// Lists and watches the object for `sink`, until the future is dropped.
    pub(super) async fn run(&mut self, sink: &impl Sink<K>) -> Infallible {
        loop {
            if let Err(error) = self.list_and_watch(sink).await {
                warn!(kind = K::NOUN, name = self.name, %error, "failed to list or watch, trying again");
            }
            self.pause().await;
        }
    }

    async fn list_and_watch(&mut self, sink: &impl Sink<K>) -> kube::Result<()> {
        // Boxed, since the state of these requests would otherwise take up memory as long as the watch lasts.
        Box::pin(self.list(sink)).await?;
        loop {
            let begin = self.clock.now();
            let end = match Box::pin(self.client.request_stream(self.watch_request()?)).await {
                Ok(events) => self.follow(events, sink).await,
                Err(error) if is_refused(&error) || is_too_many_requests(&error) => End::Failed(error),
                Err(error) => return Err(error),
            };
            match end {
                End::Closed { events: 0 } if self.clock.now().duration_since(begin) < VERY_SHORT => {
                    debug!(kind = K::NOUN, name = self.name, "a watch without events was closed at once");
                    return Ok(());
                }
                End::Closed { .. } => {}
                End::Failed(error) if is_refused(&error) || is_too_many_requests(&error) => self.pause().await,
                End::Failed(error) if is_expired(&error) => return Ok(()),
                End::Failed(error) => return Err(error),
            }
        }
    }

    async fn list(&mut self, sink: &impl Sink<K>) -> kube::Result<()> {
        let mut list = self.client.request(self.list_request()?).await;
        if list.as_ref().is_err_and(|error| is_expired(error) || has_status_cause(error, TOO_LARGE)) {
            self.revision_unavailable = true;
            list = self.client.request(self.list_request()?).await;
        }
        let List { metadata, items } = list?;
        self.revision_unavailable = false;
        self.revision = metadata.resource_version;
        sink.listed(items.into_iter().find(|object| self.is_meant(object)));
        Ok(())
    }

    async fn follow(&mut self, events: impl AsyncBufRead, sink: &impl Sink<K>) -> End {
        let mut stream = pin!(events);
        let mut events = 0;
        loop {
            let mut line = Vec::new();
            match stream.read_until(b'\n', &mut line).await {
                Ok(_) if line.ends_with(b"\n") => {}
                // An incomplete line is ignored: the watch is resumed before it.
                Ok(_) => return End::Closed { events },
                Err(error) => {
                    debug!(kind = K::NOUN, name = self.name, %error, "a watch broke off");
                    return End::Closed { events };
                }
            }
            match serde_json::from_slice(&line) {
                Ok(WatchEvent::Added(object) | WatchEvent::Modified(object)) => self.see(object, Some, sink),
                Ok(WatchEvent::Deleted(object)) => self.see(object, |_| None, sink),
                Ok(WatchEvent::Bookmark(bookmark)) => self.revision = Some(bookmark.metadata.resource_version),
                Ok(WatchEvent::Error(status)) => return End::Failed(Error::Api(status)),
                Err(error) => return End::Failed(Error::SerdeError(error)),
            }
            events += 1;
        }
    }

    fn see(&mut self, object: K, left: impl Fn(K) -> Option<K>, sink: &impl Sink<K>) {
        self.revision = object.resource_version();
        if self.is_meant(&object) {
            sink.changed(left(object));
        }
    }

    /// Whether it is the object that was asked for; a server may ignore field selectors.
    fn is_meant(&self, object: &K) -> bool {
        object.meta().name.as_ref() == Some(&self.name)
    }

    async fn pause(&mut self) {
        let now = self.clock.now();
        let wait = self.backoff.step(now);
        let end = now.saturating_add(wait).unwrap_or(Timestamp::MAX);
        self.clock.sleep_until(end).await;
    }

    fn list_request(&self) -> kube::Result<Request<Vec<u8>>> {
        let params = ListParams::default().fields(&self.selector());
        let params = match &self.revision {
            _ if self.revision_unavailable => params,
            Some(revision) => ListParams { resource_version: Some(revision.clone()), ..params },
            None => ListParams { resource_version: Some("0".to_owned()), ..params },
        };
        self.requests()?.list(&params).map_err(Error::BuildRequest)
    }

    fn watch_request(&self) -> kube::Result<Request<Vec<u8>>> {
        let timeout = fastrand::u32(WATCH_SECONDS..=2 * WATCH_SECONDS);
        let params = WatchParams::default().fields(&self.selector()).timeout(timeout);
        let revision = self.revision.as_deref().unwrap_or_default();
        self.requests()?.watch(&params, revision).map_err(Error::BuildRequest)
    }

    fn requests(&self) -> kube::Result<kube::core::Request> {
        let namespace = segment("namespace", &self.namespace)?;
        Ok(kube::core::Request::new(K::url_path(&(), Some(&namespace))))
    }

    fn selector(&self) -> String {
        format!("metadata.name={}", escape(&self.name))
    }
}

/// Escapes text as a value of a field selector (`fields.EscapeValue`).
fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=")
}

/// Whether the connection was refused, so that the watch can be resumed later.
fn is_refused(error: &Error) -> bool {
    let mut causes = std::iter::successors(error.source(), |cause| (*cause).source());
    causes.any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;
    use k8s_openapi::api::core::v1::Secret;
    use kube::client::Body;
    use std::convert::Infallible;
    use std::sync::Mutex;

    fn reflector(name: &str) -> Reflector<Secret> {
        let nobody = |_: Request<Body>| std::future::pending::<Result<http::Response<Body>, Infallible>>();
        let client = Client::new(tower::service_fn(nobody), "default");
        Reflector::new(client, Arc::new(SystemClock), "ns", name)
    }

    /// A sink that records the revisions it gets.
    #[derive(Default)]
    struct Recorded(Mutex<Vec<Option<String>>>);

    impl Sink<Secret> for Recorded {
        fn listed(&self, _: Option<Secret>) {
            unreachable!("no list is read here")
        }

        fn changed(&self, object: Option<Secret>) {
            self.0.lock().expect("not poisoned").push(object.and_then(|object| object.resource_version()));
        }
    }

    /// The lines from a server, the revisions that the sink gets, the watch's last revision, and its end.
    #[tokio::test]
    async fn a_watch_is_read_until_it_ends_or_makes_no_sense() {
        let event = |kind: &str, name: &str, revision: u32| {
            let metadata = format!(r#"{{"name":"{name}","resourceVersion":"{revision}"}}"#);
            let types = r#""kind":"Secret","apiVersion":"v1""#;
            format!(r#"{{"type":"{kind}","object":{{{types},"metadata":{metadata}}}}}"#) + "\n"
        };
        let seen = |kind: &str, revision| event(kind, "name", revision);
        let status = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}"#;
        let expired = format!(r#"{{"type":"ERROR","object":{status}}}"#) + "\n";
        let half = seen("MODIFIED", 9)[..40].to_owned();
        for (sent, told, revision, end) in [
            (vec![], vec![], None, "0 events"),
            (vec![seen("ADDED", 2)], vec![Some("2")], Some("2"), "1 events"),
            (vec![seen("ADDED", 2), seen("MODIFIED", 3)], vec![Some("2"), Some("3")], Some("3"), "2 events"),
            (vec![seen("ADDED", 2), seen("DELETED", 3)], vec![Some("2"), None], Some("3"), "2 events"),
            (vec![seen("ADDED", 2), seen("BOOKMARK", 8)], vec![Some("2")], Some("8"), "2 events"),
            (vec![event("ADDED", "other", 4)], vec![], Some("4"), "1 events"),
            (vec![seen("ADDED", 2), half], vec![Some("2")], Some("2"), "1 events"),
            (vec![seen("ADDED", 2), expired, seen("ADDED", 9)], vec![Some("2")], Some("2"), "expired"),
            (vec![seen("ADDED", 2), "?\n".to_owned(), seen("ADDED", 9)], vec![Some("2")], Some("2"), "nonsense"),
        ] {
            let mut reflector = reflector("name");
            let sink = Recorded::default();
            let sent = sent.concat();
            let ended = match reflector.follow(sent.as_bytes(), &sink).await {
                End::Closed { events } => format!("{events} events"),
                End::Failed(error) if is_expired(&error) => "expired".to_owned(),
                End::Failed(_) => "nonsense".to_owned(),
            };
            let told: Vec<_> = told.into_iter().map(|revision: Option<&str>| revision.map(str::to_owned)).collect();
            assert_eq!(*sink.0.lock().expect("not poisoned"), told, "{sent}");
            assert_eq!((reflector.revision.as_deref(), ended.as_str()), (revision, end), "{sent}");
        }
    }

    #[tokio::test]
    async fn lists_are_no_older_than_what_was_seen() {
        for (revision, unavailable, expected) in [
            (None, false, "?&fieldSelector=metadata.name%3Dname&resourceVersion=0"),
            (Some("7"), false, "?&fieldSelector=metadata.name%3Dname&resourceVersion=7"),
            (Some("7"), true, "?&fieldSelector=metadata.name%3Dname"),
            (None, true, "?&fieldSelector=metadata.name%3Dname"),
        ] {
            let mut reflector = reflector("name");
            (reflector.revision, reflector.revision_unavailable) = (revision.map(str::to_owned), unavailable);
            let request = reflector.list_request().expect("a request");
            assert_eq!(request.uri().to_string(), format!("/api/v1/namespaces/ns/secrets{expected}"));
        }
    }

    #[tokio::test]
    async fn watches_last_half_an_hour_to_an_hour() {
        let mut reflector = reflector("name");
        reflector.revision = Some("7".to_owned());
        for _ in 0..100 {
            let request = reflector.watch_request().expect("a request");
            let parameters: Vec<_> = request.uri().query().expect("parameters").split('&').collect();
            for expected in ["watch=true", "allowWatchBookmarks=true", "resourceVersion=7"] {
                assert!(parameters.contains(&expected), "{parameters:?}");
            }
            let timeout = parameters.iter().find_map(|parameter| parameter.strip_prefix("timeoutSeconds="));
            let timeout: u32 = timeout.and_then(|timeout| timeout.parse().ok()).expect("a timeout");
            assert!((1800..=3600).contains(&timeout), "{timeout}");
        }
    }

    #[tokio::test]
    async fn a_name_that_no_object_can_have_is_no_selector_of_others() {
        for (name, expected) in [("a.b-c", "a.b-c"), ("a,b=c", r"a\,b\=c"), (r"\", r"\\"), ("", "")] {
            assert_eq!(reflector(name).selector(), format!("metadata.name={expected}"));
        }
    }
}
