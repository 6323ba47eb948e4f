//! The tasks of `conformance real …`: building the real control plane, and running one by hand.

use super::plan::Options;
use super::{build, detached, failures};
use anyhow::Result;
use clap::Subcommand;
use std::path::{Path, PathBuf};

/// The tasks about the real control plane.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Builds etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kubectl into the cache (needs Go; takes minutes)
    Build {
        /// Also build those that are in the cache already
        #[arg(long)]
        force: bool,
        /// Only programs whose label, such as v1.37.1/etcd, contains one of these
        programs: Vec<String>,
    },
    /// Starts a control plane that stays until `down`
    Up {
        /// The directory
        #[command(flatten)]
        place: Place,
        /// Allow everything to every user, as the fake does by default, instead of RBAC
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
    /// Records the answers of real API servers that fail (fixtures/failures.jsonl): etcd stands still, the server stops (takes a minute)
    Failures,
    /// Stops the control plane; its logs stay
    Down {
        /// The directory
        #[command(flatten)]
        place: Place,
    },
}

/// The folder of a detached control plane.
#[derive(Debug, clap::Args)]
pub struct Place {
    /// Folder for state, logs and kubeconfig; `control-plane` in the target folder by default
    #[arg(long, value_name = "PATH")]
    folder: Option<PathBuf>,
}

/// Runs the task. `root` is the workspace's folder, `target` that of build results.
///
/// # Errors
/// If the task fails; see [`Task`].
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
        Task::Failures => {
            let into = root.join("fixtures/failures.jsonl");
            failures::record(&into).await?;
            println!("recorded {}", into.display());
            Ok(())
        }
        Task::Down { place } => {
            let folder = folder(place);
            let was_up = detached::down(&folder).await?;
            println!("{} {}", if was_up { "ended what was up in" } else { "nothing was up in" }, folder.display());
            Ok(())
        }
    }
}
