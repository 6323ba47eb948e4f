//! The condition `Available` of API services. A key is the name of one.
//!
//! ```text
//!   of this server itself ───────────────────────────────▶ available
//!   service, port or endpoints are missing ──────────────▶ not available
//!   everything is there, but no service can be reached ──▶ not available: connection refused
//! ```
//! Follows `pkg/controllers/status/{local,remote}` of `k8s.io/kube-aggregator` (v0.37.1).
//!
//! GAP: apiservices: nothing is proxied: one behind a service is never available, and its group is not in discovery; a deleted one does not
//! take its group out of discovery

use super::event::Event;
use super::reconciler::{Context, Reconciler};
use super::shared::Shared;
use crate::clock::format_seconds;
use crate::commit::definition::{Condition, is_true};
use crate::commit::server::MANAGER;
use crate::commit::{Change, draft};
use crate::error::ApiResult;
use crate::registry::managers::Writer;
use crate::registry::{Resource, ids, items, number, text};
use crate::schema::quote;
use crate::store::{Entry, Key, Scope, Snapshot};
use futures::FutureExt;
use futures::future::BoxFuture;
use memchr::memmem;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tree::Value;

/// The type of the condition.
const AVAILABLE: &str = "Available";
/// The label of endpoint slices with the name of their service.
const SERVICE_NAME: &str = "kubernetes.io/service-name";

/// Keeps the condition of all API services.
#[derive(Default)]
pub(super) struct Availability {
    /// The API services that are behind a service: their names, with its namespace and name.
    behind: Mutex<BTreeMap<Box<str>, (String, String)>>,
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
        Some(Arc::new(Availability { behind: self.behind().clone().into() }))
    }

    fn sync<'a>(&'a self, name: &'a str, context: &'a Context<'a>) -> BoxFuture<'a, ApiResult<()>> {
        async move {
            let (catalog, time) = (context.catalog(), format_seconds(context.now));
            let resource = catalog.registry.known(ids::API_SERVICES);
            let key = Key::new(resource.id, "", name);
            let changed = context.commits.change(&key, |entry| {
                let old = entry.object();
                let found = found(&old, &context.store.snapshot(), context);
                Ok((changed(resource, &old, &found, &time)?, ()))
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

/// The state of an API service: the reason and the message of its condition, and whether it is met.
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

/// The state in which an API service is.
fn found(api_service: &Value, snapshot: &Snapshot, cluster: &Shared) -> Found {
    let spec = &api_service["spec"];
    let Some(reference) = spec.get("service") else {
        let message = "Local APIServices are always available".into();
        return Found { is_available: true, reason: "Local", message };
    };
    let (namespace, name) = (text(reference, "/namespace"), text(reference, "/name"));
    let port = number(reference, "/port").unwrap_or_default();
    let place = format!("service/{name} in {}", quote(namespace));
    let Some(service) = snapshot.get(&Key::new(ids::SERVICES, namespace, name)) else {
        return Found::missing("ServiceNotFound", format!("{place} is not present"));
    };
    let service = service.object();
    if text(&service, "/spec/type") == "ClusterIP" {
        let mut ports = items(&service, "/spec/ports").iter();
        let Some(listens) = ports.find(|own| number(own, "/port") == Some(port)) else {
            return Found::missing("ServicePortError", format!("{place} is not listening on port {port}"));
        };
        let in_namespace = Scope { namespace: Some(namespace.into()), ..Scope::all(ids::ENDPOINT_SLICES) };
        let slices = snapshot.range(&in_namespace, "");
        let slices = slices.filter(|slice| slice.meta.label(SERVICE_NAME) == Some(name));
        let slices: Vec<Value> = slices.map(|slice| slice.object()).collect();
        if slices.is_empty() {
            return Found::missing("EndpointsNotFound", format!("cannot find endpointslices for {place}"));
        }
        let port_name = text(listens, "/name");
        if !slices.iter().any(|slice| has_endpoint(slice, port_name)) {
            let message = format!("endpointslices for {place} have no addresses with port name {}", quote(port_name));
            return Found::missing("MissingEndpoints", message);
        }
    }
    let port = u16::try_from(port).unwrap_or_default();
    let message = cluster.network.address(namespace, name, port).map_or_else(
        |why| why,
        |address| {
            let address = format!("{}:{}", address.host, address.port);
            let url = format!("https://{address}/apis/{}/{}", text(spec, "/group"), text(spec, "/version"));
            let refused = format!("dial tcp {address}: connect: connection refused");
            format!("failing or missing response from {url}: Get {}: {refused}", quote(&url))
        },
    );
    Found::missing("FailedDiscoveryCheck", message)
}

/// Whether a slice has a ready endpoint, and a port of that name (`hasAvailableEndpoint`).
fn has_endpoint(slice: &Value, port_name: &str) -> bool {
    let is_ready = |endpoint: &Value| endpoint["conditions"]["ready"] != false;
    let is_port =
        |port: &Value| port.get("name").is_some() && text(port, "/name") == port_name && port.get("port").is_some();
    items(slice, "/endpoints").iter().any(is_ready) && items(slice, "/ports").iter().any(is_port)
}

/// The change of an API service whose condition has to say what was found.
fn changed(resource: &Resource, old: &Value, found: &Found, time: &str) -> ApiResult<Change> {
    let Found { is_available, reason, message } = found;
    let condition = Condition { type_: AVAILABLE, status: *is_available, reason, message };
    if condition.is_in(old) {
        return Ok(Change::Leave);
    }
    let mut new = old.clone();
    condition.set(&mut new, time);
    let writer = Writer { manager: MANAGER, subresource: "status", now: time };
    resource.track(writer, Some(old), &mut new);
    Ok(Change::Put(draft(resource, &new)?))
}
