//! Bodies of requests and of responses.

use super::gzip_body::GzipBody;
use super::list::ListBody;
use super::stream::WatchBody;
use super::struck::{Struck, StruckBody};
use crate::api::Channels;
use crate::error::{ApiError, ApiResult};
use bytes::Bytes;
use http::HeaderMap;
use http::header::EXPECT;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::timeout;

/// `--max-resource-write-bytes` and the like upstream: 3 MiB.
const MAX_REQUEST_BYTES: usize = 3 * 1024 * 1024;

/// The most bytes of an unread body that are read and discarded before the response.
const DRAIN_LIMIT: usize = 64 * 1024 * 1024;
/// The time that a client has to send an unread body.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest pause of a client that sends an unread body.
const DRAIN_IDLE_TIMEOUT: Duration = Duration::from_secs(1);

/// The body of a request, still to be received.
pub(crate) struct RequestBody {
    incoming: Wire,
    /// Whether the client expects `100 Continue`, which reading sends.
    waits: bool,
}

impl RequestBody {
    pub(crate) fn new(headers: &HeaderMap, incoming: Wire) -> Self {
        let waits = headers.get(EXPECT).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"));
        RequestBody { incoming, waits }
    }

    /// The content, for another server to read.
    pub(super) fn take(&mut self) -> Wire {
        self.waits = false;
        std::mem::replace(&mut self.incoming, Wire::Given(Full::default()))
    }
}

/// The content of a request as it comes.
pub(crate) enum Wire {
    /// From a connection.
    Incoming(Incoming),
    /// From this process.
    Given(Full<Bytes>),
}

impl HttpBody for Wire {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self.get_mut() {
            Wire::Incoming(incoming) => Pin::new(incoming).poll_frame(context),
            Wire::Given(given) => Pin::new(given)
                .poll_frame(context)
                .map(|frame| frame.map(|frame| frame.map_err(|never| match never {}))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Wire::Incoming(incoming) => incoming.is_end_stream(),
            Wire::Given(given) => given.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Wire::Incoming(incoming) => incoming.size_hint(),
            Wire::Given(given) => given.size_hint(),
        }
    }
}

/// Reads a request's body.
///
/// # Errors
/// 413 if it is too large; 400 if it breaks off.
pub(crate) async fn read(body: &mut RequestBody) -> ApiResult<Bytes> {
    let incoming = &mut body.incoming;
    if incoming.is_end_stream() {
        return Ok(Bytes::new());
    }
    let too_large = || ApiError::too_large(format!("Request entity too large: limit is {MAX_REQUEST_BYTES}"));
    if incoming.size_hint().lower() > MAX_REQUEST_BYTES as u64 {
        return Err(too_large());
    }
    body.waits = false;
    match Limited::new(incoming, MAX_REQUEST_BYTES).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
        Err(error) => Err(ApiError::bad_request(format!("unable to read the body of the request: {error}"))),
    }
}

/// Reads a refused body to its end, within limits: a client that writes its whole request before it reads, and an HTTP/2
/// client that takes the reset behind an early response for a failure, would miss the response. A client that expects
/// `100 Continue` does not send its body.
pub(crate) async fn drain(body: &mut RequestBody) {
    let incoming = &mut body.incoming;
    if body.waits || incoming.is_end_stream() {
        return;
    }
    let mut rest = DRAIN_LIMIT;
    let read = async {
        while rest > 0
            && let Ok(Some(Ok(frame))) = timeout(DRAIN_IDLE_TIMEOUT, incoming.frame()).await
        {
            rest = rest.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
        }
    };
    // The response is sent whether or not the body was read to its end.
    timeout(DRAIN_TIMEOUT, read).await.unwrap_or_default();
}

/// A response's body.
pub(crate) enum ReplyBody {
    Whole(Option<Bytes>),
    List(Box<ListBody>),
    Gzip(Box<GzipBody<ReplyBody>>),
    Struck(Box<StruckBody<ReplyBody>>),
    Watch(Box<WatchBody>),
    /// A body from another server.
    Forwarded(Box<Incoming>),
    /// Messages that are sent once the connection has switched.
    Channels(Box<Channels>),
}

impl ReplyBody {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        ReplyBody::Whole(Some(bytes))
    }

    /// The body of a list: whole, if all of it is ready and no longer than that.
    pub(super) fn of_list(mut list: Box<ListBody>, longest: usize) -> Self {
        list.whole(longest).map_or_else(|| ReplyBody::List(list), ReplyBody::whole)
    }

    /// The body of the response to a HEAD request.
    pub(crate) fn without_content(self) -> Self {
        ReplyBody::Whole(None)
    }
}

/// The next bytes of a watch; in place of its end an error, if it breaks off.
fn or_broken(bytes: Option<Bytes>, is_broken: bool) -> Option<ApiResult<Bytes>> {
    match bytes {
        None if is_broken => Some(Err(ApiError::internal("broken off by an order"))),
        bytes => bytes.map(Ok),
    }
}

impl Struck for ReplyBody {
    fn poll_bytes(&mut self, context: &mut Context<'_>) -> Poll<Option<ApiResult<Bytes>>> {
        if let ReplyBody::Watch(watch) = self {
            return watch.poll_one(context).map(|frame| or_broken(frame, watch.is_broken()));
        }
        let frame = Pin::new(self).poll_frame(context);
        frame.map(|frame| frame.map(|frame| frame.map(|frame| frame.into_data().unwrap_or_default())))
    }

    fn last(&self) -> &'static str {
        if let ReplyBody::Watch(watch) = self { watch.last() } else { "" }
    }

    fn fail(&mut self, refusal: &ApiError) -> Option<Bytes> {
        if let ReplyBody::Watch(watch) = self { watch.fail(refusal) } else { None }
    }
}

impl HttpBody for ReplyBody {
    type Data = Bytes;
    /// The error that breaks a response off.
    type Error = ApiError;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<ApiResult<Frame<Bytes>>>> {
        let bytes = match self.get_mut() {
            ReplyBody::Whole(bytes) => Poll::Ready(bytes.take().map(Ok)),
            ReplyBody::List(list) => list.poll_next(context),
            ReplyBody::Gzip(gzip) => gzip.poll_next(context),
            ReplyBody::Struck(struck) => struck.poll_next(context),
            ReplyBody::Watch(watch) => watch.poll_next(context).map(|bytes| or_broken(bytes, watch.is_broken())),
            ReplyBody::Forwarded(incoming) => Pin::new(&mut **incoming).poll_frame(context).map(|frame| {
                // Trailers are left out.
                let data = |frame: Frame<Bytes>| frame.into_data().ok();
                frame.and_then(|frame| frame.map(data).map_err(ApiError::internal).transpose())
            }),
            ReplyBody::Channels(_) => Poll::Ready(None),
        };
        bytes.map(|bytes| bytes.map(|bytes| bytes.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            ReplyBody::Whole(bytes) => bytes.is_none(),
            ReplyBody::List(list) => list.is_empty(),
            ReplyBody::Gzip(gzip) => gzip.is_ended(),
            ReplyBody::Forwarded(incoming) => incoming.is_end_stream(),
            ReplyBody::Channels(_) => true,
            ReplyBody::Watch(_) | ReplyBody::Struck(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            ReplyBody::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            ReplyBody::Struck(struck) => struck.inner().size_hint(),
            ReplyBody::Forwarded(incoming) => incoming.size_hint(),
            ReplyBody::List(_) | ReplyBody::Gzip(_) | ReplyBody::Watch(_) | ReplyBody::Channels(_) => {
                SizeHint::default()
            }
        }
    }
}
