//! Bodies, as they come and as they go.

use super::list::ListBody;
use super::stream::WatchBody;
use crate::error::{ApiError, ApiResult};
use bytes::Bytes;
use http::HeaderMap;
use http::header::EXPECT;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::timeout;

/// `--max-resource-write-bytes` and the like upstream: 3 MiB.
const MAX_REQUEST_BYTES: usize = 3 * 1024 * 1024;

/// How much of an unread body is read on, and thrown away, before the answer.
const DRAIN_LIMIT: usize = 64 * 1024 * 1024;
/// How long a client may take to send an unread body.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a client may pause while it sends an unread body.
const DRAIN_IDLE_TIMEOUT: Duration = Duration::from_secs(1);

/// The body of a request, as it comes.
pub(crate) struct RequestBody {
    incoming: Incoming,
    /// The client sends it only if it is asked to, which reading does.
    waits: bool,
}

impl RequestBody {
    pub(crate) fn new(headers: &HeaderMap, incoming: Incoming) -> Self {
        let waits = headers.get(EXPECT).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"));
        RequestBody { incoming, waits }
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

/// Reads on to the end of a body that was refused, within limits: a client that writes its whole request before it reads, and
/// an HTTP/2 client that takes the reset behind an early answer for a failure, would miss the answer. A client that waits with its
/// body is not asked for it.
pub(crate) async fn drain(body: &mut RequestBody) {
    if body.waits {
        return;
    }
    let incoming = &mut body.incoming;
    let mut rest = DRAIN_LIMIT;
    let read = async {
        while rest > 0
            && let Ok(Some(Ok(frame))) = timeout(DRAIN_IDLE_TIMEOUT, incoming.frame()).await
        {
            rest = rest.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
        }
    };
    // Whether or not it was read to its end, the answer is sent.
    timeout(DRAIN_TIMEOUT, read).await.unwrap_or_default();
}

/// A response's body.
pub(crate) enum ReplyBody {
    Whole(Option<Bytes>),
    List(Box<ListBody>),
    Watch(Box<WatchBody>),
}

impl ReplyBody {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        ReplyBody::Whole(Some(bytes))
    }

    /// The answer to HEAD.
    pub(crate) fn without_content(self) -> Self {
        ReplyBody::Whole(None)
    }
}

impl HttpBody for ReplyBody {
    type Data = Bytes;
    /// What breaks an answer off.
    type Error = ApiError;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<ApiResult<Frame<Bytes>>>> {
        let bytes = match self.get_mut() {
            ReplyBody::Whole(bytes) => Poll::Ready(bytes.take().map(Ok)),
            ReplyBody::List(list) => list.poll_next(context),
            ReplyBody::Watch(watch) => watch.poll_next(context).map(|bytes| bytes.map(Ok)),
        };
        bytes.map(|bytes| bytes.map(|bytes| bytes.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            ReplyBody::Whole(bytes) => bytes.is_none(),
            ReplyBody::List(list) => list.is_empty(),
            ReplyBody::Watch(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            ReplyBody::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            ReplyBody::List(_) | ReplyBody::Watch(_) => SizeHint::default(),
        }
    }
}
