//! A buffer of events, which a task writes or sends in batches.
//!
//! ```text
//!   event ──▶ buffer ──▶ batch: full, or old enough ──▶ throttle ──▶ output
//!               └─ full: lost
//! ```
//! Ports `plugin/pkg/audit/buffered/buffered.go` of `k8s.io/apiserver`, and of `k8s.io/client-go` `util/flowcontrol/throttle.go` (v0.37.1).

use super::event::Event;
use super::options::AuditBatchOptions;
use super::output::{Output, report_lost};
use crate::clock::later;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

const NAME: &str = "buffered";
/// The time for the events that wait when the server stops.
const LAST: Duration = Duration::from_secs(2);

/// A buffer.
pub(super) struct Buffered {
    waiting: mpsc::Sender<Arc<Event>>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Buffered {
    /// A buffer before an output, whose task runs there until the buffer is dropped, or shut down.
    pub(super) fn start(output: Output, options: &AuditBatchOptions, runtime: &Handle) -> Buffered {
        let size = usize::try_from(options.buffer_size).unwrap_or(usize::MAX).clamp(1, Semaphore::MAX_PERMITS);
        let (waiting, events) = mpsc::channel(size);
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let worker = Worker {
            events,
            // Batches to a webhook are sent while others are under way.
            sends: matches!(output, Output::Webhook(_)).then(|| tasks.clone()),
            output: output.into(),
            most: usize::try_from(options.max_batch_size).unwrap_or(usize::MAX).max(1),
            longest: options.max_batch_wait,
            throttle: options.throttle.then(|| Throttle::new(options.throttle_qps, options.throttle_burst)),
            stop: stop.clone(),
        };
        tasks.spawn_on(worker.run(), runtime);
        tasks.close();
        Buffered { waiting, stop, tasks }
    }

    /// Adds an event, if there is room.
    pub(super) fn add(&self, event: Arc<Event>) {
        let (why, event) = match self.waiting.try_send(event) {
            Ok(()) => return,
            Err(mpsc::error::TrySendError::Full(event)) => ("audit buffer queue blocked", event),
            Err(mpsc::error::TrySendError::Closed(event)) => ("audit backend shut down", event),
        };
        report_lost(NAME, why, &[event]);
    }

    /// Takes no more events, and waits until those that it has are gone, but not for long.
    pub(super) async fn shut_down(&self) {
        self.stop.cancel();
        if timeout(LAST, self.tasks.wait()).await.is_err() {
            tracing::error!("the server stops before all audit events are sent");
        }
    }
}

/// The task of a buffer.
struct Worker {
    events: mpsc::Receiver<Arc<Event>>,
    output: Arc<Output>,
    /// The tasks that send batches, if they are sent at the same time.
    sends: Option<TaskTracker>,
    most: usize,
    longest: Duration,
    throttle: Option<Throttle>,
    stop: CancellationToken,
}

impl Worker {
    async fn run(mut self) {
        let stop = self.stop.clone();
        let mut goes_on = true;
        while goes_on {
            let (batch, more) = self.batch(&stop).await;
            goes_on = more && !stop.is_cancelled();
            self.deliver(batch).await;
        }
        // What came before the end.
        self.events.close();
        let never = CancellationToken::new();
        loop {
            let (batch, more) = self.batch(&never).await;
            self.deliver(batch).await;
            if !more {
                return;
            }
        }
    }

    /// The next batch, and whether more events may come (`collectEvents`).
    async fn batch(&mut self, stop: &CancellationToken) -> (Vec<Arc<Event>>, bool) {
        let mut batch = Vec::new();
        let end = later(Instant::now(), self.longest);
        let is_limited = self.most > 1;
        while batch.len() < self.most {
            let end = async {
                match is_limited {
                    true => sleep_until(end).await,
                    false => pending().await,
                }
            };
            tokio::select! {
                biased;
                event = self.events.recv() => match event {
                    Some(event) => batch.push(event),
                    None => return (batch, false),
                },
                () = stop.cancelled() => break,
                () = end => break,
            }
        }
        (batch, true)
    }

    /// `processEvents`.
    async fn deliver(&mut self, batch: Vec<Arc<Event>>) {
        if batch.is_empty() {
            return;
        }
        if let Some(throttle) = &mut self.throttle {
            throttle.accept().await;
        }
        let output = self.output.clone();
        let delivery = async move {
            if let Err(why) = output.take(&batch).await {
                report_lost(output.name(), &why, &batch);
            }
        };
        match &self.sends {
            Some(tasks) => drop(tasks.spawn(delivery)),
            None => delivery.await,
        }
    }
}

/// A limit on the rate of batches: a bucket of tokens (`NewTokenBucketRateLimiter`).
struct Throttle {
    a_second: f64,
    most: f64,
    tokens: f64,
    since: Instant,
}

impl Throttle {
    fn new(a_second: f32, burst: i64) -> Throttle {
        let most = burst as f64;
        Throttle { a_second: a_second.into(), most, tokens: most, since: Instant::now() }
    }

    /// Waits for a token.
    async fn accept(&mut self) {
        let now = Instant::now();
        let passed = now.saturating_duration_since(self.since).as_secs_f64();
        self.tokens = (self.tokens + passed * self.a_second).min(self.most) - 1.0;
        self.since = now;
        if self.tokens < 0.0 {
            sleep(Duration::try_from_secs_f64(-self.tokens / self.a_second).unwrap_or(LAST)).await;
        }
    }
}
