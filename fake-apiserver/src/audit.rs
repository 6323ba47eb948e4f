//! The record of requests, in order: kept for tests, and written to a file for programs in other languages.
//!
//! The file has the real server's form, one `audit.k8s.io/v1` Event a line at stage ResponseComplete.

mod kept;
mod record;

pub use record::RequestRecord;

use kept::Kept;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;

/// The memory for the requests that are kept, in bytes.
const KEPT_BYTES: usize = 256 * 1024 * 1024;

/// The record of requests. Keeping and writing it are off by default.
pub struct RequestLog {
    kept: Option<Mutex<Kept>>,
    file: Option<Mutex<File>>,
    count: watch::Sender<usize>,
}

impl RequestLog {
    pub(crate) fn new(keep: bool, file: Option<&Path>) -> io::Result<Self> {
        let file = file.map(open).transpose()?;
        let kept = keep.then(|| Kept::new(KEPT_BYTES).into());
        Ok(RequestLog { kept, file: file.map(Mutex::new), count: watch::Sender::new(0) })
    }

    /// Whether requests are kept or written.
    pub(crate) fn is_on(&self) -> bool {
        self.kept.is_some() || self.file.is_some()
    }

    pub(crate) fn add(&self, record: RequestRecord) {
        if let Some(file) = &self.file {
            let line = format!("{}\n", record.event());
            let mut file = file.lock().expect("no holder of this lock can panic");
            if let Err(error) = file.write_all(line.as_bytes()) {
                tracing::error!(%error, "unable to write the audit log");
            }
        }
        if let Some(kept) = &self.kept {
            let mut kept = kept.lock().expect("no holder of this lock can panic");
            let count = kept.push(record);
            self.count.send_replace(count);
        }
    }

    /// The requests so far that fit into 256 MiB of memory, oldest first. Empty unless recording is on.
    pub fn all(&self) -> Vec<Arc<RequestRecord>> {
        let kept = self.kept.as_ref();
        kept.map(|kept| kept.lock().expect("no holder of this lock can panic").all()).unwrap_or_default()
    }

    /// The number of requests so far, dropped ones included, to wait for more.
    pub fn count(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }
}

/// Opens a file for appending; a new one is only for its owner, as it has the bodies of requests.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

impl fmt::Debug for RequestLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestLog").field("count", &*self.count.borrow()).finish_non_exhaustive()
    }
}
