//! Our port of the tokens controller, in this process.

use super::{Settings, TokensController, client};
use crate::stage::DEADLINE;
use crate::target::{ADMINISTRATOR, Cluster};
use anyhow::{Result, anyhow};
use controller::controller::Controller;
use controller::informer::Informer;
use controller::keys::SigningKey;
use controller::mutation_cache::MutationCache;
use controller::tokens::{self, Options};
use futures::future::BoxFuture;
use kube::Client;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Workers on each queue: the default of `--concurrent-serviceaccount-token-syncs`.
const WORKERS: usize = 5;

/// The port. Stopped, it ends what it is doing.
pub(crate) struct Ours {
    controller: Arc<Controller>,
    /// Another client than the controller's, to look at the server without being seen as the controller.
    observer: Client,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Ours {
    /// Starts it as `user`.
    ///
    /// # Errors
    /// If the cluster does not know the user, or keeps its signing key.
    pub(crate) fn start(cluster: &dyn Cluster, user: &str, settings: Settings) -> Result<Ours> {
        let mut options = Options::new(Arc::new(SigningKey::from_pem(cluster.signing_key_pem()?.as_bytes())?));
        options.root_ca = cluster.ca_pem().unwrap_or_else(|| "no TLS, no CA".to_owned()).into_bytes();
        options.auto_generate = settings.auto_generate;
        options.max_retries = settings.max_retries.unwrap_or(options.max_retries);
        let stop = CancellationToken::new();
        let secrets = Arc::new(MutationCache::new(Arc::new(Informer::new())));
        let controller = tokens::controller(client(cluster, user)?, Arc::new(Informer::new()), secrets, options);
        let controller = Arc::new(controller);
        // A thread of its own, as it is a process of its own in a cluster.
        let task = tokio::task::spawn_blocking({
            let (controller, stop, runtime) = (Arc::clone(&controller), stop.clone(), Handle::current());
            move || runtime.block_on(controller.run(WORKERS, stop))
        });
        Ok(Ours { controller, observer: client(cluster, ADMINISTRATOR)?, stop, task })
    }
}

impl TokensController for Ours {
    fn quiet<'a>(&'a self, _: &'a dyn Cluster) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(self.controller.quiet(&self.observer).await?) })
    }

    fn stop(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async move {
            self.stop.cancel();
            let ended = tokio::time::timeout(DEADLINE, self.task).await;
            Ok(ended.map_err(|_| anyhow!("the controller did not stop within {DEADLINE:?}"))??)
        })
    }
}
