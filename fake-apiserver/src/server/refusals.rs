//! Bodies for the error responses that hyper itself sends for heads that it cannot read; hyper sends them without.
//!
//! Their texts are those of Go's server (`badRequestError` and `errTooLarge` in `conn.serve`, Go 1.26 `net/http`). Go has no error for a
//! long target, as it reads any that fits into a head; so that one is a Status.

use crate::error::ApiError;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The most bytes of a target: the `http` crate keeps lengths in 16 bits.
const MAX_TARGET_BYTES: usize = 65_534;
/// The headers that hyper writes after the status line of such a refusal, before the date.
const EMPTY: &[u8] = b"\r\nconnection: close\r\ncontent-length: 0\r\n";

/// A stream that adds bodies to hyper's error responses.
pub(super) struct Refusals<S> {
    stream: S,
    /// The unwritten rest of an error response. Nothing else is written after it.
    refusal: Vec<u8>,
}

impl<S> Refusals<S> {
    pub(super) fn new(stream: S) -> Self {
        Refusals { stream, refusal: Vec::new() }
    }
}

/// The error response with a body, if hyper has `written` one without. No body that the server sends begins like one.
fn refusal(written: &[u8]) -> Option<Vec<u8>> {
    let rest = written.strip_prefix(b"HTTP/1.1 4")?;
    let (status, headers) = rest.split_at_checked(rest.iter().position(|&byte| byte == b'\r')?)?;
    if !headers.starts_with(EMPTY) || !headers.ends_with(b"\r\n\r\n") {
        return None;
    }
    let (status, kind, content) = match status {
        b"00 Bad Request" => ("400 Bad Request", "text/plain; charset=utf-8", "400 Bad Request".to_owned()),
        b"14 URI Too Long" => ("414 URI Too Long", "application/json", target_too_long()),
        b"31 Request Header Fields Too Large" => {
            let text = "431 Request Header Fields Too Large";
            (text, "text/plain; charset=utf-8", text.to_owned())
        }
        _ => return None,
    };
    let length = content.len();
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n");
    Some(format!("{head}\r\n{content}").into_bytes())
}

fn target_too_long() -> String {
    let error = ApiError::target_too_long(MAX_TARGET_BYTES);
    let mut content = serde_json::to_string(error.status()).expect("a status is JSON");
    content.push('\n');
    content
}

impl<S: AsyncWrite + Unpin> Refusals<S> {
    /// Writes the rest of an error response.
    fn poll_refusal(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.refusal.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, &self.refusal))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.refusal.drain(..written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Refusals<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if let Some(refusal) = refusal(bytes) {
            this.refusal = refusal;
            return Poll::Ready(Ok(bytes.len()));
        }
        Pin::new(&mut this.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // Hyper writes a head without contents as one slice.
        match slices {
            [head] => self.poll_write(context, head),
            _ => Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_refusal(context))?;
        Pin::new(&mut this.stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_refusal(context))?;
        Pin::new(&mut this.stream).poll_shutdown(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Refusals<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}
