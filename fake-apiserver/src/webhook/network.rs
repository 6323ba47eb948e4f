//! The network of webhooks: the services that they are behind, and the transports that clients share.
//!
//! Follows `transport/cache.go` of `k8s.io/client-go` (v0.37.1).

use super::services::{Address, Services};
use super::transport::{Key, Transport};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of transports from which on those without a client are dropped (`defaultCacheSize` of clients).
const MANY: usize = 200;

/// The services that webhooks are behind, and the transports to webhooks.
pub(crate) struct Network {
    services: Box<dyn Services>,
    transports: Arc<Mutex<BTreeMap<Key, Arc<Transport>>>>,
}

impl Network {
    /// A network with these services.
    pub(crate) fn new(services: impl Services + 'static) -> Arc<Network> {
        Arc::new(Network { services: Box::new(services), transports: Arc::default() })
    }

    /// A network with other services, and the same transports.
    pub(crate) fn beside(&self, services: impl Services + 'static) -> Arc<Network> {
        Arc::new(Network { services: Box::new(services), transports: self.transports.clone() })
    }

    /// The address that a port of a service leads to.
    ///
    /// # Errors
    /// The reason that there is none.
    pub(crate) fn address(&self, namespace: &str, name: &str, port: u16) -> Result<Address, String> {
        self.services.address(namespace, name, port)
    }

    /// Whether somebody has said where a port of a service leads.
    pub(crate) fn is_given(&self, namespace: &str, name: &str, port: u16) -> bool {
        self.services.is_given(namespace, name, port)
    }

    /// The transport for clients with the same authorities and the same certificate.
    ///
    /// # Errors
    /// If TLS cannot be set up.
    pub(super) fn transport(&self, key: Key) -> Result<Arc<Transport>, String> {
        if let Some(known) = self.transports().get(&key) {
            return Ok(known.clone());
        }
        // Under no lock, as the key may have many certificates. If others make the same, the first counts.
        let transport = Arc::new(Transport::new(&key)?);
        let mut transports = self.transports();
        if transports.len() >= MANY {
            transports.retain(|_, transport| Arc::strong_count(transport) > 1);
        }
        Ok(transports.entry(key).or_insert(transport).clone())
    }

    fn transports(&self) -> MutexGuard<'_, BTreeMap<Key, Arc<Transport>>> {
        self.transports.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Network").field(&self.services).finish()
    }
}
