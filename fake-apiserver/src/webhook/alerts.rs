//! A TLS stream that keeps the alert by which the other end refused it.
//!
//! In TLS 1.3 a client has sent its first request before the server says that it does not accept the client's certificate. hyper may notice
//! first that the connection has ended, or that it cannot be written to any more, and then does not say why. Go's client does.

use rustls::AlertDescription;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The place for the alert of a connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Alert(Arc<OnceLock<AlertDescription>>);

impl Alert {
    /// The alert, if one was received.
    pub(super) fn received(&self) -> Option<AlertDescription> {
        self.0.get().copied()
    }

    fn notice(&self, error: &io::Error) {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        if let Some(rustls::Error::AlertReceived(alert)) = inner {
            self.0.get_or_init(|| *alert);
        }
    }
}

/// A stream, and the place for its alert.
pub(super) struct Alerting<S> {
    stream: S,
    alert: Alert,
}

impl<S: AsyncRead + Unpin> Alerting<S> {
    pub(super) fn new(stream: S, alert: Alert) -> Self {
        Alerting { stream, alert }
    }

    /// The error of a write, after a look for the alert: it precedes the end of the connection, so that it is here if that is.
    fn explained(&mut self, context: &mut Context<'_>, error: io::Error) -> io::Error {
        let mut byte = [0];
        let read = Pin::new(&mut self.stream).poll_read(context, &mut ReadBuf::new(&mut byte));
        if let Poll::Ready(Err(why)) = read {
            self.alert.notice(&why);
        }
        error
    }

    /// Writes by that function.
    fn write<T>(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let written = ready!(write(Pin::new(&mut self.stream), context));
        Poll::Ready(written.map_err(|error| self.explained(context, error)))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Alerting<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let read = ready!(Pin::new(&mut this.stream).poll_read(context, buffer));
        Poll::Ready(read.inspect_err(|error| this.alert.notice(error)))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Alerting<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().write(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().write(context, S::poll_flush)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().write(context, S::poll_shutdown)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().write(context, |stream, context| stream.poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
