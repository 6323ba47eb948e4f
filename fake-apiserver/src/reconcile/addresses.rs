//! The addresses of services: those of removed ones are released, and those whose object is gone or spoilt are restored.
//!
//! ```text
//!   a service is removed ──────────────▶ its addresses are free
//!   an address is deleted or changed ──▶ looked at with the next change of its service, or after three minutes
//! ```
//! A key is an address to release, or `later` or `repair` with the namespace and name of a service.
//!
//! Follows `syncService` of `pkg/registry/core/service/ipallocator/controller/repairip.go` (v1.37.1).
//!
//! GAP: services: the events about addresses that are restored

use super::event::Event;
use super::reconciler::{Context, Reconciler};
use super::shared::Shared;
use crate::allocation::{Release, addresses_of};
use crate::error::ApiResult;
use crate::registry::{ids, text};
use crate::store::{Entry, Key};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The time after which all services are looked at anyway.
const PERIOD: Duration = Duration::from_secs(180);
/// The beginnings of keys about services.
const LATER: &str = "later ";
const REPAIR: &str = "repair ";

#[derive(Default)]
pub(super) struct Addresses {
    /// The services, by namespace and name, one of whose addresses may be lost.
    lost: Mutex<BTreeSet<Box<str>>>,
}

impl Addresses {
    fn lost(&self) -> MutexGuard<'_, BTreeSet<Box<str>>> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the service of an address may have lost it.
    fn note(&self, address: &Entry) -> Vec<Box<str>> {
        let object = address.object();
        let parent = |field: &str| text(&object, &format!("/spec/parentRef/{field}")).to_owned();
        if parent("resource") != "services" || !parent("group").is_empty() {
            return Vec::new();
        }
        let service = format!("{}/{}", parent("namespace"), parent("name"));
        self.lost().insert(service.as_str().into());
        vec![format!("{LATER}{service}").into()]
    }

    /// Restores the addresses that a service has, and nobody else.
    async fn repair(&self, service: &str, context: &Context<'_>) {
        self.lost().remove(service);
        let (namespace, name) = service.split_once('/').unwrap_or_default();
        let Some(entry) = context.store.get(&Key::new(ids::SERVICES, namespace, name)) else { return };
        let catalog = context.catalog();
        let object = entry.object();
        for address in addresses_of(&object) {
            context.allocations.restore(context.access(&catalog), &object, &address).await;
        }
    }

    /// Whether a service lacks one of its addresses.
    fn lacks(&self, service: &str, context: &Context<'_>) -> bool {
        let (namespace, name) = service.split_once('/').unwrap_or_default();
        let entry = context.store.get(&Key::new(ids::SERVICES, namespace, name));
        entry.is_some_and(|entry| {
            let object = entry.object();
            addresses_of(&object).iter().any(|address| context.allocations.is_lost(&context.store, &object, address))
        })
    }
}

impl Reconciler for Addresses {
    fn wants(&self, event: &Event<'_>, _: &Shared) -> Vec<Box<str>> {
        match event {
            Event::Removed(service) if service.key.resource == ids::SERVICES => {
                addresses_of(&service.object()).into_iter().map(Into::into).collect()
            }
            Event::Removed(address) | Event::Stored(address, Some(_)) if address.key.resource == ids::IP_ADDRESSES => {
                self.note(address)
            }
            Event::Stored(service, _) if service.key.resource == ids::SERVICES => {
                let service = format!("{}/{}", service.key.namespace(), service.key.name());
                let is_lost = self.lost().contains(service.as_str());
                is_lost.then(|| format!("{REPAIR}{service}").into()).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn fork(&self) -> Option<Arc<dyn Reconciler>> {
        Some(Arc::new(Addresses { lost: self.lost().clone().into() }))
    }

    fn sync<'a>(&'a self, key: &'a str, context: &'a Context<'a>) -> BoxFuture<'a, ApiResult<()>> {
        async move {
            if let Some(service) = key.strip_prefix(REPAIR) {
                self.repair(service, context).await;
            } else if let Some(service) = key.strip_prefix(LATER) {
                match self.lacks(service, context) {
                    true => context.add_later(&format!("{REPAIR}{service}"), PERIOD),
                    false => drop(self.lost().remove(service)),
                }
            } else {
                let catalog = context.catalog();
                Release::new(context.access(&catalog)).all(&[key.to_owned()]).await;
            }
            Ok(())
        }
        .boxed()
    }
}
