//! The body of a watch.
//!
//! ```text
//!   initial objects ──▶ bookmark that ends them ──▶ events, a bookmark a minute ──▶ last bookmark ──▶ end
//!                                                     │ fell out of the window     │ the resource is gone
//!                                                     ▼                            ▼
//!                                                   ERROR 410 ──▶ end             end
//! ```

use super::computation::Computation;
use super::json;
use super::metrics::OpenWatch;
use super::negotiate::{Encoding, Output};
use super::protobuf;
use super::replica::Replica;
use super::table::Transformation;
use super::unseen::Unseen;
use crate::alarm::Alarm;
use crate::api::{Converting, Items, Watch, too_old};
use crate::audit::{Audited, Ending, OpenWatch as Noted};
use crate::clock::later;
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult};
use crate::registry::Version;
use crate::schema;
use crate::store::{Change, Delivery, Entry, Event, FormId, Subscription};
use bytes::{Bytes, BytesMut};
use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::WaitForCancellationFutureOwned;
use tree::json;

/// The time between bookmarks (`defaultBookmarkFrequency` upstream).
const BOOKMARK_PERIOD: Duration = Duration::from_secs(60);
/// The time between the last bookmark of a watch and its end.
const LAST_BOOKMARK: Duration = Duration::from_secs(2);
/// The size of a chunk of a burst, in bytes.
const CHUNK_BYTES: usize = 64 * 1024;

/// The pending conversion of an event by a webhook.
type Conversion = Pin<Box<dyn Future<Output = Result<Option<(Change, Arc<Entry>)>, String>> + Send>>;

pub(crate) struct WatchBody {
    version: Arc<Version>,
    encoding: Encoding,
    /// The transformation; `None` for the plain form.
    transformation: Option<Transformation>,
    /// The id by which frames are shared; `None` if they depend on the time they are made.
    shared: Option<FormId>,
    replica: Arc<Replica>,
    initial: Option<Items>,
    /// The revision of the bookmark after the initial objects, until it is sent.
    initial_end: Option<u64>,
    /// The events, or the error in their place; `None` once the stream has ended.
    events: Option<Result<Subscription, ApiError>>,
    converting: Option<Arc<Converting>>,
    /// The event in conversion by a webhook.
    conversion: Option<(Arc<Event>, Conversion)>,
    /// The events that the held-back replica does not see yet.
    unseen: Unseen,
    bookmarks: bool,
    /// The type of the last frame.
    last: &'static str,
    /// The revision of the last event sent, which the error of an expired watch has as the requested one.
    sent: u64,
    deadline: Instant,
    next_bookmark: Instant,
    timer: Pin<Box<Sleep>>,
    end: Pin<Box<WaitForCancellationFutureOwned>>,
    /// The alarm of these two.
    alarm: Alarm,
    /// The computation of frames.
    computation: Arc<Computation>,
    /// The watch in the count of open watches.
    pub(super) counted: Option<OpenWatch>,
    /// The watch in the record of requests, if there is one.
    pub(super) noted: Option<Noted>,
    /// Whether it breaks off instead of ending.
    breaks: bool,
    /// The audit of its request.
    pub(super) audited: Option<Box<Audited>>,
}

impl WatchBody {
    pub(super) fn new(
        replica: &Arc<Replica>,
        version: Arc<Version>,
        output: Output,
        transformation: Option<Transformation>,
        computation: Arc<Computation>,
        watch: Watch,
    ) -> Self {
        let now = Instant::now();
        let deadline = later(now, watch.timeout);
        let next_bookmark = bookmark_after(now, deadline);
        let end = replica.end_of_watches();
        let noted = replica.cluster.log.watch(&end);
        let end = noted.as_ref().map_or(end, Noted::end);
        WatchBody {
            shared: output.id(&version),
            encoding: output.encoding,
            version,
            transformation,
            replica: replica.clone(),
            initial: watch.initial,
            initial_end: watch.initial_end,
            events: Some(watch.events),
            converting: watch.converting.map(Arc::new),
            conversion: None,
            unseen: Unseen::default(),
            bookmarks: watch.bookmarks,
            last: "",
            sent: 0,
            deadline,
            next_bookmark,
            timer: Box::pin(tokio::time::sleep_until(next_bookmark.min(deadline))),
            end: Box::pin(end.cancelled_owned()),
            // It starts woken, so that the timers are polled once and know its waker.
            alarm: Alarm::new(true),
            computation,
            counted: None,
            noted,
            breaks: false,
            audited: None,
        }
    }

    /// The code of the error that it has in place of events.
    pub(super) fn refused(&self) -> Option<u16> {
        self.events.as_ref().and_then(|events| events.as_ref().err()).map(ApiError::code)
    }

    /// Whether its frames are text.
    pub(super) fn is_text(&self) -> bool {
        self.encoding != Encoding::Protobuf
    }

    /// The next frame alone; `None` at the end.
    pub(super) fn poll_one(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.alarm.wakes(context);
        self.poll_counted(context)
    }

    fn poll_counted(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let frame = self.poll_frame(context);
        if let (Poll::Ready(Some(_)), Some(counted)) = (&frame, &self.counted) {
            counted.event();
        }
        if let (Poll::Ready(Some(_)), Some(noted)) = (&frame, &self.noted) {
            noted.event(self.last);
        }
        frame
    }

    /// The next chunk of the stream; `None` at its end.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.alarm.wakes(context);
        let mut chunk = Chunk::default();
        while chunk.has_room() {
            match self.poll_counted(context) {
                Poll::Ready(Some(frame)) => chunk.push(frame),
                Poll::Ready(None) => return Poll::Ready(chunk.take()),
                Poll::Pending => break,
            }
        }
        chunk.take().map_or(Poll::Pending, |bytes| Poll::Ready(Some(bytes)))
    }

    fn poll_frame(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(entry) = self.initial.as_mut().and_then(Items::next) {
            return Poll::Ready(self.stored("ADDED", &entry));
        }
        // The initial objects are not needed any more.
        self.initial = None;
        if let Some(revision) = self.initial_end.take() {
            return Poll::Ready(self.bookmark(revision, true));
        }
        if let Some((event, conversion)) = &mut self.conversion {
            let Poll::Ready(converted) = conversion.as_mut().poll(context) else { return self.poll_alarm() };
            let event = event.clone();
            self.conversion = None;
            match converted {
                Ok(Some((change, entry))) => return Poll::Ready(self.event(&event, change, &entry)),
                Ok(None) => {}
                Err(why) => {
                    tracing::warn!("a watch ends: {why}");
                    return Poll::Ready(self.end());
                }
            }
        }
        match &mut self.events {
            None => return Poll::Ready(None),
            Some(Err(refusal)) => {
                let refusal = refusal.clone();
                return Poll::Ready(self.error(&refusal));
            }
            Some(Ok(events)) => match self.unseen.poll_next(events, &self.replica.view, context) {
                Poll::Ready(Delivery::Event(event, change)) => {
                    self.sent = self.sent.max(event.revision);
                    let Some(converting) = self.converting.clone() else {
                        return Poll::Ready(self.event(&event, change, event.object(change)));
                    };
                    let asked = event.clone();
                    self.conversion = Some((event, Box::pin(async move { converting.event(&asked).await })));
                    return self.poll_frame(context);
                }
                Poll::Ready(Delivery::Expired(expired)) => {
                    let refusal = too_old(self.sent, expired);
                    return Poll::Ready(self.error(&refusal));
                }
                // As when upstream destroys the storage of a custom resource, the stream ends without an error.
                Poll::Ready(Delivery::Ended) => return Poll::Ready(self.end()),
                Poll::Pending => {}
            },
        }
        self.poll_alarm()
    }

    fn poll_alarm(&mut self) -> Poll<Option<Bytes>> {
        if self.alarm.has_rung() { self.poll_timers() } else { Poll::Pending }
    }

    /// Polls the timers of bookmarks and of the end.
    fn poll_timers(&mut self) -> Poll<Option<Bytes>> {
        let waker = self.alarm.waker();
        let mut context = Context::from_waker(&waker);
        if self.end.as_mut().poll(&mut context).is_ready() {
            return Poll::Ready(self.end_early());
        }
        if self.noted.as_ref().is_some_and(|noted| noted.takes_bookmark(&context))
            && let (true, Some(revision)) = (self.bookmarks, self.level())
        {
            self.alarm.ring();
            return Poll::Ready(self.bookmark(revision, false));
        }
        while self.timer.as_mut().poll(&mut context).is_ready() {
            let now = Instant::now();
            if now >= self.deadline {
                return Poll::Ready(self.end());
            }
            self.next_bookmark = bookmark_after(now, self.deadline);
            self.timer.as_mut().reset(self.next_bookmark.min(self.deadline));
            if let (true, Some(revision)) = (self.bookmarks, self.level()) {
                // The timer has to be polled again to set its waker.
                self.alarm.ring();
                return Poll::Ready(self.bookmark(revision, false));
            }
        }
        Poll::Pending
    }

    fn level(&self) -> Option<u64> {
        let level = self.events.as_ref()?.as_ref().ok()?.level()?;
        (self.unseen.is_empty() && self.conversion.is_none() && self.replica.view.held().is_none()).then_some(level)
    }

    fn event(&mut self, event: &Event, change: Change, entry: &Entry) -> Option<Bytes> {
        let name = match change {
            Change::Added => "ADDED",
            Change::Modified => "MODIFIED",
            Change::Deleted => "DELETED",
        };
        self.last = name;
        let Some(form) = self.shared else { return self.stored(name, entry) };
        let render = || self.render(name, entry);
        event.frame(change, form, render).or_else(|| self.end())
    }

    /// The frame of a stored object, in the watch's version and form. An object that cannot be converted ends the stream
    /// without an error, as upstream.
    fn stored(&mut self, name: &'static str, entry: &Entry) -> Option<Bytes> {
        self.last = name;
        self.render(name, entry).or_else(|| self.end())
    }

    /// The type of the last frame: `ADDED`.
    pub(super) fn last(&self) -> &'static str {
        self.last
    }

    /// The frame of an error, with which it ends.
    pub(super) fn fail(&mut self, refusal: &ApiError) -> Option<Bytes> {
        self.error(refusal)
    }

    fn render(&mut self, name: &str, entry: &Entry) -> Option<Bytes> {
        let computation = self.computation.clone();
        computation.go_on(|| self.made(name, entry, &computation.deadline()))
    }

    fn made(&mut self, name: &str, entry: &Entry, deadline: &Deadline) -> Option<Bytes> {
        let json = entry.json();
        let shown = match &mut self.transformation {
            Some(transformation) => {
                transformation.object(json, entry.meta.complete_under, self.replica.clock.now()).map(Cow::Owned)
            }
            None => {
                let converted = self.version.json_from_storage(json, entry.meta.complete_under, deadline);
                converted.map(|converted| converted.map_or(Cow::Borrowed(json), Cow::Owned))
            }
        };
        self.shown(name, shown)
    }

    /// The frame of an object in the watch's form; `None` if it cannot be converted, which is logged.
    fn shown(&self, name: &str, object: ApiResult<Cow<'_, [u8]>>) -> Option<Bytes> {
        let frame = object.and_then(|object| match self.encoding {
            Encoding::Json { .. } | Encoding::Yaml => Ok(frame(name, &object)),
            Encoding::Protobuf => protobuf::frame(name, &object),
        });
        frame.inspect_err(|refusal| tracing::warn!("a watch ends: {refusal}")).ok()
    }

    /// The ERROR frame, which is the last.
    fn error(&mut self, refusal: &ApiError) -> Option<Bytes> {
        self.end();
        self.last = "ERROR";
        self.shown("ERROR", Ok(json::encode(refusal.status()).into()))
    }

    /// Ends the stream before its time, as it was told to.
    fn end_early(&mut self) -> Option<Bytes> {
        match self.noted.as_ref().map(Noted::ending) {
            Some(Ending::Expired) if self.events.is_some() => {
                // As the real server's watch cache says it.
                self.error(&ApiError::expired("too old resource version: 1 (2)"))
            }
            Some(Ending::Reset) => {
                self.breaks = true;
                self.end()
            }
            _ => self.end(),
        }
    }

    /// Whether it has broken off, and has not ended.
    pub(super) fn is_broken(&self) -> bool {
        self.breaks
    }

    /// Ends the stream.
    fn end(&mut self) -> Option<Bytes> {
        self.events = None;
        self.conversion = None;
        self.initial = None;
        self.initial_end = None;
        None
    }

    fn bookmark(&mut self, revision: u64, ends_initial_events: bool) -> Option<Bytes> {
        self.last = "BOOKMARK";
        let Version { kind, api_version, .. } = &*self.version;
        let mut object = json!({"kind": kind, "apiVersion": api_version, "metadata": {}});
        if ends_initial_events {
            object["metadata"]["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        // An object of the kind without other fields is encoded as Go encodes a zero value.
        let object = schema::encode(&object, self.version.ty()).at_revision(revision);
        let now = self.replica.clock.now();
        let shown = match &mut self.transformation {
            Some(transformation) => transformation.object(&object, 0, now),
            None => Ok(object),
        };
        self.shown("BOOKMARK", shown.map(Cow::Owned)).or_else(|| self.end())
    }
}

/// The time of the next bookmark: in a minute, or shortly before the end if that is sooner.
fn bookmark_after(now: Instant, deadline: Instant) -> Instant {
    let regular = later(now, BOOKMARK_PERIOD);
    match deadline.checked_sub(LAST_BOOKMARK) {
        Some(last) if last > now && last < regular => last,
        Some(last) if last <= now => deadline,
        _ => regular,
    }
}

fn frame(name: &str, object: &[u8]) -> Bytes {
    let head = format!("{{\"type\":\"{name}\",\"object\":");
    let mut frame = Vec::with_capacity(head.len() + object.len() + 2);
    frame.extend_from_slice(head.as_bytes());
    frame.extend_from_slice(object);
    frame.extend_from_slice(b"}\n");
    frame.into()
}

/// The frames of one chunk: a single one is passed on as it is, several are joined.
#[derive(Default)]
struct Chunk {
    first: Option<Bytes>,
    joined: BytesMut,
}

impl Chunk {
    fn has_room(&self) -> bool {
        self.joined.len() < CHUNK_BYTES
    }

    fn push(&mut self, frame: Bytes) {
        if self.first.is_none() && self.joined.is_empty() {
            self.first = Some(frame);
            return;
        }
        if let Some(first) = self.first.take() {
            self.joined.extend_from_slice(&first);
        }
        self.joined.extend_from_slice(&frame);
    }

    fn take(&mut self) -> Option<Bytes> {
        self.first.take().or_else(|| (!self.joined.is_empty()).then(|| self.joined.split().freeze()))
    }
}
