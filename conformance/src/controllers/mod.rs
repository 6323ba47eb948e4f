//! The controllers that scenarios start: our ports of them, unless the target brings the real ones.

mod ours;
mod theirs;

pub(crate) use ours::Ours;
pub(crate) use theirs::{Standing, Theirs};

use crate::target::Cluster;
use anyhow::{Context as _, Result, bail};
use futures::future::BoxFuture;
use kube::Client;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// Which controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Deletes generated tokens that nobody uses.
    LegacyTokenCleaner,
    /// Puts the root CA into every namespace.
    RootCa,
    /// Puts the account `default` into every namespace.
    ServiceAccounts,
    /// Makes, fills and deletes the secrets with tokens.
    Tokens(Settings),
}

/// How a tokens controller is to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Whether it makes tokens for accounts that have none.
    pub auto_generate: bool,
    /// How often it tries again what fails, if not as often as usual.
    pub max_retries: Option<u32>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { auto_generate: true, max_retries: None }
    }
}

/// One that runs.
pub trait Running: Send + Sync {
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

    /// In a pause: lets it do the next thing, and says what that was; `None` if there was nothing to do.
    fn step(&self) -> BoxFuture<'_, Result<Option<String>>> {
        Box::pin(async { bail!("this controller cannot be stepped") })
    }

    /// Ends it.
    fn stop(self: Box<Self>) -> BoxFuture<'static, Result<()>>;
}

/// A client of the cluster's first API server.
///
/// # Errors
/// If the cluster does not know the user.
pub(crate) fn client(cluster: &dyn Cluster, user: &str) -> Result<Client> {
    controller::client::new(config(cluster, user)?, user)
}

/// What a client of the cluster's first API server has to know to be `user`.
///
/// # Errors
/// If the cluster does not know the user.
pub(crate) fn config(cluster: &dyn Cluster, user: &str) -> Result<kube::Config> {
    let mut config = kube::Config::new(cluster.endpoints()[0].url.parse()?);
    let ca_pem = cluster.ca_pem().unwrap_or_default();
    let certificates = CertificateDer::pem_slice_iter(ca_pem.as_bytes());
    let certificates: Vec<Vec<u8>> = certificates.map(|der| Ok(der?.to_vec())).collect::<Result<_>>()?;
    config.root_cert = Some(certificates).filter(|certificates| !certificates.is_empty());
    let token = cluster.token(user).with_context(|| format!("this target knows no user {user:?}"))?;
    config.auth_info.token = Some(token.into());
    Ok(config)
}
