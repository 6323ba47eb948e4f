//! Controllers as scenarios use them: ports or the real ones.

use super::cluster::Cluster;
use anyhow::{Result, bail};
use futures::future::BoxFuture;

/// The controllers that a scenario can start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControllerKind {
    /// Deletes generated tokens that are not used.
    LegacyTokenCleaner,
    /// Writes the config map `kube-root-ca.crt` in every namespace.
    RootCa,
    /// Creates the account `default` in every namespace.
    ServiceAccounts,
    /// Creates, fills and deletes token secrets.
    Tokens(TokenSettings),
}

/// The settings of a tokens controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenSettings {
    /// Whether it creates tokens for accounts without one.
    pub auto_generate: bool,
    /// The number of retries of a failing key; `None` for the controller's own default.
    pub max_retries: Option<u32>,
}

impl Default for TokenSettings {
    fn default() -> Self {
        TokenSettings { auto_generate: true, max_retries: None }
    }
}

/// A running controller.
pub trait Controller: Send + Sync {
    /// Waits until it has caught up with the API server and has nothing left to do.
    fn quiet<'a>(&'a self, cluster: &'a dyn Cluster) -> BoxFuture<'a, Result<()>>;

    /// Pauses it once the items in progress are done.
    fn pause(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { bail!("this controller cannot be paused") })
    }

    /// Resumes it after a pause.
    ///
    /// # Errors
    /// If it cannot be paused.
    fn resume(&self) -> Result<()> {
        bail!("this controller cannot be paused")
    }

    /// Processes the next item of a paused controller and returns its key; `None` if the queue is empty.
    fn step(&self) -> BoxFuture<'_, Result<Option<String>>> {
        Box::pin(async { bail!("this controller cannot be stepped") })
    }

    /// Stops it.
    fn stop(self: Box<Self>) -> BoxFuture<'static, Result<()>>;
}
