//! Directories of pods: made, filled, filled anew, removed.
//!
//! ```text
//! root/pods/<uid>/volumes/kubernetes.io~projected/<volume>/...
//! ```
//!
//! Follows `SetUpAt` and `TearDownAt` of the plugins in kubernetes v1.37.1 `pkg/volume/`. As there, what fails before
//! anything is written leaves no trace, and what fails later leaves no volume.
//!
//! An `emptyDir` gets its mode and its group when its directory is made, and never again: what is in it is the pod's. Upstream
//! has a file that says that a volume is ready; here a directory that is there counts as ready, also if the node was killed just
//! before it was opened to others. Neither medium nor size limit of it mean anything.

use super::Kind;
use super::VolumeError;
use super::atomic_writer::{AtomicWriter, Payload};
use super::ownership::{self, Owners};
use super::sources::Sources;
use crate::clock::Clock;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Pod, Volume};
use kube::ResourceExt;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::task::TaskTracker;
use tracing::warn;

/// Only the node's own user and group may look for pods.
const POD_DIRECTORY_MODE: u32 = 0o750;
const PLUGIN_DIRECTORY_MODE: u32 = 0o755;
/// Whoever a container runs as is to find its volumes open.
const VOLUME_MODE: u32 = 0o777;

/// Keeps the volumes of pods below a directory.
#[derive(Clone)]
pub struct Mounter {
    root: PathBuf,
    sources: Sources,
    clock: Arc<dyn Clock>,
    /// What is being written or removed.
    writes: TaskTracker,
}

impl Mounter {
    /// A keeper of volumes below `root`, which need not exist, filled from `sources`.
    pub fn new(root: impl Into<PathBuf>, sources: Sources, clock: Arc<dyn Clock>) -> Self {
        Mounter { root: root.into(), sources, clock, writes: TaskTracker::new() }
    }

    /// Makes a volume of `pod`, or brings it up to date. Returns whether anything changed.
    ///
    /// # Errors
    /// If its content cannot be had; then it stays as it was. Or if it cannot be written; then it is removed.
    pub async fn set_up(&self, pod: &Pod, volume: &Volume) -> Result<bool, VolumeError> {
        let kind = Kind::of(volume)?;
        let Some(plugin) = kind.directory() else { return Ok(false) };
        let owners = Owners::of(pod);
        let payload = self.sources.collect(pod, kind, owners).await?;
        let volumes = self.pod_directory(&pod.uid().unwrap_or_default()).join("volumes");
        let (directory, now) = (volumes.join(plugin).join(&volume.name), self.clock.now());
        let write = {
            let directory = directory.clone();
            move || {
                let made = make_directories(&volumes, &directory)?;
                fill(&directory, made, payload, owners, now)
            }
        };
        let written = self.in_background(&directory, write).await;
        if written.is_err() && !matches!(kind, Kind::EmptyDir) {
            if let Err(error) = remove(&directory) {
                warn!(%error, "error tearing down volume");
            }
            if matches!(kind, Kind::Projected(_)) {
                self.sources.tokens.delete_bound_to(&pod.uid().unwrap_or_default());
            }
        }
        written
    }

    /// Like [`tear_down`](Self::tear_down), in the background.
    pub(crate) async fn tear_down_in_background(&self, pod_uid: &str) -> Result<(), VolumeError> {
        let (mounter, uid) = (self.clone(), pod_uid.to_owned());
        self.in_background(&self.pod_directory(pod_uid), move || mounter.tear_down(&uid)).await
    }

    /// Waits for what is being written or removed, even if nobody waits for that any more.
    pub(crate) async fn finished(&self) {
        self.writes.close();
        self.writes.wait().await;
    }

    /// Does something to `path` that takes its time.
    async fn in_background<T: Send + 'static>(
        &self,
        path: &Path,
        work: impl FnOnce() -> Result<T, VolumeError> + Send + 'static,
    ) -> Result<T, VolumeError> {
        let stopped = |error| VolumeError::Directory { path: path.to_owned(), source: io::Error::other(error) };
        self.writes.spawn_blocking(work).await.map_err(stopped)?
    }

    /// Removes all that the pod of that uid had, and forgets its tokens.
    ///
    /// # Errors
    /// If the operating system refuses.
    pub fn tear_down(&self, pod_uid: &str) -> Result<(), VolumeError> {
        self.sources.tokens.delete_bound_to(pod_uid);
        remove(&self.pod_directory(pod_uid))
    }

    /// The uids of the pods that have directories.
    ///
    /// # Errors
    /// If the operating system refuses.
    pub fn pods_on_disk(&self) -> Result<Vec<String>, VolumeError> {
        let pods = self.root.join("pods");
        let failed = |source| VolumeError::Directory { path: pods.clone(), source };
        let entries = match fs::read_dir(&pods) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed)?,
        };
        let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        names.collect::<io::Result<_>>().map_err(failed)
    }

    /// Where everything of the pod of that uid is.
    pub fn pod_directory(&self, uid: &str) -> PathBuf {
        self.root.join("pods").join(uid)
    }
}

/// Fills a volume that has content of its own. Of another, only the directory is the node's; what is in it is the
/// pod's.
fn fill(
    directory: &Path,
    made: bool,
    payload: Option<Payload>,
    owners: Owners,
    now: Timestamp,
) -> Result<bool, VolumeError> {
    let give = |read_only| ownership::give_to_group(directory, owners.fs_group, read_only);
    match payload {
        Some(payload) => Ok(AtomicWriter::new(directory)?.write(&payload, now, || give(true))?),
        None if made => {
            give(false).map_err(|source| VolumeError::Directory { path: directory.to_owned(), source })?;
            Ok(true)
        }
        None => Ok(false),
    }
}

/// Returns whether the volume's directory was not there before.
fn make_directories(volumes: &Path, directory: &Path) -> Result<bool, VolumeError> {
    if directory.is_dir() {
        return Ok(false);
    }
    let make = |path: &Path, mode| {
        let made = DirBuilder::new().recursive(true).mode(mode).create(path);
        made.map_err(|source| VolumeError::Directory { path: path.to_owned(), source })
    };
    make(volumes, POD_DIRECTORY_MODE)?;
    make(directory, PLUGIN_DIRECTORY_MODE)?;
    let opened = fs::set_permissions(directory, Permissions::from_mode(VOLUME_MODE));
    opened.map_err(|source| VolumeError::Directory { path: directory.to_owned(), source })?;
    Ok(true)
}

fn remove(directory: &Path) -> Result<(), VolumeError> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(VolumeError::Directory { path: directory.to_owned(), source: error })
        }
        _ => Ok(()),
    }
}
