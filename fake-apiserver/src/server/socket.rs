//! The socket of a connection, which a fault may have reset when it is closed.

use socket2::SockRef;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// A socket that is reset when it is dropped, if the flag is set by then.
pub(super) struct Socket {
    stream: TcpStream,
    resets: Arc<AtomicBool>,
}

impl Socket {
    /// The socket, and its flag.
    pub(super) fn new(stream: TcpStream) -> (Socket, Arc<AtomicBool>) {
        let resets = Arc::new(AtomicBool::new(false));
        (Socket { stream, resets: resets.clone() }, resets)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.resets.load(Ordering::Relaxed) {
            // If it cannot be reset it is closed all the same.
            SockRef::from(&self.stream).set_linger(Some(Duration::ZERO)).ok();
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
