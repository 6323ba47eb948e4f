//! A backend of auditing: an output, with what is done to events before, and when they get there.
//!
//! ```text
//!   event ──▶ truncate ──┬─ blocking ──▶ output
//!                        └─ batch ─────▶ buffer ──▶ output
//! ```
//! Follows `wrapBackend` of `pkg/server/options/audit.go`, and ports `plugin/pkg/audit/truncate/truncate.go`, of `k8s.io/apiserver`
//! (v0.37.1).

use super::buffered::Buffered;
use super::event::Event;
use super::level::Level;
use super::options::{AuditBatchOptions, AuditTruncateOptions, BATCH, BLOCKING_STRICT};
use super::output::{Output, report_lost};
use futures::future::BoxFuture;
use std::sync::Arc;
use tokio::runtime::Handle;

const TRUNCATE: &str = "truncate";
/// The annotation of events that have lost their objects.
const TRUNCATED: (&str, &str) = ("audit.k8s.io/truncated", "true");

/// A backend.
pub(super) struct Backend {
    /// The most bytes of an event, if that is limited.
    most: Option<usize>,
    delivery: Delivery,
}

enum Delivery {
    /// While the request waits; and whether it is refused if that fails.
    Blocking(Arc<Output>, bool),
    Batch(Buffered),
}

/// The delivery of an event: true unless the request has to be refused.
pub(crate) enum Delivered {
    Now(bool),
    /// It has to be waited for.
    Later(BoxFuture<'static, bool>),
}

impl Delivered {
    /// The delivery of this and of another event.
    pub(super) fn and(self, other: Delivered) -> Delivered {
        match (self, other) {
            (Delivered::Now(one), Delivered::Now(other)) => Delivered::Now(one && other),
            (one, other) => Delivered::Later(Box::pin(async move { one.done().await & other.done().await })),
        }
    }

    /// Waits for it.
    pub(crate) async fn done(self) -> bool {
        match self {
            Delivered::Now(done) => done,
            Delivered::Later(delivery) => delivery.await,
        }
    }
}

impl Backend {
    /// A backend with that output, whose task, if it has one, runs there.
    pub(super) fn new(
        output: Output,
        batch: &AuditBatchOptions,
        truncate: &AuditTruncateOptions,
        runtime: &Handle,
    ) -> Backend {
        let delivery = match &*batch.mode {
            BATCH => Delivery::Batch(Buffered::start(output, batch, runtime)),
            mode => Delivery::Blocking(output.into(), mode == BLOCKING_STRICT),
        };
        let most = usize::try_from(truncate.max_event_size).unwrap_or(usize::MAX);
        Backend { most: truncate.enabled.then_some(most), delivery }
    }

    /// Delivers an event.
    pub(super) fn process(&self, event: Arc<Event>) -> Delivered {
        let Some(event) = self.truncated(event) else { return Delivered::Now(true) };
        match &self.delivery {
            Delivery::Batch(buffered) => {
                buffered.add(event);
                Delivered::Now(true)
            }
            Delivery::Blocking(output, is_strict) => match &**output {
                Output::Log(log) => Delivered::Now(told(log.write(&event), output, &event) || !is_strict),
                Output::Webhook(_) => {
                    let (output, is_strict) = (output.clone(), *is_strict);
                    Delivered::Later(Box::pin(async move {
                        told(output.take(std::slice::from_ref(&event)).await, &output, &event) || !is_strict
                    }))
                }
            },
        }
    }

    /// The event, small enough; `None`, if it cannot be.
    fn truncated(&self, event: Arc<Event>) -> Option<Arc<Event>> {
        let Some(most) = self.most else { return Some(event) };
        if event.line().len() <= most {
            return Some(event);
        }
        let small = if event.level < Level::Request { event } else { without_objects(&event).into() };
        if small.line().len() > most {
            report_lost(TRUNCATE, "event is too large even after truncating", &[small]);
            return None;
        }
        Some(small)
    }

    /// Takes no more events, and waits for those that it has.
    pub(super) async fn shut_down(&self) {
        if let Delivery::Batch(buffered) = &self.delivery {
            buffered.shut_down().await;
        }
    }
}

fn without_objects(event: &Event) -> Event {
    let mut annotations = event.annotations.clone();
    // The annotation replaces another one of its key.
    annotations.insert(0, (TRUNCATED.0.into(), TRUNCATED.1.into()));
    Event { request_object: None, response_object: None, annotations, ..event.clone() }
}

/// Whether the event got there; if not, that is told.
fn told(taken: Result<(), String>, output: &Output, event: &Arc<Event>) -> bool {
    if let Err(why) = &taken {
        report_lost(output.name(), why, std::slice::from_ref(event));
    }
    taken.is_ok()
}
