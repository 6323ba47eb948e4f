//! Where the services of a cluster lead: to addresses that a test has given, to the server itself, or to their cluster IP.
//!
//! Follows `NewClusterIPServiceResolver` and `NewLoopbackServiceResolver` of `k8s.io/kube-aggregator/pkg/apiserver/resolvers.go`, and
//! `ResolveCluster` of `k8s.io/apiserver/pkg/util/proxy` (v0.37.1).

use crate::registry::{ids, items, number, text};
use crate::store::{Key, Store};
use crate::webhook::{Address, Services};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The namespace, name and port of the service of the server itself.
const OWN: (&str, &str, u16) = ("default", "kubernetes", 443);

/// Addresses by namespace, name and port of a service.
pub(crate) type Given = BTreeMap<(String, String, u16), Address>;

/// The addresses of the services of a cluster.
#[derive(Debug)]
pub(crate) struct ServiceAddresses {
    pub(crate) store: Store,
    pub(crate) known: Arc<Known>,
}

/// The addresses that do not depend on what is stored.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Those that count before all others: tests have no network of a cluster.
    pub(crate) given: Given,
    /// The address of the server itself, if it speaks TLS.
    pub(crate) own: Option<Address>,
}

impl Services for ServiceAddresses {
    fn is_given(&self, namespace: &str, name: &str, port: u16) -> bool {
        self.known.given.contains_key(&(namespace.to_owned(), name.to_owned(), port))
    }

    fn address(&self, namespace: &str, name: &str, port: u16) -> Result<Address, String> {
        if let Some(given) = self.known.given.get(&(namespace.to_owned(), name.to_owned(), port)) {
            return Ok(given.clone());
        }
        if let Some(own) = self.known.own.as_ref().filter(|_| (namespace, name, port) == OWN) {
            return Ok(own.clone());
        }
        let entry = self.store.get(&Key::new(ids::SERVICES, namespace, name));
        let service = entry.ok_or_else(|| format!("service {name:?} not found"))?.object();
        let is_served = |own: &&tree::Value| number(own, "/port") == Some(port.into());
        let has_port = || items(&service, "/spec/ports").iter().find(is_served).is_some();
        match (text(&service, "/spec/type"), text(&service, "/spec/clusterIP")) {
            ("ClusterIP", "None") => Err("cannot route to service with ClusterIP \"None\"".into()),
            ("ClusterIP" | "LoadBalancer" | "NodePort", _) if !has_port() => {
                Err(format!("no service port {port} found for service {name:?}"))
            }
            ("ClusterIP" | "LoadBalancer" | "NodePort", ip) => Ok(Address { host: ip.into(), port }),
            ("ExternalName", _) => Ok(Address { host: text(&service, "/spec/externalName").into(), port }),
            (other, _) => Err(format!("unsupported service type {other:?}")),
        }
    }
}
