//! `conformance real …`: building the real control plane, and running one by hand.

use super::plan::Options;
use super::{build, detached};
use anyhow::Result;
use clap::Subcommand;
use std::path::{Path, PathBuf};

/// The tasks about the real control plane.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Builds etcd, kube-apiserver, kube-controller-manager and kubectl into the cache (needs Go, and minutes)
    Build {
        /// Also those that were built already
        #[arg(long)]
        force: bool,
        /// Only programs whose label, such as v1.37.1/etcd, contains one of these
        programs: Vec<String>,
    },
    /// Starts a control plane that stays until `down`
    Up {
        /// Where
        #[command(flatten)]
        place: Place,
        /// Everybody may do everything, as on the fake; RBAC decides otherwise
        #[arg(long)]
        plain: bool,
        /// Let the API server answer from etcd instead of its watch cache
        #[arg(long)]
        uncached: bool,
        /// HTTPS port; any free one by default
        #[arg(long, value_name = "PORT")]
        secure_port: Option<u16>,
        /// More flags for kube-apiserver, behind `--`: --name=value
        #[arg(last = true, value_name = "FLAG")]
        flags: Vec<String>,
    },
    /// Ends it; its logs stay
    Down {
        /// Where
        #[command(flatten)]
        place: Place,
    },
}

/// Where a control plane that stands keeps its files.
#[derive(Debug, clap::Args)]
pub struct Place {
    /// Its state, logs and kubeconfig; `control-plane` in the target folder by default
    #[arg(long, value_name = "PATH")]
    folder: Option<PathBuf>,
}

/// Does it. `root` is the workspace's folder, `target` that of build results.
///
/// # Errors
/// If it cannot be done; see [`Task`].
pub async fn run(task: &Task, root: &Path, target: &Path) -> Result<()> {
    let folder = |place: &Place| place.folder.clone().unwrap_or_else(|| target.join("control-plane"));
    match task {
        Task::Build { force, programs } => build::build(root, programs, *force),
        Task::Up { place, plain, uncached, secure_port, flags } => {
            let secure_port = *secure_port;
            let options = Options {
                watch_cache: !uncached,
                rbac: !plain,
                secure_port,
                flags: flags.clone(),
                ..Options::default()
            };
            detached::up(&folder(place), options).await
        }
        Task::Down { place } => {
            let folder = folder(place);
            let was_up = detached::down(&folder).await?;
            println!("{} {}", if was_up { "ended what was up in" } else { "nothing was up in" }, folder.display());
            Ok(())
        }
    }
}
