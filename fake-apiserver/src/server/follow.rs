//! Files and folders that are read again when they have changed.
//!
//! Follows `checkFile` of `pkg/kubeapiserver/authorizer/reload.go` (v1.37.1). Upstream is told of changes by the system and looks once a
//! minute, too; this server looks at short intervals, which is the same everywhere.

use crate::admission::manifests::Reloaded;
use crate::reloads::{Reloads, hash_of};
use std::ffi::OsString;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// The interval at which one is looked at.
const INTERVAL: Duration = Duration::from_millis(200);

/// A file or a folder that is followed, and what is done when it has changed.
pub(crate) struct Followed {
    path: PathBuf,
    changed: Box<dyn FnMut() + Send>,
    reloads: Arc<Reloads>,
    seen: Option<Vec<Seen>>,
}

/// The signs by which a change of a file is noticed: its name in a folder, and what the system says of it.
type Seen = (OsString, (Option<SystemTime>, u64, u64));

impl Followed {
    /// A file that had that content when the server read it, and the use of a new one; `what` is its name in messages.
    pub(crate) fn file(
        what: &'static str,
        path: PathBuf,
        content: Vec<u8>,
        reloads: Reloads,
        mut apply: impl FnMut(&[u8]) -> Result<(), String> + Send + 'static,
    ) -> Followed {
        reloads.began(&hash_of(&content));
        let reloads = Arc::new(reloads);
        let (file, counted, mut known) = (path.clone(), reloads.clone(), content);
        let changed = move || match std::fs::read(&file) {
            Err(error) => {
                tracing::error!("reloading {what}: {}: {error}", file.display());
                counted.failed();
            }
            Ok(content) if content == known => {}
            Ok(content) => {
                tracing::info!("found new {what} data");
                match apply(&content) {
                    Ok(()) => {
                        tracing::info!("reloaded {what}");
                        counted.succeeded(&hash_of(&content));
                    }
                    Err(why) => {
                        tracing::error!("reloading {what}: {why}");
                        counted.failed();
                    }
                }
                known = content;
            }
        };
        Followed { path, changed: Box::new(changed), reloads, seen: None }
    }

    /// A folder.
    pub(crate) fn folder(folder: Arc<dyn Reloaded>) -> Followed {
        let (path, reloads) = (folder.path().to_owned(), folder.reloads().clone());
        Followed { path, changed: Box::new(move || folder.reload()), reloads, seen: None }
    }

    /// The count of its reloads.
    pub(crate) fn reloads(&self) -> &Arc<Reloads> {
        &self.reloads
    }

    /// Follows it until the server stops. What is compiled for a new content is on threads that serve nobody.
    pub(crate) fn run(self, stop: CancellationToken, runtime: &Handle) {
        runtime.spawn(async move {
            let mut followed = self;
            let mut interval = interval(INTERVAL);
            interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
            while stop.run_until_cancelled(interval.tick()).await.is_some() {
                let looked = spawn_blocking(move || {
                    followed.look();
                    followed
                });
                match looked.await {
                    Ok(same) => followed = same,
                    Err(failed) => std::panic::resume_unwind(failed.into_panic()),
                }
            }
        });
    }

    fn look(&mut self) {
        let seen = Some(signs(&self.path));
        if seen != self.seen {
            self.seen = seen;
            (self.changed)();
        }
    }
}

/// The signs of a file, or of a folder and the files in it; none, if it is not there.
fn signs(path: &Path) -> Vec<Seen> {
    let Ok(metadata) = std::fs::metadata(path) else { return Vec::new() };
    let own = (OsString::new(), sign(&metadata));
    let entries = metadata.is_dir().then(|| std::fs::read_dir(path).ok()).flatten().into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| Some((entry.file_name(), sign(&std::fs::metadata(entry.path()).ok()?))));
    let mut all: Vec<Seen> = std::iter::once(own).chain(files).collect();
    all.sort();
    all
}

#[cfg(unix)]
fn sign(metadata: &Metadata) -> (Option<SystemTime>, u64, u64) {
    (metadata.modified().ok(), metadata.len(), std::os::unix::fs::MetadataExt::ino(metadata))
}

#[cfg(not(unix))]
fn sign(metadata: &Metadata) -> (Option<SystemTime>, u64, u64) {
    (metadata.modified().ok(), metadata.len(), 0)
}
