//! The body of a compressed response: portions of another body, compressed on threads that serve no connection.

use crate::error::{ApiError, ApiResult};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Body;
use std::future::Future;
use std::io::Write;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::task::{JoinHandle, spawn_blocking};

/// The length from which a portion of a body is compressed, in bytes.
pub(super) const PORTION: usize = 256 * 1024;

/// A portion in compression: the compressed bytes, and the encoder, unless it was the last portion.
type Job = JoinHandle<(Bytes, Option<Encoder>)>;
type Encoder = GzEncoder<Vec<u8>>;

/// The body of a compressed response.
pub(crate) struct GzipBody<B> {
    plain: B,
    /// The pieces of the next portion.
    pieces: Vec<Bytes>,
    state: State,
}

enum State {
    Reading(Encoder),
    Compressing(Job),
    Ended,
}

impl<B: Body<Data = Bytes, Error = ApiError> + Unpin> GzipBody<B> {
    pub(super) fn new(plain: B) -> Self {
        let encoder = GzEncoder::new(Vec::new(), Compression::fast());
        GzipBody { plain, pieces: Vec::new(), state: State::Reading(encoder) }
    }

    /// The next part of the compressed body; `None` at the end.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<ApiResult<Bytes>>> {
        loop {
            match &mut self.state {
                State::Ended => return Poll::Ready(None),
                State::Reading(_) => match ready!(self.poll_portion(context)) {
                    Ok(is_last) => self.compress(is_last),
                    Err(refusal) => {
                        self.state = State::Ended;
                        return Poll::Ready(Some(Err(refusal)));
                    }
                },
                State::Compressing(job) => {
                    let compressed = ready!(Pin::new(job).poll(context));
                    let (bytes, encoder) = compressed.unwrap_or_else(|failed| resume_unwind(failed.into_panic()));
                    self.state = encoder.map_or(State::Ended, State::Reading);
                    if !bytes.is_empty() {
                        return Poll::Ready(Some(Ok(bytes)));
                    }
                }
            }
        }
    }

    pub(super) fn is_ended(&self) -> bool {
        matches!(self.state, State::Ended)
    }

    /// Gathers a portion; the result is whether it is the last one.
    fn poll_portion(&mut self, context: &mut Context<'_>) -> Poll<ApiResult<bool>> {
        while self.pieces.iter().map(Bytes::len).sum::<usize>() < PORTION {
            match ready!(Pin::new(&mut self.plain).poll_frame(context)).transpose()? {
                Some(frame) => self.pieces.extend(frame.into_data()),
                None => return Poll::Ready(Ok(true)),
            }
        }
        Poll::Ready(Ok(false))
    }

    fn compress(&mut self, is_last: bool) {
        let State::Reading(mut encoder) = std::mem::replace(&mut self.state, State::Ended) else { return };
        let pieces = std::mem::take(&mut self.pieces);
        let computation = move || {
            const MEMORY: &str = "memory takes every write";
            pieces.iter().try_for_each(|piece| encoder.write_all(piece)).expect(MEMORY);
            match is_last {
                true => (encoder.finish().expect(MEMORY).into(), None),
                false => (std::mem::take(encoder.get_mut()).into(), Some(encoder)),
            }
        };
        self.state = State::Compressing(spawn_blocking(computation));
    }
}
