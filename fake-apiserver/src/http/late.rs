//! Frames of a watch that come late, each by the same time, in their order.

use crate::clock::later;
use crate::error::ApiResult;
use bytes::Bytes;
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

/// The most frames that wait; then those behind them stay where they come from.
const MOST: usize = 1000;

/// A frame, or the end.
type Next = Option<ApiResult<Bytes>>;

/// Frames whose time has not come.
pub(super) struct Late {
    by: Duration,
    waiting: VecDeque<(Instant, Next)>,
    /// Whether the last one that waits is the end.
    ended: bool,
    timer: Pin<Box<Sleep>>,
}

impl Late {
    /// Frames that come later by that time.
    pub(super) fn by(by: Duration) -> Late {
        Late { by, waiting: VecDeque::new(), ended: false, timer: Box::pin(sleep_until(Instant::now())) }
    }

    /// The next of the frames that `next` has, once its time has come.
    pub(super) fn poll(
        &mut self,
        context: &mut Context<'_>,
        mut next: impl FnMut(&mut Context<'_>) -> Poll<Next>,
    ) -> Poll<Next> {
        while !self.ended
            && self.waiting.len() < MOST
            && let Poll::Ready(frame) = next(context)
        {
            self.ended = !matches!(frame, Some(Ok(_)));
            self.waiting.push_back((later(Instant::now(), self.by), frame));
        }
        let Some((due, _)) = self.waiting.front() else { return Poll::Pending };
        if self.timer.deadline() != *due {
            self.timer.as_mut().reset(*due);
        }
        match self.timer.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => Poll::Ready(self.waiting.pop_front().and_then(|(_, frame)| frame)),
        }
    }
}
