//! Threads for long computations: few, and of lower priority than those that serve connections.
//!
//! They are started when they are first needed and kept until the end, so that what they free is reused by the next computation. On
//! Linux they yield to the threads that serve connections, so that a short request waits for no long one even if all processors
//! compute.

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, available_parallelism};
use tokio::sync::{Semaphore, oneshot};

/// The minimum limit of concurrent long computations, whatever the number of processors.
const LEAST: usize = 2;
/// How much lower the priority is, in steps of `nice`.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 5;

type Job = Box<dyn FnOnce() + Send>;

/// The workers of a cluster.
pub(crate) struct Workers {
    permits: Arc<Semaphore>,
    /// The threads that wait for a job; they end when this is dropped.
    idle: Arc<Mutex<Idle>>,
}

type Idle = Vec<Sender<Job>>;

impl Workers {
    /// As many workers as processors. No thread is started yet.
    pub(crate) fn new() -> Workers {
        let processors = available_parallelism().map_or(1, NonZero::get);
        Workers { permits: Arc::new(Semaphore::new(processors.max(LEAST))), idle: Arc::default() }
    }

    /// Waits for a worker, which then computes; the result, or the panic that ended the computation.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        computation: impl FnOnce() -> T + Send + 'static,
    ) -> thread::Result<T> {
        let permit = self.permits.clone().acquire_owned().await.expect("it is never closed");
        let (say, result) = oneshot::channel();
        let worker = lock(&self.idle).pop().unwrap_or_else(start);
        let (again, idle) = (worker.clone(), Arc::downgrade(&self.idle));
        let job: Job = Box::new(move || {
            let result = catch_unwind(AssertUnwindSafe(computation));
            if let Some(idle) = idle.upgrade() {
                lock(&idle).push(again);
            }
            drop(permit);
            // The request may have ended meanwhile.
            let _ = say.send(result);
        });
        if let Err(unsent) = worker.send(job) {
            // The system could not start another thread: the computation runs here.
            (unsent.0)();
        }
        result.await.expect("a job always says its result")
    }
}

fn lock(idle: &Mutex<Idle>) -> MutexGuard<'_, Idle> {
    idle.lock().expect("no code that runs under this lock panics")
}

/// A new worker.
fn start() -> Sender<Job> {
    let (jobs, next) = channel::<Job>();
    let work = move || {
        yield_to_others();
        next.into_iter().for_each(|job| job());
    };
    if let Err(error) = thread::Builder::new().name("computations".into()).spawn(work) {
        tracing::warn!(%error, "unable to start a thread for long computations");
    }
    jobs
}

/// Lowers the priority of this thread: on Linux, that of a process of id 0 is that of the calling thread.
#[cfg(target_os = "linux")]
fn yield_to_others() {
    use rustix::process::{getpriority_process, setpriority_process};
    let lowered = getpriority_process(None).and_then(|now| setpriority_process(None, now + NICENESS));
    if let Err(error) = lowered {
        tracing::debug!(%error, "unable to lower the priority of a thread");
    }
}

#[cfg(not(target_os = "linux"))]
fn yield_to_others() {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::thread::ThreadId;

    #[tokio::test]
    async fn computations_share_few_threads_and_none_of_the_runtime() {
        let workers = Arc::new(Workers::new());
        let computations = (0..100).map(|number| {
            let workers = workers.clone();
            tokio::spawn(async move { workers.compute(move || (number, thread::current().id())).await.unwrap() })
        });
        let mut threads: BTreeSet<String> = BTreeSet::new();
        let shown = |id: ThreadId| format!("{id:?}");
        for (number, computation) in computations.collect::<Vec<_>>().into_iter().enumerate() {
            let (computed, thread) = computation.await.unwrap();
            assert_eq!(computed, number);
            threads.insert(shown(thread));
        }
        assert!(!threads.contains(&shown(thread::current().id())));
        assert!(threads.len() <= available_parallelism().map_or(1, NonZero::get).max(LEAST));
    }

    #[tokio::test]
    async fn a_panic_ends_one_computation_and_not_its_worker() {
        let workers = Workers::new();
        for _ in 0..10 {
            let panic = workers.compute(|| panic!("as told")).await.expect_err("it panics");
            assert_eq!(panic.downcast_ref(), Some(&"as told"));
        }
        assert_eq!(workers.compute(|| 1).await.unwrap(), 1);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn workers_yield_to_others() {
        let priority = || rustix::process::getpriority_process(None).unwrap();
        let (here, there) = (priority(), Workers::new().compute(priority).await.unwrap());
        assert_eq!(there, (here + NICENESS).min(19));
    }
}
