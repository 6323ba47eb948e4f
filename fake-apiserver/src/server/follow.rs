//! Files that are read again when they have changed.
//!
//! Follows `checkFile` of `pkg/kubeapiserver/authorizer/reload.go` (v1.37.1). Upstream is told of changes by the system and looks once a
//! minute, too; this server looks at short intervals, which is the same everywhere.

use std::fs::Metadata;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// The interval at which a file is looked at.
const INTERVAL: Duration = Duration::from_millis(200);

/// A file that is followed, and what is done with its content when that has changed.
pub(crate) struct Followed {
    /// Its name in messages.
    what: &'static str,
    path: PathBuf,
    content: Vec<u8>,
    apply: Apply,
    seen: Option<Seen>,
}

/// The use of a new content.
type Apply = Box<dyn FnMut(&[u8]) -> Result<(), String> + Send>;

/// The signs by which a change is noticed.
type Seen = (Option<SystemTime>, u64, u64);

impl Followed {
    /// A file that had that content when the server read it.
    pub(crate) fn new(
        what: &'static str,
        path: PathBuf,
        content: Vec<u8>,
        apply: impl FnMut(&[u8]) -> Result<(), String> + Send + 'static,
    ) -> Followed {
        Followed { what, path, content, apply: Box::new(apply), seen: None }
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
        let seen = std::fs::metadata(&self.path).ok().map(|metadata| signs(&metadata));
        if self.seen.is_some() && seen == self.seen {
            return;
        }
        self.seen = seen;
        match std::fs::read(&self.path) {
            Err(error) => tracing::error!("reloading {}: {}: {error}", self.what, self.path.display()),
            Ok(content) if content == self.content => {}
            Ok(content) => {
                tracing::info!("found new {} data", self.what);
                match (self.apply)(&content) {
                    Ok(()) => tracing::info!("reloaded {}", self.what),
                    Err(why) => tracing::error!("reloading {}: {why}", self.what),
                }
                self.content = content;
            }
        }
    }
}

#[cfg(unix)]
fn signs(metadata: &Metadata) -> Seen {
    (metadata.modified().ok(), metadata.len(), std::os::unix::fs::MetadataExt::ino(metadata))
}

#[cfg(not(unix))]
fn signs(metadata: &Metadata) -> Seen {
    (metadata.modified().ok(), metadata.len(), 0)
}
