//! API servers that extend this one: API services behind a service, to which requests are forwarded.
//!
//! ```text
//!   API services ─▶ Remotes (an index) ─▶ http/forward.rs: requests below /apis/GROUP/VERSION
//!        ▲                                     discovery/merged.rs: their groups in /apis
//!        └─ Available ─ reconcile/availability.rs: probes ─▶ Extensions: what each of them serves
//! ```

mod document;

pub(crate) use document::{Fetched, of_aggregated, of_index, of_resource_list};

use crate::discovery::{Aggregated, Extension, Merged, Registration};
use crate::index::{Index, Place};
use crate::registry::{RemoteService, ids, number, text};
use crate::store::{Entry, Key, ResourceId, Scope, Store};
use crate::webhook::{Backend, Network, ProxyCertificate};
use imbl::OrdMap;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The API services that are behind a service, by the name that they have: `VERSION.GROUP`.
#[derive(Clone, Default)]
pub(crate) struct Remotes(OrdMap<Arc<str>, Arc<RemoteService>>);

impl Index for Remotes {
    const PLACE: Place = Place::RemoteServices;
    const RESOURCES: &'static [ResourceId] = &[ids::API_SERVICES];

    fn apply(&mut self, entry: &Entry) {
        match RemoteService::stored(entry) {
            Some(remote) => drop(self.0.insert(entry.key.name().into(), remote)),
            None => drop(self.0.remove(entry.key.name())),
        }
    }

    fn delete(&mut self, key: &Key) {
        self.0.remove(key.name());
    }
}

impl Remotes {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The one that serves a path.
    pub(crate) fn at(&self, path: &str) -> Option<&Arc<RemoteService>> {
        if self.is_empty() {
            return None;
        }
        // OpenAPI documents have the paths of what they are about.
        let path = path.strip_prefix("/openapi/v3").unwrap_or(path);
        let mut elements = path.strip_prefix('/')?.splitn(4, '/');
        match (elements.next()?, elements.next(), elements.next()) {
            ("api", ..) => self.0.get("v1."),
            ("apis", Some(group), Some(version)) => self.0.get(format!("{version}.{group}").as_str()),
            _ => None,
        }
    }
}

/// The knowledge of the servers that extend this one.
#[derive(Default)]
pub(crate) struct Extensions {
    /// The files by which they know this one.
    certificate: Option<ProxyCertificate>,
    /// The resources that they serve, by the names of their API services.
    fetched: Mutex<BTreeMap<Box<str>, Fetched>>,
    /// The number of changes of that.
    changes: AtomicU64,
    /// The documents that were made last, and of what.
    merged: Mutex<Option<Made>>,
}

/// Documents, and what they were made of: the revision of the API services, the number of changes, and this server's own document.
type Made = ((u64, u64, String), Arc<Merged>);

impl Extensions {
    /// None so far.
    pub(crate) fn new(certificate: Option<ProxyCertificate>) -> Self {
        Extensions { certificate, ..Extensions::default() }
    }

    /// The same for a fork of the cluster.
    pub(crate) fn fork(&self) -> Self {
        Extensions { fetched: self.fetched().clone().into(), ..Extensions::new(self.certificate.clone()) }
    }

    /// The server that an API service is behind.
    ///
    /// # Errors
    /// If TLS cannot be set up.
    pub(crate) fn backend(&self, network: &Arc<Network>, remote: &RemoteService) -> Result<Backend, String> {
        let trusted = (!remote.is_insecure).then_some(&*remote.bundle);
        let place = (&*remote.namespace, &*remote.service, remote.port);
        Backend::new(network, place, trusted, self.certificate.as_ref())
    }

    /// Notes what an API service serves; of one that cannot be asked, what is known is stale.
    pub(crate) fn note(&self, name: &str, found: Option<Fetched>) {
        let mut fetched = self.fetched();
        let stale = || Fetched { is_stale: true, ..fetched.get(name).cloned().unwrap_or_default() };
        let new = found.unwrap_or_else(stale);
        if fetched.get(name) != Some(&new) {
            fetched.insert(name.into(), new);
            self.changes.fetch_add(1, Ordering::Release);
        }
    }

    /// Forgets an API service.
    pub(crate) fn forget(&self, name: &str) {
        if self.fetched().remove(name).is_some() {
            self.changes.fetch_add(1, Ordering::Release);
        }
    }

    /// The resources that an API service serves.
    pub(crate) fn of(&self, name: &str) -> Fetched {
        self.fetched().get(name).cloned().unwrap_or(Fetched { is_stale: true, ..Fetched::default() })
    }

    /// Makes discovery anew, as the store has gone back.
    pub(crate) fn renew(&self) {
        *self.merged.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Discovery of all groups, given this server's own.
    pub(crate) fn merged(&self, store: &Store, own: &Aggregated) -> Arc<Merged> {
        let state = (store.last_change(Remotes::RESOURCES), self.changes.load(Ordering::Acquire), own.etag.clone());
        let mut kept = self.merged.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, merged)) = kept.as_ref().filter(|(known, _)| *known == state) {
            return merged.clone();
        }
        let (mut services, mut extensions) = (Vec::new(), Vec::new());
        for entry in store.snapshot().range(&Scope::all(ids::API_SERVICES), "") {
            let object = entry.object();
            let [group, version] = ["/spec/group", "/spec/version"].map(|field| text(&object, field).to_owned());
            if RemoteService::of(&object).is_some() {
                let Fetched { is_stale, resources, openapi, part } = self.of(entry.key.name());
                let (group, version) = (group.clone(), version.clone());
                extensions.push(Extension { group, version, resources, openapi, part, is_stale });
            }
            let [group_priority, version_priority] = ["/spec/groupPriorityMinimum", "/spec/versionPriority"]
                .map(|field| number(&object, field).unwrap_or_default());
            services.push(Registration { group, version, group_priority, version_priority });
        }
        let merged = Arc::new(Merged::of(services, &extensions, own));
        *kept = Some((state, merged.clone()));
        merged
    }

    fn fetched(&self) -> MutexGuard<'_, BTreeMap<Box<str>, Fetched>> {
        self.fetched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    #[test]
    fn paths_lead_to_whom_they_belong() {
        let remote = |group: &str, version: &str| {
            let spec =
                json!({"group": group, "version": version, "service": {"namespace": "n", "name": "s", "port": 443}});
            let name = format!("{version}.{group}");
            let remote =
                RemoteService::of(&json!({"metadata": {"name": name}, "spec": spec})).expect("it is behind one");
            (Arc::from(name), Arc::new(remote))
        };
        let remotes = Remotes(OrdMap::from_iter([remote("g.example.com", "v1")]));
        for (path, expected) in [
            ("/apis/g.example.com/v1", true),
            ("/apis/g.example.com/v1/", true),
            ("/apis/g.example.com/v1/things/a", true),
            ("/openapi/v3/apis/g.example.com/v1", true),
            ("/openapi/v3", false),
            ("/apis/g.example.com/v2", false),
            ("/apis/g.example.com", false),
            ("/apis", false),
            ("/api/v1", false),
            ("/", false),
        ] {
            assert_eq!(remotes.at(path).is_some(), expected, "{path}");
        }
    }
}
