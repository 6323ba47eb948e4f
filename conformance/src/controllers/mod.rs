//! The tokens controllers that scenarios start: our port of it, unless the target brings the real one.

mod ours;
mod theirs;

pub(crate) use ours::Ours;
pub(crate) use theirs::Theirs;

use crate::target::Cluster;
use anyhow::{Context as _, Result};
use futures::future::BoxFuture;
use kube::Client;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// How a tokens controller is to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Whether it makes tokens for accounts that have none.
    pub auto_generate: bool,
    /// How often it tries again what fails, if not as often as usual.
    pub max_retries: Option<u32>,
}

/// One that runs.
pub trait TokensController: Send + Sync {
    /// Waits until it knows all there is to know and has nothing left to do.
    fn quiet<'a>(&'a self, cluster: &'a dyn Cluster) -> BoxFuture<'a, Result<()>>;

    /// Ends it.
    fn stop(self: Box<Self>) -> BoxFuture<'static, Result<()>>;
}

/// A client of the cluster's first API server.
///
/// # Errors
/// If the cluster does not know the user.
pub(crate) fn client(cluster: &dyn Cluster, user: &str) -> Result<Client> {
    let mut config = kube::Config::new(cluster.endpoints()[0].url.parse()?);
    let ca_pem = cluster.ca_pem().unwrap_or_default();
    let certificates = CertificateDer::pem_slice_iter(ca_pem.as_bytes());
    let certificates: Vec<Vec<u8>> = certificates.map(|der| Ok(der?.to_vec())).collect::<Result<_>>()?;
    config.root_cert = Some(certificates).filter(|certificates| !certificates.is_empty());
    let token = cluster.token(user).with_context(|| format!("this target knows no user {user:?}"))?;
    config.auth_info.token = Some(token.into());
    controller::client::new(config, user)
}
