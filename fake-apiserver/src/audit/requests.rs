//! The record of requests that tests read.

use super::kept::Kept;
use super::record::RequestRecord;
use std::fmt;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;

/// The memory for the requests that are kept, in bytes.
const KEPT_BYTES: usize = 256 * 1024 * 1024;

/// The record of requests. Keeping it is off by default.
pub struct RequestLog {
    kept: Option<Mutex<Kept>>,
    count: watch::Sender<usize>,
}

impl RequestLog {
    pub(crate) fn new(keep: bool) -> Self {
        RequestLog { kept: keep.then(|| Kept::new(KEPT_BYTES).into()), count: watch::Sender::new(0) }
    }

    /// Whether requests are kept.
    pub(crate) fn is_on(&self) -> bool {
        self.kept.is_some()
    }

    pub(crate) fn add(&self, record: RequestRecord) {
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

    /// The requests behind that number of them, oldest first, each with its number from 1 on, and the number of all so far.
    pub(crate) fn since(&self, cursor: usize) -> (usize, Vec<(usize, Arc<RequestRecord>)>) {
        let kept = self.kept.as_ref();
        kept.map(|kept| kept.lock().expect("no holder of this lock can panic").since(cursor)).unwrap_or_default()
    }

    /// The number of requests so far, dropped ones included, to wait for more.
    pub fn count(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }
}

impl fmt::Debug for RequestLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestLog").field("count", &*self.count.borrow()).finish_non_exhaustive()
    }
}
