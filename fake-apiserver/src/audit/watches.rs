//! The watches that are open, as the record of requests knows them.
//!
//! ```text
//!   a watch begins ──▶ Watched ──▶ its request is recorded: it can be found ──▶ events, counted ──▶ it ends, and is told to the recording
//! ```

use super::record::RequestRecord;
use crate::recorder::Recorder;
use control::recording::{Sent, WatchEnded, What};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::task::{Context, Waker};
use tokio_util::sync::CancellationToken;

/// The most events of a watch whose times are kept for the recording.
const MOST_SENT: usize = 1000;

/// The watches that are open.
#[derive(Default)]
pub(super) struct Watches(Mutex<BTreeMap<u64, Arc<Watched>>>);

/// A watch that is open, or begins.
pub(crate) struct Watched {
    /// Its request and the cursor of that, once it is recorded.
    request: OnceLock<(u64, Arc<RequestRecord>)>,
    events: AtomicU64,
    sent: Mutex<Vec<Sent>>,
    end: CancellationToken,
    /// How it ends.
    how: AtomicU8,
    /// Whether it owes a bookmark before its time, and the task to wake for that.
    bookmark: Mutex<(bool, Option<Waker>)>,
    /// Thaws it, if a rule has frozen it.
    frozen: OnceLock<CancellationToken>,
    recorder: Recorder,
    all: Arc<Watches>,
}

/// How a watch ends before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Ending {
    /// As at its timeout.
    End = 0,
    /// It breaks off.
    Reset = 1,
    /// With an event that says that its history is forgotten.
    Expired = 2,
}

/// The end of a watch, when this is dropped.
pub(crate) struct OpenWatch(Arc<Watched>);

impl Watches {
    /// A watch that begins, and ends at the latest when that token is cancelled.
    pub(super) fn begin(self: &Arc<Self>, end: &CancellationToken, recorder: &Recorder) -> OpenWatch {
        OpenWatch(Arc::new(Watched {
            request: OnceLock::new(),
            events: AtomicU64::new(0),
            sent: Mutex::default(),
            end: end.child_token(),
            how: AtomicU8::new(Ending::End as u8),
            bookmark: Mutex::default(),
            frozen: OnceLock::new(),
            recorder: recorder.clone(),
            all: self.clone(),
        }))
    }

    /// The watches that are open, the oldest first.
    pub(super) fn all(&self) -> Vec<Arc<Watched>> {
        self.lock().values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Watched>>> {
        self.0.lock().expect("no holder of this lock can panic")
    }
}

impl Watched {
    /// Its request is recorded under that cursor.
    pub(super) fn recorded(self: &Arc<Self>, cursor: u64, request: Arc<RequestRecord>) {
        if self.request.set((cursor, request)).is_ok() {
            self.all.lock().insert(cursor, self.clone());
        }
    }

    /// Its request, with the cursor.
    pub(crate) fn request(&self) -> Option<&(u64, Arc<RequestRecord>)> {
        self.request.get()
    }

    /// The number of its events.
    pub(crate) fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    /// Lets it send a bookmark now.
    pub(crate) fn bookmark(&self) {
        let mut owed = self.owed_bookmark();
        owed.0 = true;
        let waker = owed.1.take();
        drop(owed);
        waker.into_iter().for_each(Waker::wake);
    }

    fn owed_bookmark(&self) -> MutexGuard<'_, (bool, Option<Waker>)> {
        self.bookmark.lock().expect("no holder of this lock can panic")
    }

    /// A rule freezes it, until that token is cancelled.
    pub(crate) fn freeze(&self, until: CancellationToken) {
        // There is one rule for a request.
        self.frozen.set(until).ok();
    }

    /// Lets it go on, if a rule has frozen it. Whether that is so.
    pub(crate) fn thaw(&self) -> bool {
        let frozen = self.frozen.get().filter(|frozen| !frozen.is_cancelled());
        frozen.inspect(|frozen| frozen.cancel()).is_some()
    }

    /// Ends it.
    pub(crate) fn end(&self, how: Ending) {
        self.how.store(how as u8, Ordering::Relaxed);
        self.end.cancel();
    }
}

impl OpenWatch {
    /// The watch.
    pub(crate) fn watched(&self) -> &Arc<Watched> {
        &self.0
    }

    /// The token that ends it.
    pub(crate) fn end(&self) -> CancellationToken {
        self.0.end.clone()
    }

    /// How it ends, if it ends before its time.
    pub(crate) fn ending(&self) -> Ending {
        match self.0.how.load(Ordering::Relaxed) {
            how if how == Ending::Reset as u8 => Ending::Reset,
            how if how == Ending::Expired as u8 => Ending::Expired,
            _ => Ending::End,
        }
    }

    /// Whether it owes a bookmark before its time; if not, the task is woken when it does.
    pub(crate) fn takes_bookmark(&self, context: &Context<'_>) -> bool {
        let mut owed = self.0.owed_bookmark();
        owed.1 = Some(context.waker().clone());
        std::mem::take(&mut owed.0)
    }

    /// Counts an event of that type.
    pub(crate) fn event(&self, kind: &str) {
        self.0.events.fetch_add(1, Ordering::Relaxed);
        if self.0.recorder.is_on() {
            let mut sent = self.0.sent.lock().expect("no holder of this lock can panic");
            if sent.len() < MOST_SENT {
                sent.push(Sent(self.0.recorder.at(), kind.to_owned()));
            }
        }
    }
}

impl Drop for OpenWatch {
    fn drop(&mut self) {
        let Some((cursor, _)) = self.0.request.get() else { return };
        self.0.all.lock().remove(cursor);
        let (watched, request) = (self.0.clone(), *cursor);
        self.0.recorder.note(move || {
            let sent = std::mem::take(&mut *watched.sent.lock().expect("no holder of this lock can panic"));
            What::WatchEnded(WatchEnded { request, events: watched.events(), sent })
        });
    }
}
