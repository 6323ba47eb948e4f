//! A running server: started by its builder, stopped by a call or when it is dropped.

mod builder;
mod cert_dir;
mod connection;
mod control;
pub(crate) mod follow;
mod gathered;
mod kubeconfig;
mod lifetime;
mod listener;
mod p521;
mod refusals;
mod replica;
mod replicas;
mod seed;
mod socket;
mod spoilt;
mod tls;

pub use builder::{Builder, StartError};
pub use replica::RunningReplica;
pub use seed::{CallError, Fork, Seed};
pub use tls::IdentityError;

use crate::audit::{RequestLog, RequestRecord};
use crate::cluster::Cluster;
use crate::commit::saved;
use crate::controllers::Controllers;
use crate::fault::Faults;
use ::control::Order;
use ::control::recording::What;
use kubeconfig::Kubeconfig;
use replicas::Replicas;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A fake kube-apiserver, listening. Dropping it stops it; [`shutdown`](Self::shutdown) also waits until it has.
pub struct FakeApiServer {
    cluster: Arc<Cluster>,
    replicas: Replicas,
    ca_pem: Option<String>,
    admin_token: String,
    control: control::state::Control<FakeApiServer>,
    shutdown: CancellationToken,
    controllers: Option<Controllers>,
}

impl FakeApiServer {
    /// The present content of the cluster, once what followed from earlier writes is done. Writes meanwhile may be in it or not.
    pub async fn freeze(&self) -> Seed {
        Seed::of(self.first().inner()).await
    }

    /// The base URL of the first replica.
    pub fn url(&self) -> String {
        self.first().url()
    }

    /// All replicas; there is at least one.
    pub fn replicas(&self) -> Vec<Arc<RunningReplica>> {
        self.replicas.all()
    }

    /// One replica, counted from 0.
    ///
    /// # Panics
    /// If the replica does not exist.
    pub fn replica(&self, index: usize) -> Arc<RunningReplica> {
        self.replicas.get(index).expect("replicas are counted from 0")
    }

    /// The first replica.
    fn first(&self) -> Arc<RunningReplica> {
        self.replica(0)
    }

    /// The certificates that clients must trust, as PEM: the generated authority, or the given certificate; `None` without
    /// TLS.
    pub fn ca_pem(&self) -> Option<&str> {
        self.ca_pem.as_deref()
    }

    /// The bearer token of the administrator (user `admin`, group `system:masters`).
    pub fn admin_token(&self) -> &str {
        &self.admin_token
    }

    /// A kubeconfig for the first replica, as the administrator.
    pub fn kubeconfig(&self) -> String {
        self.kubeconfig_for(0)
    }

    /// A kubeconfig for one replica, as the administrator.
    ///
    /// # Panics
    /// If the replica does not exist.
    pub fn kubeconfig_for(&self, replica: usize) -> String {
        self.kubeconfig_value(replica).to_string()
    }

    fn kubeconfig_value(&self, replica: usize) -> Kubeconfig {
        let replica = self.replica(replica);
        Kubeconfig {
            server: replica.public_url(),
            server_name: replica.server_name().map(str::to_owned),
            authority_pem: self.ca_pem.clone(),
            token: Some(self.admin_token.clone()),
        }
    }

    /// Writes [`kubeconfig`](Self::kubeconfig) to a file that only its owner can read.
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn write_kubeconfig(&self, path: &Path) -> std::io::Result<()> {
        self.kubeconfig_value(0).write(path)
    }

    /// The injected faults. They take effect at once, on all replicas.
    pub fn faults(&self) -> &Faults {
        &self.cluster.faults
    }

    /// The requests so far, oldest first. Empty unless the builder [records](Builder::record_requests) them.
    pub fn requests(&self) -> Vec<Arc<RequestRecord>> {
        self.cluster.log.all()
    }

    /// The record of requests, to wait on.
    pub fn request_log(&self) -> &RequestLog {
        &self.cluster.log
    }

    /// The state that all replicas share.
    pub(crate) fn cluster(&self) -> &Arc<Cluster> {
        &self.cluster
    }

    /// Compacts the history up to now: watches and lists that need it get 410.
    pub fn compact(&self) {
        self.forget_history(self.cluster.store.revision());
    }

    fn forget_history(&self, revision: u64) {
        self.cluster.store.compact(revision);
        let order = Order::Compact { revision: Some(revision) };
        self.cluster.log.recorder().note(move || What::Order(Box::new(order)));
    }

    /// Ends all open watches, as a restarted server does. Clients may open new ones at once.
    pub fn disconnect_watches(&self) {
        self.replicas().iter().for_each(|replica| replica.disconnect_watches());
    }

    /// Stops the server, and returns its objects, revision and history, for [`Builder::restore`].
    pub async fn into_state(self) -> Vec<u8> {
        let cluster = self.cluster.clone();
        self.shutdown().await;
        saved::write(&cluster.store, &cluster.catalog().registry)
    }

    /// Stops the server: watches end, connections are closed, ports are free when this returns.
    pub async fn shutdown(self) {
        if let Some(controllers) = &self.controllers {
            controllers.stop().await;
        }
        self.shutdown.cancel();
        if let Some(controllers) = &self.controllers {
            controllers.ended().await;
        }
        for replica in self.replicas() {
            replica.ended().await;
        }
        self.cluster.reconcilers.quiet().await;
        if let Some(auditor) = &self.cluster.policy.auditor {
            auditor.shut_down().await;
        }
        self.cluster.log.recorder().close().await;
    }
}

impl FakeApiServer {
    /// The controllers of [`Builder::controllers`], but for those that are the server itself.
    ///
    /// # Panics
    /// If the server was built without controllers.
    pub fn controllers(&self) -> &Controllers {
        self.controllers.as_ref().expect("no controllers were asked for")
    }
}

#[cfg(feature = "kube")]
impl FakeApiServer {
    /// A client's configuration for the first replica, as the administrator.
    ///
    /// # Panics
    /// If the server's own certificate or address could not be parsed, which would be a bug.
    pub fn kube_config(&self) -> kube::Config {
        self.kube_config_for(0, &self.admin_token)
    }

    /// A client's configuration for one replica, with a bearer token.
    ///
    /// # Panics
    /// If the replica does not exist.
    pub fn kube_config_for(&self, replica: usize, token: &str) -> kube::Config {
        let url = self.replica(replica).url().parse().expect("an address makes a URL");
        let mut config = kube::Config::new(url);
        // Without a certificate, each client would load the system's authorities.
        config.root_cert = Some(self.ca_pem.as_deref().map(tls::certificates_der).into_iter().flatten().collect());
        config.auth_info.token = Some(token.to_string().into());
        config.default_namespace = "default".into();
        config
    }

    /// A client of the first replica, as the administrator.
    ///
    /// # Panics
    /// If the client cannot be built from the server's own configuration, which would be a bug.
    pub fn client(&self) -> kube::Client {
        kube::Client::try_from(self.kube_config()).expect("the server's own configuration is sound")
    }
}

impl fmt::Debug for FakeApiServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeApiServer").field("replicas", &self.replicas).finish_non_exhaustive()
    }
}

impl Drop for FakeApiServer {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}
