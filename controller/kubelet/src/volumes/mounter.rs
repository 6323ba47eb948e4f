//! Directories of pods: made, filled, filled again, removed.
//!
//! ```text
//! root/pods/<uid>/volumes/kubernetes.io~projected/<volume>/...
//! ```
//!
//! Follows `SetUpAt` and `TearDownAt` of the plugins in kubernetes v1.37.1 `pkg/volume/`.
//!
//! An `emptyDir` gets its mode and its group when its directory is made, and never again: its content is the pod's. Upstream
//! marks a volume that is ready with a file; here a directory that exists counts as ready, also if the node was killed just
//! before it set the mode. Its medium and its size limit are ignored.

use super::VolumeError;
use super::atomic_writer::AtomicWriter;
use super::ownership::{self, Owners};
use super::payload::Payload;
use crate::clock::Clock;
use jiff::Timestamp;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::task::TaskTracker;
use tracing::warn;

/// The mode of pods' directories: open to the node's own user and group only.
const POD_DIRECTORY_MODE: u32 = 0o750;
const PLUGIN_DIRECTORY_MODE: u32 = 0o755;
/// The mode of volumes: open to every user that a container may run as.
const VOLUME_MODE: u32 = 0o777;

/// The directories of pods below a root. All work on them is done on the blocking threads of the runtime.
#[derive(Clone)]
pub struct Mounter {
    root: PathBuf,
    clock: Arc<dyn Clock>,
    /// The writes and removals in progress.
    writes: TaskTracker,
}

impl Mounter {
    /// A mounter below `root`, which need not exist.
    pub fn new(root: impl Into<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        Mounter { root: root.into(), clock, writes: TaskTracker::new() }
    }

    /// Writes a volume of the pod with that uid, below the directory of its plugin. Returns whether anything changed.
    ///
    /// # Errors
    /// If the operating system refuses; then a volume with a payload is removed.
    pub async fn write(
        &self,
        pod_uid: &str,
        plugin: &str,
        volume: &str,
        payload: Option<Payload>,
        owners: Owners,
    ) -> Result<bool, VolumeError> {
        let volumes = self.pod_directory(pod_uid).join("volumes");
        let (directory, now) = (volumes.join(plugin).join(volume), self.clock.now());
        self.in_background(directory.clone(), move || {
            let is_ours = payload.is_some();
            let made = make_directories(&volumes, &directory);
            let written = made.and_then(|made| fill(&directory, made, payload, owners, now));
            if written.is_err()
                && is_ours
                && let Err(error) = remove(&directory)
            {
                warn!(%error, "error tearing down volume");
            }
            written
        })
        .await
    }

    /// Removes the directory of the pod with that uid.
    ///
    /// # Errors
    /// If the operating system refuses.
    pub async fn remove(&self, pod_uid: &str) -> Result<(), VolumeError> {
        let directory = self.pod_directory(pod_uid);
        self.in_background(directory.clone(), move || remove(&directory)).await
    }

    /// Waits for the writes and removals in progress, also for those whose callers have gone.
    pub(crate) async fn finished(&self) {
        self.writes.close();
        self.writes.wait().await;
    }

    /// Does blocking work on `path`.
    async fn in_background<T: Send + 'static>(
        &self,
        path: PathBuf,
        work: impl FnOnce() -> Result<T, VolumeError> + Send + 'static,
    ) -> Result<T, VolumeError> {
        let stopped = |error| VolumeError::Directory { path, source: io::Error::other(error) };
        self.writes.spawn_blocking(work).await.map_err(stopped)?
    }

    /// The uids of the pods that have directories.
    ///
    /// # Errors
    /// If the operating system refuses.
    pub async fn pods_on_disk(&self) -> Result<Vec<String>, VolumeError> {
        let pods = self.root.join("pods");
        self.in_background(pods.clone(), move || {
            let failed = |source| VolumeError::Directory { path: pods.clone(), source };
            let entries = match fs::read_dir(&pods) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
                entries => entries.map_err(failed)?,
            };
            let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
            names.collect::<io::Result<_>>().map_err(failed)
        })
        .await
    }

    /// The directory of the pod with that uid.
    pub fn pod_directory(&self, uid: &str) -> PathBuf {
        self.root.join("pods").join(uid)
    }
}

/// Fills a volume that has a payload. Of another, only the directory is the node's; its content is the pod's.
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
