//! The record of requests that tests read.

use super::kept::Kept;
use super::record::RequestRecord;
use super::watches::{OpenWatch, Watched, Watches};
use crate::recorder::Recorder;
use control::recording::What;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// The memory for the requests that are kept, in bytes.
const KEPT_BYTES: usize = 256 * 1024 * 1024;

/// The record of requests. Keeping it is off by default.
pub struct RequestLog {
    kept: Option<Mutex<Kept>>,
    count: watch::Sender<usize>,
    unanswered: watch::Sender<usize>,
    watches: Arc<Watches>,
    recorder: Recorder,
}

impl RequestLog {
    pub(crate) fn new(keep: bool, recorder: Recorder) -> Self {
        let kept = keep.then(|| Kept::new(KEPT_BYTES).into());
        let (count, unanswered) = (watch::Sender::new(0), watch::Sender::new(0));
        RequestLog { kept, count, unanswered, watches: Arc::default(), recorder }
    }

    /// Whether requests are kept.
    pub(crate) fn is_on(&self) -> bool {
        self.kept.is_some()
    }

    /// Where requests are recorded as they come.
    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Notes that a request has come.
    pub(crate) fn comes(&self) {
        if self.is_on() {
            self.unanswered.send_modify(|number| *number = number.saturating_add(1));
        }
    }

    /// Notes that a request is answered and kept, or is given up.
    pub(crate) fn goes(&self) {
        if self.is_on() {
            self.unanswered.send_modify(|number| *number = number.saturating_sub(1));
        }
    }

    /// Completes when all requests that have come are answered and kept, or after that time.
    pub(crate) async fn answered(&self, limit: Duration) {
        let mut unanswered = self.unanswered.subscribe();
        // Afterwards some are still unanswered.
        let _ = timeout(limit, unanswered.wait_for(|number| *number == 0)).await;
    }

    /// Adds a request, and the watch that it has begun.
    pub(crate) fn add(&self, record: RequestRecord, watched: Option<&Arc<Watched>>) {
        if let Some(kept) = &self.kept {
            let record = Arc::new(record);
            let mut kept = kept.lock().expect("no holder of this lock can panic");
            let (count, bytes) = kept.push(record.clone());
            let cursor = count as u64;
            if self.recorder.is_on() {
                let record = record.clone();
                // Within the lock, so that the lines are in the order of the cursors.
                self.recorder.note_large(bytes, move || What::Request(Box::new(record.request(cursor))));
            }
            if let Some(watched) = watched {
                watched.recorded(cursor, record);
            }
            self.count.send_replace(count);
        }
    }

    /// A watch that begins, and ends at the latest when that token is cancelled; `None` if nothing is kept.
    pub(crate) fn watch(&self, end: &CancellationToken) -> Option<OpenWatch> {
        self.is_on().then(|| self.watches.begin(end, &self.recorder))
    }

    /// The watches that are open and recorded, the oldest first.
    pub(crate) fn watches(&self) -> Vec<Arc<Watched>> {
        self.watches.all()
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
