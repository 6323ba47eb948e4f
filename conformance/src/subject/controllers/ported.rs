//! The ported controllers, run in this process.

use super::client;
use crate::credentials::ADMINISTRATOR;
use crate::deadline::DEADLINE;
use crate::subject::cluster::Cluster;
use crate::subject::controller::{Controller, ControllerKind};
use anyhow::{Result, anyhow};
use controller::client_go::mutation_cache::MutationCache;
use controller::controllers::legacy_token_cleaner::{self, Stores};
use controller::controllers::tokens::{self, Options};
use controller::controllers::{root_ca, service_accounts};
use controller::keys::SigningKey;
use futures::future::BoxFuture;
use kube::Client;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Workers on each queue of the tokens controller: the default of `--concurrent-serviceaccount-token-syncs`.
const WORKERS: usize = 5;

/// A running port. It ends when it is stopped or dropped, so that its thread does not keep the process alive.
pub(crate) struct Ported {
    controller: Arc<controller::controller::Controller>,
    /// A client of another user, so that reads of the harness are not taken for the controller's.
    observer: Client,
    stop: DropGuard,
    task: JoinHandle<()>,
}

impl Ported {
    /// Starts it as `user`.
    ///
    /// # Errors
    /// If the cluster does not know the user, or keeps its signing key.
    pub(crate) fn start(cluster: &dyn Cluster, user: &str, kind: ControllerKind) -> Result<Ported> {
        let workers = if matches!(kind, ControllerKind::Tokens(_)) { WORKERS } else { 1 };
        let controller = Arc::new(port(cluster, user, kind)?);
        let observer = client(cluster, ADMINISTRATOR)?;
        let stop = CancellationToken::new();
        // A thread of its own, as it is a process of its own in a real cluster.
        let task = tokio::task::spawn_blocking({
            let (controller, stop, runtime) = (Arc::clone(&controller), stop.clone(), Handle::current());
            move || runtime.block_on(controller.run(workers, stop))
        });
        Ok(Ported { controller, observer, stop: stop.drop_guard(), task })
    }
}

/// The port of that controller, with `user` as its client's.
fn port(cluster: &dyn Cluster, user: &str, kind: ControllerKind) -> Result<controller::controller::Controller> {
    let client = client(cluster, user)?;
    let root_ca = cluster.ca_pem().unwrap_or_else(|| "no TLS, no CA".to_owned());
    Ok(match kind {
        ControllerKind::LegacyTokenCleaner => {
            let stores = Stores { service_accounts: Arc::default(), secrets: Arc::default(), pods: Arc::default() };
            legacy_token_cleaner::controller(client, stores, cluster.clock(), Default::default())?
        }
        ControllerKind::RootCa => {
            root_ca::controller(client, Arc::default(), Arc::default(), root_ca, Default::default())
        }
        ControllerKind::ServiceAccounts => {
            service_accounts::controller(client, Arc::default(), Arc::default(), Default::default())
        }
        ControllerKind::Tokens(settings) => {
            let key = SigningKey::from_pem(cluster.signing_key_pem()?.as_bytes())?;
            let mut options = Options::new(Arc::new(key));
            options.root_ca = root_ca.into_bytes();
            options.auto_generate = settings.auto_generate;
            options.max_retries = settings.max_retries.unwrap_or(options.max_retries);
            tokens::controller(client, Arc::default(), Arc::new(MutationCache::new(Arc::default())), options)
        }
    })
}

impl Controller for Ported {
    fn quiet<'a>(&'a self, _: &'a dyn Cluster) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(self.controller.quiet(&self.observer).await?) })
    }

    fn pause(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async {
            self.controller.pause().await;
            Ok(())
        })
    }

    fn resume(&self) -> Result<()> {
        self.controller.resume();
        Ok(())
    }

    fn step(&self) -> BoxFuture<'_, Result<Option<String>>> {
        Box::pin(async { Ok(self.controller.step(&self.observer).await?) })
    }

    fn stop(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async move {
            drop(self.stop);
            let ended = tokio::time::timeout(DEADLINE, self.task).await;
            Ok(ended.map_err(|_| anyhow!("the controller did not stop within {DEADLINE:?}"))??)
        })
    }
}
