//! The thread that writes a recording.

use super::followed::Followed;
use super::lines::Lines;
use super::pace::Pace;
use super::tape::{Beginning, Follow, MOST_LINES, Recorder, Room, Tape, Waiting};
use crate::clock::Clock;
use crate::discovery::Catalogs;
use crate::store::{Snapshot, Store};
use crate::version::git_version;
use control::recording::{FORMAT, Header, Missed, What};
use std::future::{pending, poll_fn};
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::thread;
use std::time::Instant;
use tokio::runtime;
use tokio::sync::futures::Notified;
use tokio::sync::{mpsc, oneshot};

/// The subject of a recording.
pub(crate) struct Subject<'t> {
    pub(crate) path: &'t Path,
    pub(crate) replicas: usize,
    pub(crate) clock: &'t Arc<dyn Clock>,
    pub(crate) store: &'t Store,
    pub(crate) catalogs: &'t Arc<Catalogs>,
}

/// Begins a recording. It ends when it is closed, or nobody has a hand in it any more.
///
/// # Errors
/// If the file cannot be made, or the system has no threads.
pub(crate) fn start(subject: &Subject<'_>) -> io::Result<Recorder> {
    let Subject { path, replicas, clock, store, catalogs } = *subject;
    let header = Header { format: FORMAT, kubernetes: git_version(), started: clock.now(), replicas };
    let lines = Lines::create(path, &header)?;
    let (queue, waiting) = mpsc::channel(MOST_LINES);
    let pace = Arc::new(Pace { begun: Instant::now(), clock: clock.clone() });
    let room = Arc::<Room>::default();
    let (followed, base) = Followed::of(store, catalogs.clone(), None);
    let writer =
        Writer { waiting, lines, followed, others: Vec::new(), pace: pace.clone(), room: room.clone(), missed: 0 };
    let runtime = runtime::Builder::new_current_thread().build()?;
    thread::Builder::new().name("recording".into()).spawn(move || runtime.block_on(writer.run(&base)))?;
    Ok(Recorder::new(Arc::new(Tape { queue, room, pace }), store.clone()))
}

struct Writer {
    waiting: mpsc::Receiver<Waiting>,
    lines: Lines,
    followed: Followed,
    /// The clusters beside the first one.
    others: Vec<Follow>,
    pace: Arc<Pace>,
    room: Arc<Room>,
    /// The number of lines that found no room so far.
    missed: u64,
}

/// Whether more comes.
enum Next {
    More,
    End(Option<oneshot::Sender<()>>),
}

impl Writer {
    /// Writes until it is told to end, or nobody is left who could.
    async fn run(mut self, base: &Snapshot) {
        let clock = self.pace.clock.manual();
        // Each is made before the one before is dealt with, so that no move between two is overlooked.
        let mut moved = clock.as_ref().map(|clock| Box::pin(clock.moved()));
        self.followed.write_base(base, &self.pace, &mut self.lines);
        self.lines.flush();
        let closing = loop {
            let next = tokio::select! {
                line = self.waiting.recv() => self.take(line),
                () = poll_fn(|context| poll_changes(&self.followed, &self.others, context)) => Next::More,
                () = wait(&mut moved) => {
                    moved = clock.as_ref().map(|clock| Box::pin(clock.moved()));
                    let frozen = clock.as_ref().is_some_and(|clock| clock.is_frozen());
                    self.lines.write(self.pace.stamp(self.followed.written(), None), What::Clock { frozen }, None);
                    Next::More
                }
            };
            match next {
                Next::End(closing) => break closing,
                Next::More => {}
            }
            if let Some(closing) = self.take_all() {
                break closing;
            }
            self.catch_up();
        };
        self.catch_up();
        self.lines.write(self.pace.stamp(self.followed.written(), None), What::Ended {}, None);
        self.lines.flush();
        if let Some(closing) = closing {
            closing.send(()).ok();
        }
    }

    /// Writes all lines that wait by now; says if that is the end.
    fn take_all(&mut self) -> Option<Option<oneshot::Sender<()>>> {
        while let Ok(line) = self.waiting.try_recv() {
            if let Next::End(closing) = self.take(Some(line)) {
                return Some(closing);
            }
        }
        None
    }

    fn take(&mut self, line: Option<Waiting>) -> Next {
        match line {
            None => Next::End(None),
            Some(Waiting::Close(closing)) => Next::End(Some(closing)),
            Some(Waiting::Begun(beginning)) => {
                let Beginning { stamp, from, follow } = *beginning;
                let from = from.map(|name| name.to_string());
                self.lines.write(stamp, What::Begun { from }, None);
                self.others.push(follow);
                Next::More
            }
            Some(Waiting::Line { stamp, bytes, making }) => {
                self.lines.write(stamp, making(), None);
                self.room.bytes.fetch_sub(bytes, Ordering::Relaxed);
                Next::More
            }
        }
    }

    /// Writes the changes so far, and what was missed, and lets the file have all of it.
    fn catch_up(&mut self) {
        self.followed.write_changes(&self.pace, &mut self.lines);
        self.others.retain_mut(|other| {
            // Looked at before the last changes are written.
            let is_there = other.alive.strong_count() > 0;
            other.followed.write_changes(&self.pace, &mut self.lines);
            is_there
        });
        let lines = self.room.missed.swap(0, Ordering::Relaxed);
        if lines > 0 {
            self.missed = self.missed.saturating_add(lines);
            tracing::warn!("{} lines are missing in the recording: the disk is slower than the requests", self.missed);
            let missed = Missed { lines, ..Missed::default() };
            self.lines.write(self.pace.stamp(self.followed.written(), None), What::Missed(missed), None);
        }
        self.lines.flush();
    }
}

/// Is ready when any of them has changes to write.
fn poll_changes(first: &Followed, others: &[Follow], context: &Context<'_>) -> Poll<()> {
    let mut all = std::iter::once(first).chain(others.iter().map(|other| &other.followed));
    // The first that has some is enough: the others are asked again.
    if all.any(|followed| followed.poll_changes(context).is_ready()) { Poll::Ready(()) } else { Poll::Pending }
}

async fn wait(moved: &mut Option<Pin<Box<Notified<'_>>>>) {
    match moved {
        Some(moved) => moved.as_mut().await,
        None => pending().await,
    }
}
