//! The controllers that scenarios start: the ports of `controller/`, unless the target brings the real ones.

mod ported;
mod real;

pub(crate) use ported::Ported;
pub(crate) use real::{AlwaysOn, Real};

use crate::subject::cluster::Cluster;
use anyhow::{Context as _, Result};
use kube::Client;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// A client of the cluster's first API server for a controller. It owns fields by the name of the program that has it upstream.
///
/// # Errors
/// If the cluster does not know the user.
pub(crate) fn client(cluster: &dyn Cluster, user: &str) -> Result<Client> {
    controller::client_go::client::new(config(cluster, user)?, &format!("kube-controller-manager/{user}"))
}

/// The configuration of a client of the cluster's first API server as `user`.
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
