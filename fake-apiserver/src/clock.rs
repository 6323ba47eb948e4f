//! The injected wall clock. This is the only module that reads the time.

use jiff::{SignedDuration, Timestamp};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio::time::Instant;

/// The longest time for which anything is waited.
const LONGEST: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

/// A source of the current time.
pub trait Clock: Send + Sync + 'static {
    /// The current time.
    fn now(&self) -> Timestamp;

    /// The clock that others may move, if this is one.
    fn manual(&self) -> Option<ManualClock> {
        None
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }

    fn manual(&self) -> Option<ManualClock> {
        (**self).manual()
    }
}

/// The operating system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the time")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// A clock that others move. Clones share the same time.
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<Face>);

/// The hands, and those who look at them.
#[derive(Debug)]
struct Face {
    hands: Mutex<Hands>,
    moved: Notify,
}

/// The state of a clock.
#[derive(Debug, Clone, Copy)]
enum Hands {
    /// It stands still at that time.
    Frozen(Timestamp),
    /// It runs, that much before the system's clock.
    Running(SignedDuration),
}

impl Hands {
    fn show(self) -> Timestamp {
        match self {
            Hands::Frozen(at) => at,
            Hands::Running(ahead) => plus(SystemClock.now(), ahead),
        }
    }

    fn at(self, time: Timestamp) -> Hands {
        match self {
            Hands::Frozen(_) => Hands::Frozen(time),
            Hands::Running(_) => Hands::Running(time.duration_since(SystemClock.now())),
        }
    }
}

impl ManualClock {
    /// A clock that shows `start`, and stands still until it is moved.
    pub fn new(start: Timestamp) -> Self {
        ManualClock::of(Hands::Frozen(start))
    }

    /// A clock that runs as the system's does until it is moved.
    pub fn running() -> Self {
        ManualClock::of(Hands::Running(SignedDuration::ZERO))
    }

    fn of(hands: Hands) -> Self {
        ManualClock(Arc::new(Face { hands: Mutex::new(hands), moved: Notify::new() }))
    }

    /// Advances the clock by `by`, backwards if negative. It stops at the limits of [`Timestamp`].
    pub fn advance(&self, by: SignedDuration) {
        self.change(|hands| hands.at(plus(hands.show(), by)));
    }

    /// Sets the time.
    pub fn set(&self, to: Timestamp) {
        self.change(|hands| hands.at(to));
    }

    /// Lets it stand still, or run from where it is.
    pub fn freeze(&self, frozen: bool) {
        self.change(|hands| {
            let now = hands.show();
            if frozen { Hands::Frozen(now) } else { Hands::Running(SignedDuration::ZERO).at(now) }
        });
    }

    fn change(&self, change: impl FnOnce(Hands) -> Hands) {
        let mut hands = self.hands();
        *hands = change(*hands);
        drop(hands);
        self.0.moved.notify_waiters();
    }

    /// Completes when it is moved after this call, whenever the result is awaited.
    pub(crate) fn moved(&self) -> Notified<'_> {
        self.0.moved.notified()
    }

    /// Whether it stands still.
    pub fn is_frozen(&self) -> bool {
        matches!(*self.hands(), Hands::Frozen(_))
    }

    fn hands(&self) -> MutexGuard<'_, Hands> {
        self.0.hands.lock().expect("no holder of this lock can panic")
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        let hands = *self.hands();
        hands.show()
    }

    fn manual(&self) -> Option<ManualClock> {
        Some(self.clone())
    }
}

/// A clock with a constant offset from another: the clock of a replica whose time is wrong. It stops at the limits of [`Timestamp`].
#[derive(Clone)]
pub struct OffsetClock {
    inner: Arc<dyn Clock>,
    offset_seconds: Arc<AtomicI64>,
}

impl OffsetClock {
    /// `inner`, shifted by `offset_seconds` (negative: behind).
    pub fn new(inner: Arc<dyn Clock>, offset_seconds: i64) -> Self {
        OffsetClock { inner, offset_seconds: Arc::new(AtomicI64::new(offset_seconds)) }
    }

    /// Changes the offset, as a time service would.
    pub fn set_offset(&self, seconds: i64) {
        self.offset_seconds.store(seconds, Ordering::Relaxed);
    }

    /// The offset, in seconds.
    pub(crate) fn offset(&self) -> i64 {
        self.offset_seconds.load(Ordering::Relaxed)
    }
}

impl Clock for OffsetClock {
    fn now(&self) -> Timestamp {
        plus(self.inner.now(), SignedDuration::from_secs(self.offset_seconds.load(Ordering::Relaxed)))
    }
}

/// A time after another one, or before it if the duration is negative. It stops at the limits of [`Timestamp`].
pub(crate) fn plus(time: Timestamp, by: SignedDuration) -> Timestamp {
    time.checked_add(by).unwrap_or(if by.is_negative() { Timestamp::MIN } else { Timestamp::MAX })
}

/// An instant after another one, some years at most.
pub(crate) fn later(instant: Instant, by: Duration) -> Instant {
    instant.checked_add(by.min(LONGEST)).unwrap_or(instant)
}

/// A number of seconds as Go has it (`time.Duration`): nanoseconds in 64 bits, which overflow.
pub(crate) fn go_seconds(seconds: i64) -> SignedDuration {
    SignedDuration::from_nanos(seconds.wrapping_mul(1_000_000_000))
}

/// `time` shifted by an offset, if the result is in range.
pub(crate) fn shifted(time: Timestamp, offset_seconds: i64) -> Option<Timestamp> {
    time.checked_add(SignedDuration::from_secs(offset_seconds)).ok()
}

/// A time as in `metadata`: RFC 3339, UTC, whole seconds (truncated).
pub fn format_seconds(time: Timestamp) -> String {
    jiff::fmt::temporal::DateTimePrinter::new().precision(Some(0)).timestamp_to_string(&time)
}

/// A time as a `MicroTime`: RFC 3339, UTC, six decimals (truncated). Go's decoder refuses any other number of them.
pub(crate) fn format_micros(time: Timestamp) -> String {
    jiff::fmt::temporal::DateTimePrinter::new().precision(Some(6)).timestamp_to_string(&time)
}
