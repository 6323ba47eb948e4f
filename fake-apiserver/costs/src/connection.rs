//! A connection of HTTP/1.1 that allocates nothing once it is open.

use anyhow::ensure;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

/// The most bytes of an answer.
const MOST: usize = 4 << 20;

/// A connection to the server, and what it answered last.
pub(crate) struct Connection {
    stream: TcpStream,
    answer: Vec<u8>,
    /// The bytes of `answer` that are filled.
    filled: usize,
}

impl Connection {
    /// Opens a connection.
    ///
    /// # Errors
    /// If the server cannot be reached.
    pub(crate) fn open(address: SocketAddr) -> anyhow::Result<Connection> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream, answer: vec![0; MOST], filled: 0 })
    }

    /// Sends a request, and returns the content of its answer.
    ///
    /// # Errors
    /// If the answer is a refusal, or the connection fails.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> anyhow::Result<&[u8]> {
        self.send(request)?;
        let head = self.head()?;
        let header = |name: &str| value(&self.answer[..head], name).map(str::to_owned);
        let end = match header("content-length") {
            Some(length) => head + length.parse::<usize>()?,
            None => {
                while !self.answer[..self.filled].ends_with(b"\r\n0\r\n\r\n") {
                    self.more()?;
                }
                self.filled
            }
        };
        while self.filled < end {
            self.more()?;
        }
        ensure!(self.answer.starts_with(b"HTTP/1.1 2"), "{}", String::from_utf8_lossy(&self.answer[..end]));
        Ok(&self.answer[head..end])
    }

    /// Begins a watch: its answer goes on.
    ///
    /// # Errors
    /// If it is refused, or the connection fails.
    pub(crate) fn watch(&mut self, request: &[u8]) -> anyhow::Result<()> {
        self.send(request)?;
        self.head()?;
        ensure!(self.answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&self.answer[..self.filled]));
        self.filled = 0;
        Ok(())
    }

    /// Reads the next event of a watch.
    ///
    /// # Errors
    /// If the connection fails.
    pub(crate) fn event(&mut self) -> anyhow::Result<()> {
        self.filled = 0;
        while !self.answer[..self.filled].ends_with(b"\n\r\n") {
            self.more()?;
        }
        Ok(())
    }

    fn send(&mut self, request: &[u8]) -> anyhow::Result<()> {
        self.filled = 0;
        Ok(self.stream.write_all(request)?)
    }

    /// Reads the head of an answer, and returns its length.
    fn head(&mut self) -> anyhow::Result<usize> {
        loop {
            self.more()?;
            if let Some(end) = self.answer[..self.filled].windows(4).position(|four| four == b"\r\n\r\n") {
                return Ok(end + 4);
            }
        }
    }

    fn more(&mut self) -> anyhow::Result<()> {
        let read = self.stream.read(&mut self.answer[self.filled..])?;
        ensure!(read > 0, "the server closed the connection, or its answer is too long");
        self.filled += read;
        Ok(())
    }
}

/// The value of a header.
fn value<'h>(head: &'h [u8], name: &str) -> Option<&'h str> {
    let head = std::str::from_utf8(head).ok()?;
    let mut lines = head.split("\r\n").filter_map(|line| line.split_once(": "));
    lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}
