//! The threads that serve connections, shared by all servers of the process.
//!
//! ```text
//!   thread ──▶ polls a request, which computes ──┬─ checks its deadline every now and then: another thread takes its place
//!                                                └─ does not: the overseer wakes another thread for the rest
//! ```
//! They are not those of the runtime in which a server is started: a test that blocks its thread holds up no server, and no server holds up
//! a test. There are more of them than processors, so that a computation that keeps its thread to itself keeps it from nobody. But tokio's
//! threads sleep until one of them has something for another, and one that computes looks neither at sockets nor at timers; so a sleeping
//! one has to be woken.

use std::future::Future;
use std::io;
use std::num::NonZero;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::{self, Thread, available_parallelism};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::block_in_place;

/// The number of threads besides one for each processor.
const SPARE: usize = 8;
/// The limit of further threads, which computations that wait for their turn keep: more than there are requests at once.
const WAITING: usize = 2048;
/// The time for which a computation may keep what else its thread serves waiting. A build for development computes several times as long,
/// and must not take every second create for a long computation.
pub(crate) const SLICE: Duration = Duration::from_millis(if cfg!(debug_assertions) { 20 } else { 2 });
/// The time without requests after which the overseer sleeps until the next one.
const QUIET: Duration = Duration::from_secs(1);

static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);
static OVERSEER: OnceLock<Thread> = OnceLock::new();
static ASLEEP: AtomicBool = AtomicBool::new(false);

/// The runtime of these threads, which start now if they have not yet. They stay until the process ends.
///
/// # Errors
/// If the system has no more threads or descriptors.
pub(crate) fn runtime() -> io::Result<Handle> {
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(runtime) = &*runtime {
        return Ok(runtime.handle().clone());
    }
    let threads = available_parallelism().map_or(1, NonZero::get) + SPARE;
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(threads).max_blocking_threads(WAITING).thread_name("serving").enable_all();
    let built = builder.build()?;
    let (handle, overseen) = (built.handle().clone(), built.handle().clone());
    let overseer = thread::Builder::new().name("overseer".into()).spawn(move || oversee(&overseen))?;
    OVERSEER.get_or_init(|| overseer.thread().clone());
    *runtime = Some(built);
    Ok(handle)
}

/// Tells that a request is about to compute on one of the threads.
pub(crate) fn computing() {
    if ASLEEP.load(Ordering::Relaxed)
        && let Some(overseer) = OVERSEER.get()
    {
        overseer.unpark();
    }
}

/// Waits, within `block_in_place` on one of the threads, until another thread has begun to do what this one did.
pub(crate) fn replaced() {
    let (say, begun) = channel();
    // Such jobs are begun in order, and the first that `block_in_place` makes is to do what this thread did.
    Handle::current().spawn_blocking(move || say.send(()));
    // An error means that the process ends.
    begun.recv().ok();
}

/// The value of a future, for code that is not asynchronous. If it is not ready, this thread waits, and another one does what it did.
///
/// # Panics
/// If there is something to wait for, on a thread of a runtime with a single one.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let Ok(own) = Handle::try_current() else {
        // Deeply nested expressions are evaluated on threads without a runtime.
        return runtime().expect("whoever waits is served by these threads").block_on(future);
    };
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => block_in_place(|| {
            replaced();
            own.block_on(future)
        }),
    }
}

/// Wakes a thread whenever another one has computed for a slice.
fn oversee(runtime: &Handle) {
    let metrics = runtime.metrics();
    // A thread is asleep while its number is odd.
    let counts =
        || (0..metrics.num_workers()).map(|worker| metrics.worker_park_unpark_count(worker)).collect::<Vec<_>>();
    let (mut before, mut last_change) = (counts(), Instant::now());
    loop {
        thread::park_timeout(SLICE);
        let now = counts();
        let mut of_threads = now.iter().zip(&before);
        if of_threads.any(|(now, before)| now == before && now % 2 == 0) {
            runtime.spawn(async {});
        } else if now != before {
            last_change = Instant::now();
        } else if last_change.elapsed() > QUIET {
            ASLEEP.store(true, Ordering::SeqCst);
            if counts() == now {
                thread::park();
            }
            ASLEEP.store(false, Ordering::SeqCst);
            last_change = Instant::now();
        }
        before = now;
    }
}
