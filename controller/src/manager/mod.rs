//! The manager: from flags to running controllers.
//!
//! Follows kubernetes v1.37.1 `cmd/kube-controller-manager/app/controllermanager.go` and `service_accounts.go`, and
//! controller-manager v0.37.1 `options/generic.go` and `app/helper.go`. Unlike upstream, files are read before the
//! election instead of after it is won, so that mistakes show at once.

pub mod catalogue;
mod flags;
pub mod fleet;
pub mod serving;

pub use flags::Flags;

use crate::client_go::client;
use crate::client_go::leader_election::LeaderElector;
use crate::client_go::workqueue::metrics::QueueMetrics;
use crate::clock::system_clock;
use crate::controllers::{legacy_token_cleaner, root_ca, service_accounts, tokens};
use crate::keys::{SigningKey, check_certificates};
use crate::manager::catalogue::Kind;
use crate::manager::fleet::Fleet;
use crate::program::{self, Cluster};
use anyhow::{Context, Result};
use prometheus_client::registry::Registry;
use serving::{Endpoint, Identity, Site};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tracing::warn;

/// Time after the expiry of its Lease for which a leader is still healthy.
const RENEWAL_TOLERANCE: Duration = Duration::from_secs(20);

/// Runs the manager with `flags` until `stop`.
///
/// # Errors
/// If a file that a flag names is unreadable or invalid, or if the Lease was lost.
pub async fn run(flags: Flags, stop: CancellationToken) -> Result<()> {
    if flags.wait_for_kubeconfig {
        program::wait_for(flags.kubeconfig.as_deref(), &stop).await;
    }
    let cluster = Cluster::load(flags.kubeconfig.as_deref()).await?;
    let mut registry = Registry::default();
    let fleet = fleet(&flags, &cluster, &mut registry)?;
    let elector = match flags.leader_elect {
        true => Some(LeaderElector::new(client(&cluster, "leader-election")?, flags.election(identity()))?),
        false => None,
    };
    let election = elector.as_ref().map(|elector| {
        let status = elector.status();
        status.register(&flags.leader_elect_resource_name, &mut registry);
        (status, flags.leader_elect_lease_duration.saturating_add(RENEWAL_TOLERANCE))
    });
    let endpoint = endpoint(&flags).await?;
    let site = Site {
        client: client(&cluster, "serving")?,
        always_allow_paths: flags.authorization_always_allow_paths.clone(),
        election,
        controllers: fleet.kinds().map(Kind::name).collect(),
        registry,
    };

    // The server stops last, however the rest ends.
    let stop_serving = CancellationToken::new();
    let _guard = stop_serving.clone().drop_guard();
    if let Some(endpoint) = endpoint {
        tokio::spawn(endpoint.serve(site, stop_serving));
    }
    match elector {
        Some(elector) => Ok(elector.run(stop, async |stop| fleet.run(stop).await).await?),
        None => {
            fleet.run(stop).await;
            Ok(())
        }
    }
}

/// The endpoint to serve on, if `--secure-port` is set.
async fn endpoint(flags: &Flags) -> Result<Option<Endpoint>> {
    if flags.secure_port == 0 {
        return Ok(None);
    }
    let address = SocketAddr::new(flags.bind_address, flags.secure_port);
    let identity = match (&flags.tls_cert_file, &flags.tls_private_key_file) {
        (Some(certificate), Some(key)) => Identity { certificate_pem: read(certificate)?, key_pem: read(key)? },
        _ => Identity::generate(address)?,
    };
    Ok(Some(Endpoint::bind(address, &identity).await?))
}

/// The controllers that are enabled.
fn fleet(flags: &Flags, cluster: &Cluster, registry: &mut Registry) -> Result<Fleet> {
    let mut fleet = Fleet::new(client(cluster, "shared-informers")?);
    let root_ca = match &flags.root_ca_file {
        Some(file) => read_ca(file).with_context(|| format!("error parsing root-ca-file at {}", file.display()))?,
        None => cluster.ca_data.clone(),
    };
    for kind in Kind::ALL {
        if !flags.is_enabled(kind) {
            warn!(controller = kind.name(), "controller is disabled");
            continue;
        }
        let client = client(cluster, kind.client_name())?;
        match kind {
            Kind::ServiceAccountToken => {
                let Some(key_file) = &flags.service_account_private_key_file else {
                    warn!(controller = kind.name(), "controller is disabled because there is no private key");
                    continue;
                };
                let key = read_private_key(key_file);
                let key = key.context("error reading key for service account token controller")?;
                let mut options = tokens::Options::new(Arc::new(key));
                options.auto_generate = flags.auto_generate_tokens;
                options.root_ca = root_ca.clone();
                fleet.add_tokens(client, options, usize::from(flags.concurrent_serviceaccount_token_syncs));
            }
            Kind::ServiceAccount => fleet.add_service_accounts(client, service_accounts::Options::default()),
            // As in Go's JSON, invalid UTF-8 is replaced.
            Kind::RootCaPublisher => {
                let metrics = root_ca::Metrics::default();
                metrics.register(registry);
                fleet.add_root_ca(client, String::from_utf8_lossy(&root_ca).into_owned(), metrics);
            }
            Kind::LegacyTokenCleaner => {
                let options = legacy_token_cleaner::Options {
                    clean_up_period: flags.legacy_service_account_token_clean_up_period,
                    ..legacy_token_cleaner::Options::default()
                };
                let added = fleet.add_legacy_token_cleaner(client, system_clock(), options);
                added.context("failed to init the legacy service account token cleaner")?;
            }
        }
    }
    let metrics = QueueMetrics::default();
    metrics.register(registry);
    fleet.measure(&metrics);
    Ok(fleet)
}

fn read_private_key(file: &Path) -> Result<SigningKey> {
    SigningKey::from_pem(&read(file)?).with_context(|| format!("error reading private key file {}", file.display()))
}

/// The content of a file, if there are certificates in it (`readCA`).
fn read_ca(file: &Path) -> Result<Vec<u8>> {
    let pem = read(file)?;
    check_certificates(&pem)?;
    Ok(pem)
}

fn read(file: &Path) -> Result<Vec<u8>> {
    std::fs::read(file).with_context(|| format!("open {}", file.display()))
}

/// A client whose user agent is the program, its version and `name`.
fn client(cluster: &Cluster, name: &str) -> Result<kube::Client> {
    let program = concat!("controller-manager/v", env!("CARGO_PKG_VERSION"));
    client::new(cluster.config.clone(), &format!("{program}/{name}"))
}

/// The identity of this candidate: the host name with a random suffix.
fn identity() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_else(|_| "localhost".to_owned());
    format!("{}_{:032x}", host.trim(), fastrand::u128(..))
}
