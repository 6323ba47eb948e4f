//! Bodies, as they come and as they go.

use super::stream::WatchBody;
use crate::error::{ApiError, ApiResult};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// `--max-resource-write-bytes` and the like upstream: 3 MiB.
const MAX_REQUEST_BYTES: usize = 3 * 1024 * 1024;

/// How long a client may take to send what nobody wants to read.
const DRAIN_PATIENCE: Duration = Duration::from_secs(1);

/// Reads a request's body.
///
/// # Errors
/// 413 if it is too large; 400 if it breaks off.
pub(crate) async fn read(incoming: &mut Incoming) -> ApiResult<Bytes> {
    if incoming.is_end_stream() {
        return Ok(Bytes::new());
    }
    let too_large = || ApiError::too_large(format!("Request entity too large: limit is {MAX_REQUEST_BYTES}"));
    if incoming.size_hint().lower() > MAX_REQUEST_BYTES as u64 {
        return Err(too_large());
    }
    match Limited::new(incoming, MAX_REQUEST_BYTES).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
        Err(error) => Err(ApiError::bad_request(format!("unable to read the body of the request: {error}"))),
    }
}

/// Reads what nobody wanted to read, up to the limit. Whoever is in no hurry to send it gets the answer regardless.
pub(crate) async fn drain(incoming: &mut Incoming) {
    let mut rest = MAX_REQUEST_BYTES;
    let read = async {
        while let (true, Some(Ok(frame))) = (rest > 0, incoming.frame().await) {
            rest = rest.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
        }
    };
    // Either way there is nothing more to be done about it.
    tokio::time::timeout(DRAIN_PATIENCE, read).await.unwrap_or_default();
}

/// A response's body.
pub(crate) enum ReplyBody {
    /// Of known length.
    Chunks(std::vec::IntoIter<Bytes>),
    Watch(Box<WatchBody>),
}

impl ReplyBody {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self::chunks(vec![bytes])
    }

    pub(crate) fn chunks(chunks: Vec<Bytes>) -> Self {
        ReplyBody::Chunks(chunks.into_iter())
    }

    /// The answer to HEAD.
    pub(crate) fn without_content(self) -> Self {
        Self::chunks(Vec::new())
    }
}

impl HttpBody for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = match self.get_mut() {
            ReplyBody::Chunks(chunks) => Poll::Ready(chunks.next()),
            ReplyBody::Watch(watch) => watch.poll_next(context),
        };
        bytes.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, ReplyBody::Chunks(chunks) if chunks.as_slice().is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            ReplyBody::Chunks(chunks) => {
                SizeHint::with_exact(chunks.as_slice().iter().map(|chunk| chunk.len() as u64).sum())
            }
            ReplyBody::Watch(_) => SizeHint::default(),
        }
    }
}
