//! The connection of a program to the API server: by a kubeconfig, or in-cluster.

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use std::path::Path;

/// The connection to the API server.
pub struct Cluster {
    /// The configuration for clients.
    pub config: Config,
    /// The CA bundle in the kubeconfig, PEM; empty if it is not inline.
    pub ca_data: Vec<u8>,
}

impl Cluster {
    /// Reads the kubeconfig; without one, the in-cluster configuration of a pod.
    ///
    /// # Errors
    /// If the configuration cannot be read or is incomplete.
    pub async fn load(kubeconfig: Option<&Path>) -> Result<Self> {
        let Some(path) = kubeconfig else {
            return Ok(Cluster { config: Config::incluster()?, ca_data: Vec::new() });
        };
        let load = async {
            let kubeconfig = Kubeconfig::read_from(path)?;
            let ca_data = match ca_data(&kubeconfig) {
                Some(encoded) => STANDARD.decode(encoded).context("certificate-authority-data")?,
                None => Vec::new(),
            };
            let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
            anyhow::Ok(Cluster { config, ca_data })
        };
        load.await.with_context(|| format!("error loading kubeconfig {}", path.display()))
    }
}

/// `certificate-authority-data` of the cluster of the current context.
fn ca_data(kubeconfig: &Kubeconfig) -> Option<&str> {
    let current = kubeconfig.current_context.as_ref()?;
    let context = kubeconfig.contexts.iter().find(|context| context.name == *current)?.context.as_ref()?;
    let cluster = kubeconfig.clusters.iter().find(|cluster| cluster.name == context.cluster)?.cluster.as_ref()?;
    cluster.certificate_authority_data.as_deref()
}
