//! The threads that serve connections, shared by all servers of the process.
//!
//! They are not those of the runtime in which a server is started: a test that blocks its thread holds up no server, and no server holds up
//! a test. There are more of them than processors, so that a computation that keeps its thread to itself keeps it from nobody.

use std::io;
use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread::available_parallelism;
use tokio::runtime::{Builder, Handle, Runtime};

/// The number of threads besides one for each processor.
const SPARE: usize = 8;
/// The limit of further threads, which computations that wait for their turn keep: more than there are requests at once.
const WAITING: usize = 2048;

static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);

/// The runtime of these threads, which start now if they have not yet. They stay until the process ends.
///
/// # Errors
/// If the system has no more threads or descriptors.
pub(super) fn runtime() -> io::Result<Handle> {
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(runtime) = &*runtime {
        return Ok(runtime.handle().clone());
    }
    let threads = available_parallelism().map_or(1, NonZero::get) + SPARE;
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(threads).max_blocking_threads(WAITING).thread_name("serving").enable_all();
    Ok(runtime.insert(builder.build()?).handle().clone())
}
