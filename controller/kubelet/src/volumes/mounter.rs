//! The directories of pods on disk: their volumes are made, written and removed.
//!
//! ```text
//! root/pods/<uid>/volumes/kubernetes.io~projected/<volume>/...
//! ```
//!
//! Follows `SetUpAt` and `TearDownAt` of the plugins in kubernetes v1.37.1 `pkg/volume/`.
//!
//! An `emptyDir` gets its mode and its group only when its directory is made, as its content is the pod's. Upstream
//! marks a ready volume with a file; here an existing directory counts as ready, even if the node was killed
//! before it set the mode.
//!
//! GAP: kubelet-volumes: the medium and the size limit of an `emptyDir`

use super::VolumeError;
use super::atomic_writer::AtomicWriter;
use super::dir::{Dir, is_segment};
use super::ownership::{self, Owners};
use super::payload::Payload;
use crate::clock::Clock;
use jiff::Timestamp;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::task::TaskTracker;
use tracing::warn;

/// The directory of all pods, in the root.
const PODS: &str = "pods";
/// The mode of pods' directories: open to the node's own user and group only.
const POD_DIRECTORY_MODE: u32 = 0o750;
const PLUGIN_DIRECTORY_MODE: u32 = 0o755;
/// The mode of volumes: open to every user that a container may run as.
const VOLUME_MODE: u32 = 0o777;

/// The place of a volume below the root; each of its names is one segment of a path.
#[derive(Debug, Clone)]
pub struct Place {
    pod_uid: String,
    plugin: &'static str,
    volume: String,
}

impl Place {
    /// The place of that volume of the pod with that uid, in the directory of its plugin.
    ///
    /// # Errors
    /// If the uid or the name is not one segment of a path.
    pub fn new(pod_uid: &str, plugin: &'static str, volume: &str) -> Result<Self, VolumeError> {
        for (what, name) in [("the uid of a pod", pod_uid), ("the name of a volume", volume)] {
            if !is_segment(name) {
                return Err(VolumeError::NoSegment(what, name.to_owned()));
            }
        }
        Ok(Place { pod_uid: pod_uid.to_owned(), plugin, volume: volume.to_owned() })
    }
}

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

    /// Writes a volume. Returns whether anything changed.
    ///
    /// # Errors
    /// If the operating system refuses; then a volume with a payload is removed.
    pub async fn write(&self, place: Place, payload: Option<Payload>, owners: Owners) -> Result<bool, VolumeError> {
        let now = self.clock.now();
        self.in_background(move |root| {
            let pods = make(&Dir::make_at(root, POD_DIRECTORY_MODE).map_err(failed(root))?, PODS, POD_DIRECTORY_MODE)?;
            let volumes = make(&make(&pods, &place.pod_uid, POD_DIRECTORY_MODE)?, "volumes", POD_DIRECTORY_MODE)?;
            let plugin = make(&volumes, place.plugin, PLUGIN_DIRECTORY_MODE)?;
            let is_ours = payload.is_some();
            let written = fill(&plugin, &place.volume, payload, owners, now);
            if written.is_err()
                && is_ours
                && let Err(error) = remove(&plugin, &place.volume)
            {
                warn!(%error, "error tearing down volume");
            }
            written
        })
        .await
    }

    /// Removes the directory of the pod with that uid. A uid that is not one segment of a path has none.
    ///
    /// # Errors
    /// If the operating system refuses.
    pub async fn remove(&self, pod_uid: &str) -> Result<(), VolumeError> {
        if !is_segment(pod_uid) {
            warn!(pod_uid, "there is no directory of that name to remove: it is not one segment of a path");
            return Ok(());
        }
        let pod_uid = pod_uid.to_owned();
        self.in_background(move |root| pods(root)?.map_or(Ok(()), |pods| remove(&pods, &pod_uid))).await
    }

    /// Waits for the writes and removals in progress, also for those whose callers were dropped.
    pub(crate) async fn finished(&self) {
        self.writes.close();
        self.writes.wait().await;
    }

    /// Does blocking work below the root.
    async fn in_background<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Path) -> Result<T, VolumeError> + Send + 'static,
    ) -> Result<T, VolumeError> {
        let root = self.root.clone();
        let stopped = |error| failed(&self.root)(io::Error::other(error));
        self.writes.spawn_blocking(move || work(&root)).await.map_err(stopped)?
    }

    /// The uids of the pods that have directories.
    ///
    /// # Errors
    /// If the operating system refuses.
    pub async fn pods_on_disk(&self) -> Result<Vec<String>, VolumeError> {
        self.in_background(|root| match pods(root)? {
            Some(pods) => pods.names().map_err(failed(pods.path())),
            None => Ok(Vec::new()),
        })
        .await
    }

    /// The directory of the pod with that uid.
    pub fn pod_directory(&self, uid: &str) -> PathBuf {
        self.root.join(PODS).join(uid)
    }
}

/// Makes a volume, and writes its payload if it has one. Otherwise only the directory is made, as the content is the pod's.
fn fill(
    plugin: &Dir,
    name: &str,
    payload: Option<Payload>,
    owners: Owners,
    now: Timestamp,
) -> Result<bool, VolumeError> {
    let path = plugin.path().join(name);
    let made = plugin.make(name, PLUGIN_DIRECTORY_MODE).map_err(failed(&path))?;
    let volume = plugin.open(name).map_err(failed(&path))?;
    if made {
        volume.set_mode(VOLUME_MODE).map_err(failed(&path))?;
    }
    let give = |volume: &Dir, read_only| ownership::give_to_group(volume, owners.fs_group, read_only);
    match payload {
        Some(payload) => Ok(AtomicWriter::of(volume).write_with(&payload, now, |volume| give(volume, true))?),
        None if made => give(&volume, false).map(|()| true).map_err(failed(&path)),
        None => Ok(false),
    }
}

/// The directory of all pods, if there is one.
fn pods(root: &Path) -> Result<Option<Dir>, VolumeError> {
    match Dir::at(root).and_then(|root| root.open(PODS)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some).map_err(failed(&root.join(PODS))),
    }
}

fn make(within: &Dir, name: &str, mode: u32) -> Result<Dir, VolumeError> {
    within.make_and_open(name, mode).map_err(failed(&within.path().join(name)))
}

fn remove(within: &Dir, name: &str) -> Result<(), VolumeError> {
    within.remove(name).map_err(failed(&within.path().join(name)))
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> VolumeError {
    move |source| VolumeError::Directory { path: path.to_owned(), source }
}
