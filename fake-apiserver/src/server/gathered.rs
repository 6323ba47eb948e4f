//! A connection whose small writes are gathered while other tasks are ready, and sent together.
//!
//! ```text
//!             write                flush                 nothing else is ready       all is written
//!   gathering ─────▶ gathering ───────────▶ pausing ───────────────────────▶ draining ─────────────▶ gathering
//! ```
//! HTTP/2 puts many watches on one connection. An event wakes them one after the other, and each flushes: without the pause
//! each watch costs a TLS record and a system call, with it all of them together cost one.

use crate::alarm::Alarm;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The most bytes that are gathered.
const BUFFER_BYTES: usize = 64 * 1024;

/// A stream with the bytes to be written to it.
pub(super) struct Gathered<S> {
    stream: S,
    buffer: Vec<u8>,
    /// The number of bytes of the buffer that are written.
    written: usize,
    state: State,
    /// The alarm that ends the pause.
    alarm: Alarm,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Gathering,
    Pausing,
    Draining,
}

impl<S: AsyncWrite + Unpin> Gathered<S> {
    pub(super) fn new(stream: S) -> Self {
        Gathered { stream, buffer: Vec::new(), written: 0, state: State::Gathering, alarm: Alarm::new(false) }
    }

    /// Completes once all tasks that are ready now have had their turn.
    fn poll_pause(&mut self, context: &Context<'_>) -> Poll<()> {
        self.alarm.wakes(context);
        if self.state == State::Gathering {
            self.state = State::Pausing;
            // It may have rung in an earlier pause that was given up.
            self.alarm.has_rung();
            let waker = self.alarm.waker();
            // The runtime keeps the waker, so the future can be dropped.
            let _pending = pin!(tokio::task::yield_now()).poll(&mut Context::from_waker(&waker));
        }
        if self.state == State::Pausing && !self.alarm.has_rung() {
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    /// Writes the gathered bytes.
    fn poll_drain(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.state = State::Draining;
        while self.written < self.buffer.len() {
            let rest = &self.buffer[self.written..];
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, rest))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.written += written;
        }
        self.buffer.clear();
        self.written = 0;
        self.state = State::Gathering;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Gathered<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[io::IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let length = slices.iter().map(|slice| slice.len()).sum::<usize>();
        if this.state == State::Draining || this.buffer.len() + length > BUFFER_BYTES {
            ready!(this.poll_drain(context))?;
        }
        if length > BUFFER_BYTES {
            return Pin::new(&mut this.stream).poll_write_vectored(context, slices);
        }
        slices.iter().for_each(|slice| this.buffer.extend_from_slice(slice));
        Poll::Ready(Ok(length))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.buffer.is_empty() {
            ready!(this.poll_pause(context));
            ready!(this.poll_drain(context))?;
        }
        Pin::new(&mut this.stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_drain(context))?;
        Pin::new(&mut this.stream).poll_shutdown(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Gathered<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;
    use tokio::task::yield_now;

    /// A stream that records each write to it.
    #[derive(Default)]
    struct Writes(Vec<Vec<u8>>);

    impl AsyncWrite for Writes {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            self.0.push(bytes.to_vec());
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn what_is_flushed_before_others_have_had_their_turn_is_written_at_once() {
        let mut stream = Gathered::new(Writes::default());
        for byte in [b"a", b"b", b"c"] {
            stream.write_all(byte).await.expect("a buffer takes it");
            let mut context = Context::from_waker(std::task::Waker::noop());
            assert!(Pin::new(&mut stream).poll_flush(&mut context).is_pending());
            assert!(stream.stream.0.is_empty());
        }
        yield_now().await;
        stream.flush().await.expect("nothing fails");
        assert_eq!(stream.stream.0, [b"abc"]);
        stream.write_all(b"d").await.expect("a buffer takes it");
        stream.flush().await.expect("the pause ends");
        assert_eq!(stream.stream.0, [&b"abc"[..], b"d"]);
    }

    #[tokio::test]
    async fn large_writes_follow_what_was_gathered() {
        let mut stream = Gathered::new(Writes::default());
        let (half, large) = (vec![1; BUFFER_BYTES / 2 + 1], vec![2; BUFFER_BYTES + 1]);
        for bytes in [&half, &half, &large] {
            stream.write_all(bytes).await.expect("nothing fails");
        }
        assert_eq!(stream.stream.0, [&half[..], &half, &large]);
        stream.write_all(b"e").await.expect("a buffer takes it");
        stream.shutdown().await.expect("nothing fails");
        assert_eq!(stream.stream.0.last().expect("it was written"), b"e");
    }
}
