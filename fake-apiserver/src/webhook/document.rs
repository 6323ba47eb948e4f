//! A document that is posted, in parts, which other documents may share.

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A document, or nothing at all.
#[derive(Debug, Clone, Default)]
pub(crate) struct Document(VecDeque<Bytes>);

impl FromIterator<Bytes> for Document {
    fn from_iter<P: IntoIterator<Item = Bytes>>(parts: P) -> Document {
        Document(parts.into_iter().filter(|part| !part.is_empty()).collect())
    }
}

impl Body for Document {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Poll::Ready(self.0.pop_front().map(|part| Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.iter().map(|part| part.len() as u64).sum())
    }
}
