//! A bound on the length of responses, which a client buffers, so that no server can fill its memory.
//!
//! client-go has no such bound. Lists come in pages of 500 objects, and the size of objects is limited by that of requests;
//! the bounds are far beyond both.

use bytes::Bytes;
use http::{Request, Response, Uri};
use hyper::body::{Body, Frame, SizeHint};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tower::{BoxError, Service};

/// The most bytes of a response.
const MAX_DOCUMENT_BYTES: usize = 128 << 20;
/// The most bytes of an event of a watch, whose response has no end.
const MAX_EVENT_BYTES: usize = 16 << 20;

/// A service whose responses end in an error if they are too long.
#[derive(Clone)]
pub(super) struct AnswerLimit<S> {
    service: S,
}

impl<S> AnswerLimit<S> {
    pub(super) fn new(service: S) -> Self {
        AnswerLimit { service }
    }
}

impl<S, A, B> Service<Request<A>> for AnswerLimit<S>
where
    S: Service<Request<A>, Response = Response<B>>,
    S::Future: Send + 'static,
    S::Error: 'static,
{
    type Response = Response<Limited<B>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        let limit = if is_watch(request.uri()) { Limit::Event } else { Limit::Document };
        let answer = self.service.call(request);
        Box::pin(async move { Ok(answer.await?.map(|body| Limited { body, limit, bytes: 0 })) })
    }
}

fn is_watch(uri: &Uri) -> bool {
    uri.query().is_some_and(|query| query.split('&').any(|parameter| parameter == "watch=true"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    Document,
    Event,
}

/// The body of a response, which ends in an error if it is too long.
pub(super) struct Limited<B> {
    body: B,
    limit: Limit,
    /// The number of bytes of the document, or of the current event, so far.
    bytes: usize,
}

impl<B> Limited<B> {
    /// Counts `bytes`; false if the limit is exceeded.
    fn count(&mut self, bytes: &[u8]) -> bool {
        let end = bytes.iter().rposition(|byte| *byte == b'\n').filter(|_| self.limit == Limit::Event);
        // Complete events are consumed at once.
        self.bytes = end.map_or(self.bytes + bytes.len(), |end| bytes.len() - end - 1);
        self.bytes <= if self.limit == Limit::Event { MAX_EVENT_BYTES } else { MAX_DOCUMENT_BYTES }
    }
}

impl<B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin> Body for Limited<B> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        let Some(frame) = ready!(Pin::new(&mut this.body).poll_frame(context)) else { return Poll::Ready(None) };
        let frame = frame.map_err(Into::into)?;
        if !frame.data_ref().is_none_or(|bytes| this.count(bytes)) {
            return Poll::Ready(Some(Err("the API server's answer is too long".into())));
        }
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limited(limit: Limit) -> Limited<()> {
        Limited { body: (), limit, bytes: 0 }
    }

    #[test]
    fn documents_are_counted_whole_and_watches_by_the_event() {
        let piece = [vec![b'a'; 1 << 20], vec![b'\n']].concat();
        let pieces = |limit| {
            let mut body = limited(limit);
            (0..200).take_while(|_| body.count(&piece)).count()
        };
        assert_eq!((pieces(Limit::Document), pieces(Limit::Event)), (127, 200));
        let mut body = limited(Limit::Event);
        assert_eq!((0..200).take_while(|_| body.count(&piece[1..1 << 20])).count(), 16);
    }

    #[test]
    fn a_watch_says_so() {
        for (uri, expected) in [
            ("/api/v1/pods?watch=true&resourceVersion=1", true),
            ("/api/v1/pods?a=watch=true", false),
            ("/api/v1/pods?labelSelector=watch%3Dtrue", false),
            ("/api/v1/watch", false),
        ] {
            assert_eq!(is_watch(&uri.parse().expect("a URI")), expected, "{uri}");
        }
    }
}
