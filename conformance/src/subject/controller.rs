//! Controllers as scenarios see them, whether they are ports or the real ones.

use super::cluster::Cluster;
use anyhow::{Result, bail};
use futures::future::BoxFuture;

/// The controllers that a scenario can start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControllerKind {
    /// Deletes generated tokens that are not used.
    LegacyTokenCleaner,
    /// Puts the root CA into every namespace.
    RootCa,
    /// Puts the account `default` into every namespace.
    ServiceAccounts,
    /// Makes, fills and deletes the secrets with tokens.
    Tokens(TokenSettings),
}

/// The settings of a tokens controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenSettings {
    /// Whether it makes tokens for accounts that have none.
    pub auto_generate: bool,
    /// The number of retries of what fails; `None` is the controller's own default.
    pub max_retries: Option<u32>,
}

impl Default for TokenSettings {
    fn default() -> Self {
        TokenSettings { auto_generate: true, max_retries: None }
    }
}

/// A running controller.
pub trait Controller: Send + Sync {
    /// Waits until it knows all there is to know and has nothing left to do.
    fn quiet<'a>(&'a self, cluster: &'a dyn Cluster) -> BoxFuture<'a, Result<()>>;

    /// Lets it begin nothing new; what is in progress has ended then.
    fn pause(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { bail!("this controller cannot be paused") })
    }

    /// Lets it go on.
    ///
    /// # Errors
    /// If it cannot be paused either.
    fn resume(&self) -> Result<()> {
        bail!("this controller cannot be paused")
    }

    /// In a pause: lets it do the next thing, and returns its key; `None` if there was nothing to do.
    fn step(&self) -> BoxFuture<'_, Result<Option<String>>> {
        Box::pin(async { bail!("this controller cannot be stepped") })
    }

    /// Stops it.
    fn stop(self: Box<Self>) -> BoxFuture<'static, Result<()>>;
}
