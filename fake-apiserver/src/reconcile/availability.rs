//! The condition `Available` of API services. A key is the name of one.
//!
//! ```text
//!   of this server itself ─────────────────────────────────▶ available
//!   service, port or endpoints are missing ────────────────▶ not available
//!   all is there, but the cluster's network is not ────────▶ not available: connection refused
//!   a test has said where it is, or the service is a name ─▶ probed, and again every 30 s, sooner while it fails
//! ```
//! Follows `pkg/controllers/status/{local,remote}` of `k8s.io/kube-aggregator` (v0.37.1). What a test says where it is needs no service.
//!
//! GAP: apiservices: a deleted one of this server does not take its group out of discovery

use super::client::Client;
use super::event::Event;
use super::probe::probe;
use super::reconciler::{Context, Reconciler};
use super::shared::Shared;
use crate::clock::{format_seconds, later};
use crate::commit::definition::{Condition, is_true};
use crate::error::ApiResult;
use crate::registry::{RemoteService, ids, items, number, text};
use crate::schema::quote;
use crate::store::{Entry, Key, Scope, Snapshot};
use futures::FutureExt;
use futures::future::BoxFuture;
use memchr::memmem;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tree::Value;

/// The type of the condition.
const AVAILABLE: &str = "Available";
/// The time between probes, and the longest one after a failure.
const PERIOD: Duration = Duration::from_secs(30);
/// The time after a first failure.
const FIRST_DELAY: Duration = Duration::from_millis(5);
/// The label of endpoint slices with the name of their service.
const SERVICE_NAME: &str = "kubernetes.io/service-name";

/// Keeps the condition of all API services.
#[derive(Default)]
pub(super) struct Availability {
    /// The API services that are behind a service: their names, with its namespace and name.
    behind: Mutex<BTreeMap<Box<str>, (String, String)>>,
    /// The probes of them.
    probes: Mutex<BTreeMap<Box<str>, Probes>>,
}

impl Availability {
    fn behind(&self) -> MutexGuard<'_, BTreeMap<Box<str>, (String, String)>> {
        self.behind.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what an API service is behind. True if there is, or was, a service.
    fn note(&self, entry: &Entry) -> bool {
        let mut behind = self.behind();
        // Most are behind none, and are not parsed for that.
        let object = memmem::find(entry.json(), br#""service":{"#).map(|_| entry.object());
        let service = object.as_ref().and_then(|object| object["spec"].get("service"));
        match service {
            Some(service) => {
                let place = (text(service, "/namespace").to_owned(), text(service, "/name").to_owned());
                behind.insert(entry.key.name().into(), place);
                true
            }
            None => behind.remove(entry.key.name()).is_some(),
        }
    }

    /// The API services behind a service.
    fn of(&self, namespace: &str, name: &str) -> Vec<Box<str>> {
        let behind = self.behind();
        let own = behind.iter().filter(|(_, place)| (&*place.0, &*place.1) == (namespace, name));
        own.map(|(api_service, _)| api_service.clone()).collect()
    }
}

impl Reconciler for Availability {
    fn wants(&self, event: &Event<'_>, cluster: &Shared) -> Vec<Box<str>> {
        match event {
            Event::Start => {
                let (snapshot, all) = (cluster.store.snapshot(), Scope::all(ids::API_SERVICES));
                let noted = snapshot.range(&all, "").filter(|entry| self.note(entry));
                noted.map(|entry| entry.key.name().into()).collect()
            }
            Event::Stored(entry, _) | Event::Removed(entry) => match entry.key.resource {
                ids::API_SERVICES if matches!(event, Event::Removed(_)) => {
                    self.behind().remove(entry.key.name());
                    self.probes().remove(entry.key.name());
                    cluster.extensions.forget(entry.key.name());
                    Vec::new()
                }
                ids::API_SERVICES if self.note(entry) => vec![entry.key.name().into()],
                ids::SERVICES => self.of(entry.key.namespace(), entry.key.name()),
                ids::ENDPOINT_SLICES => {
                    let service = entry.meta.label(SERVICE_NAME);
                    service.map(|service| self.of(entry.key.namespace(), service)).unwrap_or_default()
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn fork(&self) -> Option<Arc<dyn Reconciler>> {
        Some(Arc::new(Availability { behind: self.behind().clone().into(), probes: Mutex::default() }))
    }

    fn sync<'a>(&'a self, name: &'a str, context: &'a Context<'a>) -> BoxFuture<'a, ApiResult<()>> {
        async move {
            let (catalog, time) = (context.catalog(), format_seconds(context.now));
            let client = Client::of_server(context, catalog.registry.known(ids::API_SERVICES)).through("status");
            let key = Key::new(ids::API_SERVICES, "", name);
            let Some(probed) = self.probed(context, &key).await else { return Ok(()) };
            let changed = client.change(&key, |old| {
                let found = found(old, &context.store.snapshot(), context);
                changed(old, &found.or_else(|| probed.clone())?, &time)
            });
            changed.await.map(drop)
        }
        .boxed()
    }
}

/// The API services by name, and whether each is available.
pub(crate) fn api_service_availability(snapshot: &Snapshot) -> Vec<(String, bool)> {
    let all = Scope::all(ids::API_SERVICES);
    let entries = snapshot.range(&all, "");
    entries.map(|entry| (entry.key.name().to_owned(), is_true(&entry.object(), AVAILABLE))).collect()
}

impl Availability {
    /// The finding of a probe, if one was needed; `None` if another run follows.
    async fn probed(&self, context: &Context<'_>, key: &Key) -> Option<Option<Found>> {
        let Some(object) = context.store.get(key).map(|entry| entry.object()) else { return Some(None) };
        let Some(remote) = RemoteService::of(&object) else { return Some(None) };
        if found(&object, &context.store.snapshot(), context).is_some() {
            context.extensions.note(key.name(), None);
            return Some(None);
        }
        let outcome = context.remotely(probe(context, &remote)).await?;
        if let Some(after) = self.probes().entry(key.name().into()).or_default().next(outcome.is_ok()) {
            context.add_later(key.name(), after);
        }
        let found = match &outcome {
            Ok(_) => Found { is_available: true, reason: "Passed", message: "all checks passed".into() },
            Err(why) => Found::missing("FailedDiscoveryCheck", why.clone()),
        };
        context.extensions.note(key.name(), outcome.ok().flatten());
        Some(Some(found))
    }

    fn probes(&self) -> MutexGuard<'_, BTreeMap<Box<str>, Probes>> {
        self.probes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The probes of an API service.
#[derive(Debug, Clone, Copy, Default)]
struct Probes {
    /// The number of those in succession that have failed.
    failures: u32,
    /// The time of the next one.
    due: Option<Instant>,
}

impl Probes {
    /// Notes a probe; the time until the next one, unless there is one before.
    fn next(&mut self, succeeded: bool) -> Option<Duration> {
        self.failures = if succeeded { 0 } else { self.failures.saturating_add(1) };
        let (now, after) = (Instant::now(), delay(self.failures));
        let next = later(now, after);
        let is_sooner = self.due.is_none_or(|due| due <= now || next < due);
        is_sooner.then(|| {
            self.due = Some(next);
            after
        })
    }
}

/// The time until the next probe after so many failures (`NewTypedItemExponentialFailureRateLimiter`, and the period of looks at all).
fn delay(failures: u32) -> Duration {
    match failures {
        0 => PERIOD,
        failures => FIRST_DELAY.saturating_mul(1_u32.checked_shl(failures - 1).unwrap_or(u32::MAX)).min(PERIOD),
    }
}

/// The state of an API service: the reason and the message of its condition, and whether it is met.
#[derive(Clone)]
struct Found {
    is_available: bool,
    reason: &'static str,
    message: String,
}

impl Found {
    fn missing(reason: &'static str, message: String) -> Found {
        Found { is_available: false, reason, message }
    }
}

/// The state in which an API service is; `None` if only a probe can tell.
fn found(api_service: &Value, snapshot: &Snapshot, cluster: &Shared) -> Option<Found> {
    let spec = &api_service["spec"];
    let Some(reference) = spec.get("service") else {
        let message = "Local APIServices are always available".into();
        return Some(Found { is_available: true, reason: "Local", message });
    };
    let (namespace, name) = (text(reference, "/namespace"), text(reference, "/name"));
    let port = number(reference, "/port").unwrap_or_default();
    let given_port = u16::try_from(port).unwrap_or_default();
    if cluster.network.is_given(namespace, name, given_port) {
        return None;
    }
    let place = format!("service/{name} in {}", quote(namespace));
    let Some(service) = snapshot.get(&Key::new(ids::SERVICES, namespace, name)) else {
        return Some(Found::missing("ServiceNotFound", format!("{place} is not present")));
    };
    let service = service.object();
    if text(&service, "/spec/type") == "ExternalName" {
        return None;
    }
    if text(&service, "/spec/type") == "ClusterIP" {
        let mut ports = items(&service, "/spec/ports").iter();
        let Some(listens) = ports.find(|own| number(own, "/port") == Some(port)) else {
            return Some(Found::missing("ServicePortError", format!("{place} is not listening on port {port}")));
        };
        let in_namespace = Scope { namespace: Some(namespace.into()), ..Scope::all(ids::ENDPOINT_SLICES) };
        let slices = snapshot.range(&in_namespace, "");
        let slices = slices.filter(|slice| slice.meta.label(SERVICE_NAME) == Some(name));
        let slices: Vec<Value> = slices.map(|slice| slice.object()).collect();
        if slices.is_empty() {
            return Some(Found::missing("EndpointsNotFound", format!("cannot find endpointslices for {place}")));
        }
        let port_name = text(listens, "/name");
        if !slices.iter().any(|slice| has_endpoint(slice, port_name)) {
            let message = format!("endpointslices for {place} have no addresses with port name {}", quote(port_name));
            return Some(Found::missing("MissingEndpoints", message));
        }
    }
    let message = cluster.network.address(namespace, name, given_port).map_or_else(
        |why| why,
        |address| {
            let address = format!("{}:{}", address.host, address.port);
            let url = format!("https://{address}/apis/{}/{}", text(spec, "/group"), text(spec, "/version"));
            let refused = format!("dial tcp {address}: connect: connection refused");
            format!("failing or missing response from {url}: Get {}: {refused}", quote(&url))
        },
    );
    Some(Found::missing("FailedDiscoveryCheck", message))
}

/// Whether a slice has a ready endpoint, and a port of that name (`hasAvailableEndpoint`).
fn has_endpoint(slice: &Value, port_name: &str) -> bool {
    let is_ready = |endpoint: &Value| endpoint["conditions"]["ready"] != false;
    let is_port =
        |port: &Value| port.get("name").is_some() && text(port, "/name") == port_name && port.get("port").is_some();
    items(slice, "/endpoints").iter().any(is_ready) && items(slice, "/ports").iter().any(is_port)
}

/// An API service whose condition says what was found; `None` if it does so already.
fn changed(old: &Value, found: &Found, time: &str) -> Option<Value> {
    let Found { is_available, reason, message } = found;
    let condition = Condition { type_: AVAILABLE, status: *is_available, reason, message };
    (!condition.is_in(old)).then(|| {
        let mut new = old.clone();
        condition.set(&mut new, time);
        new
    })
}
