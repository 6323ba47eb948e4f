//! Responses that faults have struck: bodies that break off, are spoilt, come slowly or hang, and watches that end or hold, and whose events are
//! left out, repeated or late.
//!
//! ```text
//!   body ──▶ StruckBody: spoilt, truncated, slow ──▶ sent
//!   watch ── frame by frame ──▶ StruckBody: ended, held back, events left out, twice ──▶ Late ──▶ sent
//! ```

use super::late::Late;
use crate::error::{ApiError, ApiResult};
use bytes::Bytes;
use control::fault::{Body, Do, Events, Watch, WatchDo};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_util::sync::WaitForCancellationFutureOwned;

/// The pauses in a second of a slow body.
const PAUSES: u64 = 10;
/// The time in which a connection sends the last bytes of a body before it breaks off; nothing tells when it has.
const LAST_BYTES: Duration = Duration::from_millis(20);

/// An order to the connection of a response: an extension of it. The response itself is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Broken {
    /// Whether the whole connection ends, and not only the stream of the request.
    pub(crate) whole: bool,
}

/// The plan of faults for a body.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) body: Body,
    /// The bytes after which the connection is broken, and how.
    pub(super) breaks: Option<(u64, Do)>,
    pub(super) watch: Option<Watch>,
    pub(super) events: Events,
}

impl Plan {
    /// Whether it holds the events of a watch back.
    pub(super) fn freezes(&self) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.act == WatchDo::Freeze)
    }
}

/// A body that faults may strike.
pub(crate) trait Struck {
    /// The next bytes: of a watch, the next frame alone.
    fn poll_bytes(&mut self, context: &mut Context<'_>) -> Poll<Option<ApiResult<Bytes>>>;

    /// The type of a watch's last frame; "" if it is none.
    fn last(&self) -> &'static str;

    /// The frame of an error with which a watch ends; `None` if it is none.
    fn fail(&mut self, refusal: &ApiError) -> Option<Bytes>;
}

/// A body that faults have struck.
pub(crate) struct StruckBody<B> {
    inner: B,
    plan: Plan,
    sent: u64,
    events: u64,
    /// Bytes that have to wait for their turn.
    rest: Bytes,
    /// The frame that comes a second time.
    again: Option<Bytes>,
    /// The frames whose time has not come.
    late: Option<Late>,
    timer: Pin<Box<Sleep>>,
    /// The time that its watch has before it is struck.
    due: Option<Pin<Box<Sleep>>>,
    removed: Pin<Box<WaitForCancellationFutureOwned>>,
    /// Whether the connection has had the time to send what came before the end.
    flushed: bool,
    ended: bool,
}

impl<B: Struck> StruckBody<B> {
    pub(super) fn new(inner: B, plan: Plan, removed: WaitForCancellationFutureOwned) -> StruckBody<B> {
        let late = plan.events.delay_seconds.map(|seconds| {
            Late::by(Duration::try_from_secs_f64(seconds).expect("the rule was checked: it is at most a year"))
        });
        let due = plan.watch.as_ref().and_then(|watch| watch.after_seconds).map(|seconds| {
            let time = Duration::try_from_secs_f64(seconds).expect("the rule was checked: it is at most a year");
            Box::pin(sleep_until(crate::clock::later(Instant::now(), time)))
        });
        StruckBody {
            inner,
            plan,
            due,
            sent: 0,
            events: 0,
            rest: Bytes::new(),
            again: None,
            late,
            timer: Box::pin(sleep_until(Instant::now())),
            removed: Box::pin(removed),
            flushed: false,
            ended: false,
        }
    }

    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<ApiResult<Bytes>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        if self.plan.body.bytes_per_second.is_some() && self.timer.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        let room = self.room();
        if room == Some(0) {
            return self.poll_break(context);
        }
        if self.rest.is_empty() {
            match self.poll_in_time(context) {
                Poll::Ready(Some(Ok(bytes))) if self.plan.body.corrupt && self.sent == 0 => self.rest = spoilt(&bytes),
                Poll::Ready(Some(Ok(bytes))) => self.rest = bytes,
                other => return other,
            }
        }
        let slow = self.plan.body.bytes_per_second.map(|speed| (speed / PAUSES).max(1));
        let most = slow.into_iter().chain(room).min().unwrap_or(u64::MAX);
        let most = usize::try_from(most).unwrap_or(usize::MAX).min(self.rest.len());
        let bytes = self.rest.split_to(most);
        self.sent = self.sent.saturating_add(bytes.len() as u64);
        if let Some(speed) = self.plan.body.bytes_per_second {
            let pause = Duration::from_secs_f64(bytes.len() as f64 / speed as f64);
            self.timer.as_mut().reset(crate::clock::later(Instant::now(), pause));
        }
        Poll::Ready(Some(Ok(bytes)))
    }

    /// The bytes that may still be sent; `None` if all may.
    fn room(&self) -> Option<u64> {
        let ends = self.plan.body.truncate_at.into_iter().chain(self.plan.breaks.map(|(bytes, _)| bytes));
        ends.min().map(|end| end.saturating_sub(self.sent))
    }

    /// The end of a body that breaks off.
    fn poll_break(&mut self, context: &mut Context<'_>) -> Poll<Option<ApiResult<Bytes>>> {
        if let Some((_, Do::Hang)) = self.plan.breaks
            && self.removed.as_mut().poll(context).is_pending()
        {
            return Poll::Pending;
        }
        self.broken(context)
    }

    /// The end of a connection. What was sent before leaves it first: the connection forgets what it still has when a body fails.
    fn broken(&mut self, context: &mut Context<'_>) -> Poll<Option<ApiResult<Bytes>>> {
        if !self.flushed {
            self.flushed = true;
            self.timer.as_mut().reset(crate::clock::later(Instant::now(), LAST_BYTES));
        }
        if self.timer.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        self.ended = true;
        Poll::Ready(Some(Err(ApiError::internal("broken off by a fault rule"))))
    }

    /// The next frame, at its time.
    fn poll_in_time(&mut self, context: &mut Context<'_>) -> Poll<Option<ApiResult<Bytes>>> {
        match self.late.take() {
            None => self.poll_inner(context),
            Some(mut late) => {
                let next = late.poll(context, |context| self.poll_inner(context));
                self.late = Some(late);
                next
            }
        }
    }

    fn poll_inner(&mut self, context: &mut Context<'_>) -> Poll<Option<ApiResult<Bytes>>> {
        if let Some(frame) = self.again.take() {
            return Poll::Ready(Some(Ok(frame)));
        }
        loop {
            if let Some(fault) = self.plan.watch.clone().filter(|fault| self.events >= fault.after_events)
                && self.is_due(context)
            {
                match fault.act {
                    WatchDo::Freeze => {
                        if self.removed.as_mut().poll(context).is_pending() {
                            return Poll::Pending;
                        }
                        self.plan.watch = None;
                        continue;
                    }
                    WatchDo::Reset => return self.broken(context),
                    WatchDo::End => return Poll::Ready(None),
                    WatchDo::Error => {
                        let frame = self.inner.fail(&refusal(fault.code));
                        self.plan.watch = None;
                        self.plan.events = Events::default();
                        return Poll::Ready(frame.map(Ok));
                    }
                }
            }
            match self.inner.poll_bytes(context) {
                Poll::Ready(Some(Ok(_))) if self.is_among(&self.plan.events.drop) => {}
                Poll::Ready(Some(Ok(frame))) => {
                    self.events = self.events.saturating_add(1);
                    self.again = self.is_among(&self.plan.events.duplicate).then(|| frame.clone());
                    return Poll::Ready(Some(Ok(frame)));
                }
                other => return other,
            }
        }
    }

    /// Whether the time is over that its watch has before it is struck; if not, the task is woken then.
    fn is_due(&mut self, context: &mut Context<'_>) -> bool {
        self.due.as_mut().is_none_or(|due| due.is_elapsed() || due.as_mut().poll(context).is_ready())
    }

    /// Whether the type of the last frame is one of these.
    fn is_among(&self, types: &[String]) -> bool {
        types.iter().any(|kind| kind == self.inner.last())
    }

    pub(super) fn inner(&self) -> &B {
        &self.inner
    }
}

/// The bytes, of which the first one is another: neither JSON nor protobuf begins so.
fn spoilt(bytes: &Bytes) -> Bytes {
    let mut spoilt = bytes.to_vec();
    if let Some(first) = spoilt.first_mut() {
        *first ^= 1;
    }
    spoilt.into()
}

/// The error with which a watch ends.
fn refusal(code: Option<u16>) -> ApiError {
    match code.unwrap_or(410) {
        // As the real server's watch cache says it.
        410 => ApiError::expired("too old resource version: 1 (2)"),
        code => ApiError::injected(code, 0),
    }
}
