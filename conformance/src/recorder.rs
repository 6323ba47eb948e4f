//! The recorder: writes a history while a run goes on, from any task.

use conformance_judge::history::{Entry, Event, History};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

/// A history that is being written.
#[derive(Debug)]
pub struct Recorder {
    begun: Instant,
    entries: Mutex<Vec<Entry>>,
}

impl Recorder {
    /// An empty history that begins now.
    pub fn begin() -> Recorder {
        Recorder { begun: Instant::now(), entries: Mutex::default() }
    }

    /// Appends an event, with the time since the start.
    pub fn record(&self, event: Event) {
        let mut entries = self.entries();
        let micros = u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        entries.push(Entry { micros, event });
    }

    /// The history so far.
    pub fn history(&self) -> History {
        History { entries: self.entries().clone() }
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().expect("no holder of this lock can panic")
    }
}
