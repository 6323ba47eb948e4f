//! The outputs of events: the log and the webhook. What they cannot take is lost, and told in the program's log.
//!
//! Ports `plugin/pkg/audit/{log/backend,webhook/webhook}.go`, and of `pkg` `audit/metrics.go` and `util/webhook/webhook.go`, of
//! `k8s.io/apiserver` (v0.37.1).
//!
//! GAP: metrics: those of auditing

use super::event::Event;
use super::format;
use super::rotation::RotatingFile;
use crate::webhook::{Client, Document, TIMEOUT};
use bytes::Bytes;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The beginning of a list of events.
const LIST_HEAD: &[u8] = br#"{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":["#;
/// The number of calls until a webhook is given up (`DefaultRetryBackoffWithInitialDelay`).
const CALLS: usize = 5;
/// The growth of the pause from one call to the next.
const GROWTH: f64 = 1.5;
/// The most by which a pause is longer at random, as a part of it.
const JITTER: f64 = 0.2;

/// An output of events.
pub(super) enum Output {
    Log(Log),
    Webhook(Box<Webhook>),
}

/// The log.
pub(super) struct Log {
    target: Mutex<Target>,
    /// Whether events are written in the format `legacy`.
    is_legacy: bool,
}

/// The place of the log.
pub(super) enum Target {
    File(Box<RotatingFile>),
    StandardOutput,
}

/// The webhook.
pub(super) struct Webhook {
    pub(super) client: Client,
    /// The pause before a call that failed is repeated for the first time.
    pub(super) initial_backoff: Duration,
}

impl Output {
    /// The name in messages and metrics.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Output::Log(_) => "log",
            Output::Webhook(_) => "webhook",
        }
    }

    /// Writes or sends events.
    ///
    /// # Errors
    /// Why they are lost.
    pub(super) async fn take(&self, events: &[Arc<Event>]) -> Result<(), String> {
        match self {
            Output::Log(log) => events.iter().map(|event| log.write(event)).fold(Ok(()), Result::and),
            Output::Webhook(webhook) => webhook.send(events).await,
        }
    }
}

impl Log {
    pub(super) fn new(target: Target, is_legacy: bool) -> Log {
        Log { target: Mutex::new(target), is_legacy }
    }

    /// Writes an event.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn write(&self, event: &Event) -> Result<(), String> {
        let line = match self.is_legacy {
            true => (format::line(event) + "\n").into_bytes(),
            false => event.line(),
        };
        let mut target = self.target.lock().expect("no holder of this lock can panic");
        let written = match &mut *target {
            Target::File(file) => file.write(&line),
            Target::StandardOutput => io::stdout().write_all(&line).and_then(|()| io::stdout().flush()),
        };
        written.map_err(|error| error.to_string())
    }
}

impl Webhook {
    /// Posts a list of events, again and again if that fails.
    async fn send(&self, events: &[Arc<Event>]) -> Result<(), String> {
        let items: Vec<Vec<u8>> = events.iter().map(|event| event.item()).collect();
        let list = Bytes::from([LIST_HEAD, &items.join(&b','), b"]}\n"].concat());
        let mut pause = self.initial_backoff;
        for left in (0..CALLS).rev() {
            match self.client.tell(Document::from_iter([list.clone()]), TIMEOUT).await {
                Ok(()) => break,
                Err(why) if left == 0 => return Err(why.message),
                Err(_) => tokio::time::sleep(pause.mul_f64(1.0 + JITTER * fastrand::f64())).await,
            }
            pause = Duration::try_from_secs_f64(pause.as_secs_f64() * GROWTH).unwrap_or(pause);
        }
        Ok(())
    }
}

/// Tells of events that are lost (`HandlePluginError`).
pub(super) fn report_lost(plugin: &str, why: &str, events: &[Arc<Event>]) {
    let lines: String = events.iter().map(|event| format::line(event) + "\n").collect();
    tracing::error!(
        "Error in audit plugin '{plugin}' affecting {} audit events: {why}\nImpacted events:\n{lines}",
        events.len()
    );
}
