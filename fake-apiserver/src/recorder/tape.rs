//! The queue of a recording, and the hands that put lines into it.

use super::followed::Followed;
use super::pace::{Pace, Stamp};
use crate::discovery::Catalogs;
use crate::store::Store;
use control::recording::What;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use tokio::sync::{mpsc, oneshot};

/// The most lines that wait to be written.
pub(super) const MOST_LINES: usize = 16_384;
/// The most bytes of requests that wait to be written.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// The maker of what a line says.
type Making = Box<dyn FnOnce() -> What + Send>;

/// Something that waits to be written.
pub(super) enum Waiting {
    /// A line.
    Line { stamp: Stamp, bytes: usize, making: Making },
    /// A cluster beside the first one has begun with what another one had; its changes are to be followed.
    Begun(Box<Beginning>),
    /// Nothing more comes, and who says so waits for the end.
    Close(oneshot::Sender<()>),
}

/// The beginning of a cluster.
pub(super) struct Beginning {
    pub(super) stamp: Stamp,
    /// The cluster that it begins from, if that is not the first one.
    pub(super) from: Option<Arc<str>>,
    pub(super) follow: Follow,
}

/// A cluster to follow.
pub(super) struct Follow {
    pub(super) followed: Followed,
    /// Ends when the cluster does.
    pub(super) alive: Weak<Hand>,
}

/// The queue of a recording.
pub(super) struct Tape {
    pub(super) queue: mpsc::Sender<Waiting>,
    pub(super) room: Arc<Room>,
    pub(super) pace: Arc<Pace>,
}

/// The room in the queue, as both its ends know it.
#[derive(Default)]
pub(super) struct Room {
    /// The bytes of the requests that wait.
    pub(super) bytes: AtomicUsize,
    /// The lines that found no room, and of which the file does not tell yet.
    pub(super) missed: AtomicU64,
}

/// The hand that puts lines about a cluster into a recording, if there is one.
#[derive(Clone, Default)]
pub(crate) struct Recorder(Option<Arc<Hand>>);

pub(super) struct Hand {
    tape: Arc<Tape>,
    store: Store,
    /// The name of the cluster, if it is not the first one.
    cluster: Option<Arc<str>>,
}

impl Recorder {
    pub(super) fn new(tape: Arc<Tape>, store: Store) -> Recorder {
        Recorder(Some(Arc::new(Hand { tape, store, cluster: None })))
    }

    /// The hand for another cluster, which begins now with what this one had, and whose objects are recorded as well. A seed has no name: it
    /// serves nobody, and what begins from it begins from its cluster.
    pub(crate) fn of_cluster(&self, name: &str, store: &Store, catalogs: &Arc<Catalogs>) -> Recorder {
        let Some(parent) = &self.0 else { return Recorder(None) };
        let (tape, from) = (parent.tape.clone(), parent.cluster.clone());
        if name.is_empty() {
            return Recorder(Some(Arc::new(Hand { tape, store: store.clone(), cluster: from })));
        }
        let cluster = Some(Arc::<str>::from(name));
        let hand = Arc::new(Hand { tape, store: store.clone(), cluster: cluster.clone() });
        let (followed, base) = Followed::of(store, catalogs.clone(), cluster.clone());
        let follow = Follow { followed, alive: Arc::downgrade(&hand) };
        let beginning = Beginning { stamp: hand.tape.pace.stamp(base.revision, cluster), from, follow };
        if hand.tape.queue.try_send(Waiting::Begun(Box::new(beginning))).is_err() {
            hand.tape.room.missed.fetch_add(1, Ordering::Relaxed);
        }
        Recorder(Some(hand))
    }

    /// Whether anything is recorded.
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Puts a line into the recording.
    pub(crate) fn note(&self, what: impl FnOnce() -> What + Send + 'static) {
        self.note_large(0, what);
    }

    /// Puts a line into the recording that keeps so many bytes in memory until it is written.
    pub(crate) fn note_large(&self, bytes: usize, what: impl FnOnce() -> What + Send + 'static) {
        let Some(hand) = &self.0 else { return };
        let tape = &hand.tape;
        let waiting = tape.room.bytes.fetch_add(bytes, Ordering::Relaxed);
        let stamp = tape.pace.stamp(hand.store.revision(), hand.cluster.clone());
        let line = Waiting::Line { stamp, bytes, making: Box::new(what) };
        if waiting > MOST_BYTES || tape.queue.try_send(line).is_err() {
            tape.room.bytes.fetch_sub(bytes, Ordering::Relaxed);
            tape.room.missed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The time since the recording began, in microseconds; 0 without one.
    pub(crate) fn at(&self) -> u64 {
        self.0.as_ref().map_or(0, |hand| hand.tape.pace.at())
    }

    /// Waits until all is written that was put into the recording, and ends it.
    pub(crate) async fn close(&self) {
        let Some(hand) = &self.0 else { return };
        let (done, ended) = oneshot::channel();
        if hand.tape.queue.send(Waiting::Close(done)).await.is_ok() {
            // An error means that the thread has ended.
            ended.await.ok();
        }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Recorder").field(&self.is_on()).finish()
    }
}
