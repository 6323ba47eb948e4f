//! HTTP/2 frames, as data, and their bytes.
//!
//! ```toml
//! { request = "GET /api", fields = [["x", "y"]], end = false }     # HEADERS; opens the next stream
//! { fields = [[":method", "GET"]], end-headers = false }           # the same, with nothing added
//! { continuation = [["x", "y"]], end-headers = true }
//! { data = "text", end = true }
//! { reset = 8 } { ping = "12345678" } { settings = [[4, 0]] } { window = 65535 } { priority = 3 } { go-away = 0 }
//! { type = 1, flags = 4, payload = [{ hex = "82" }] }
//! { times = 1000, frames = [{ request = "GET /" }, { reset = 8 }] }
//! ```
//!
//! Frames belong to the stream opened last, unless they have, say, `stream = 7`.

use super::pieces::{Names, Text};
use super::requests::Made;
use anyhow::{Context as _, Result};
use serde::Deserialize;

/// A frame, or several.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Frame {
    times: Option<usize>,
    frames: Vec<Frame>,
    stream: Option<u32>,
    end: Option<bool>,
    end_headers: Option<bool>,
    request: Option<Text>,
    fields: Vec<(Text, Text)>,
    continuation: Option<Vec<(Text, Text)>>,
    data: Option<Text>,
    reset: Option<u32>,
    ping: Option<String>,
    settings: Option<Vec<(u16, u32)>>,
    window: Option<u32>,
    priority: Option<u32>,
    go_away: Option<u32>,
    r#type: Option<u8>,
    flags: u8,
    payload: Option<Text>,
}

/// The types of frames.
pub mod kind {
    /// DATA.
    pub const DATA: u8 = 0;
    /// HEADERS.
    pub const HEADERS: u8 = 1;
    /// PRIORITY.
    pub const PRIORITY: u8 = 2;
    /// RST_STREAM.
    pub const RST_STREAM: u8 = 3;
    /// SETTINGS.
    pub const SETTINGS: u8 = 4;
    /// PING.
    pub const PING: u8 = 6;
    /// GOAWAY.
    pub const GOAWAY: u8 = 7;
    /// WINDOW_UPDATE.
    pub const WINDOW_UPDATE: u8 = 8;
    /// CONTINUATION.
    pub const CONTINUATION: u8 = 9;
}

/// The flag of the last frame of a stream, and of an acknowledgement.
pub const END_STREAM: u8 = 1;
/// The flag of the last frame of a head.
pub const END_HEADERS: u8 = 4;
/// The preface of a client.
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The usual settings: no table for HPACK, no pushes, and the largest window for each stream.
const SETTINGS: [(u16, u32); 3] = [(1, 0), (2, 0), (4, 0x7fff_ffff)];
/// The largest frame that all peers accept, in bytes.
const MAX_FRAME: usize = 16_384;

/// A writer of the bytes of a connection.
pub struct Writer<'a> {
    names: &'a Names,
    /// The headers that requests have by default.
    usual: Vec<(String, String)>,
    bytes: Vec<u8>,
    stream: u32,
    opened: usize,
}

/// The bytes of all frames, and the number of streams that they open.
pub struct Script {
    /// The bytes, preface included.
    pub bytes: Vec<u8>,
    /// The number of streams.
    pub streams: usize,
}

/// The bytes of `frames`. Unless the first one is SETTINGS, the usual settings and a large window precede it.
///
/// # Errors
/// If a text has a name without a value.
pub fn script(frames: &[Frame], usual: Vec<(String, String)>, names: &Names) -> Result<Script> {
    let mut writer = Writer { names, usual, bytes: PREFACE.to_vec(), stream: 0, opened: 0 };
    let first = frames.first();
    if first.is_none_or(|frame| frame.settings.is_none() && frame.r#type != Some(kind::SETTINGS)) {
        writer.settings(&SETTINGS);
        writer.frame(kind::WINDOW_UPDATE, 0, 0, &(0x7fff_ffff_u32 - 65_535).to_be_bytes());
    }
    writer.write_all(frames)?;
    Ok(Script { bytes: writer.bytes, streams: writer.opened })
}

/// The bytes of requests, each on a stream of its own.
///
/// # Errors
/// If a request has no target.
pub fn requests(requests: Vec<Made>, usual: Vec<(String, String)>, names: &Names) -> Result<Script> {
    let Script { bytes, .. } = script(&[], Vec::new(), names)?;
    let mut writer = Writer { names, usual, bytes, stream: 0, opened: 0 };
    for Made { line, headers, body } in requests {
        writer.open(None);
        let mut block = writer.request(&line)?;
        headers.iter().for_each(|(name, value)| literal(&mut block, &name.to_ascii_lowercase(), value));
        writer.head(END_HEADERS | if body.is_some() { 0 } else { END_STREAM }, &block);
        if let Some(body) = body {
            writer.data(&body, writer.stream, END_STREAM);
        }
    }
    Ok(Script { bytes: writer.bytes, streams: writer.opened })
}

/// The bytes of a frame.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX).to_be_bytes();
    let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
    [&head, payload].concat()
}

impl Writer<'_> {
    fn write_all(&mut self, frames: &[Frame]) -> Result<()> {
        frames.iter().try_for_each(|frame| self.write(frame))
    }

    fn write(&mut self, frame: &Frame) -> Result<()> {
        if let Some(times) = frame.times {
            return (0..times).try_for_each(|_| self.write_all(&frame.frames));
        }
        let end = |usual: bool| if frame.end.unwrap_or(usual) { END_STREAM } else { 0 };
        let end_headers = if frame.end_headers.unwrap_or(true) { END_HEADERS } else { 0 };
        let current = frame.stream.unwrap_or(self.stream);
        if let Some(kind) = frame.r#type {
            let payload = frame.payload.as_ref().map(|text| text.bytes(self.names)).transpose()?;
            self.frame(kind, frame.flags, frame.stream.unwrap_or_default(), &payload.unwrap_or_default());
        } else if frame.request.is_some() || !frame.fields.is_empty() {
            let mut block = match &frame.request {
                Some(line) => self.request(&line.text(self.names)?)?,
                None => Vec::new(),
            };
            self.fields(&mut block, &frame.fields)?;
            self.open(frame.stream);
            self.head(end(true) | end_headers, &block);
        } else if let Some(fields) = &frame.continuation {
            let mut block = Vec::new();
            self.fields(&mut block, fields)?;
            self.frame(kind::CONTINUATION, end_headers, current, &block);
        } else if let Some(data) = &frame.data {
            self.data(&data.bytes(self.names)?, current, end(true));
        } else if let Some(code) = frame.reset {
            self.frame(kind::RST_STREAM, 0, current, &code.to_be_bytes());
        } else if let Some(text) = &frame.ping {
            self.frame(kind::PING, frame.flags, 0, text.as_bytes());
        } else if let Some(settings) = &frame.settings {
            self.settings(settings);
        } else if let Some(by) = frame.window {
            self.frame(kind::WINDOW_UPDATE, 0, current, &by.to_be_bytes());
        } else if let Some(parent) = frame.priority {
            self.frame(kind::PRIORITY, 0, current, &[&parent.to_be_bytes()[..], &[15]].concat());
        } else if let Some(code) = frame.go_away {
            self.frame(kind::GOAWAY, 0, 0, &[[0; 4], code.to_be_bytes()].concat());
        }
        Ok(())
    }

    /// The head of a request.
    fn request(&self, line: &str) -> Result<Vec<u8>> {
        let (method, path) = line.split_once(' ').context("a request has a method and a target")?;
        let mut block = Vec::new();
        let pseudo = [(":method", method), (":scheme", "https"), (":authority", &self.names["host"]), (":path", path)];
        let usual = self.usual.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        pseudo
            .into_iter()
            .chain(usual)
            .for_each(|(name, value)| literal(&mut block, name.as_bytes(), value.as_bytes()));
        Ok(block)
    }

    /// Opens `stream`, or the next one.
    fn open(&mut self, stream: Option<u32>) {
        self.stream = stream.unwrap_or(if self.stream == 0 { 1 } else { self.stream + 2 });
        self.opened += 1;
    }

    /// Writes a body; the last of its frames has `flags`.
    fn data(&mut self, data: &[u8], stream: u32, flags: u8) {
        let count = data.len().div_ceil(MAX_FRAME).max(1);
        for index in 0..count {
            let part = &data[index * MAX_FRAME..data.len().min((index + 1) * MAX_FRAME)];
            self.frame(kind::DATA, if index + 1 == count { flags } else { 0 }, stream, part);
        }
    }

    /// Writes a head, with CONTINUATION frames if it is long.
    fn head(&mut self, flags: u8, block: &[u8]) {
        let (first, rest) = block.split_at(block.len().min(MAX_FRAME));
        let mut rest = rest.chunks(MAX_FRAME).peekable();
        let first_flags = if rest.peek().is_none() { flags } else { flags & !END_HEADERS };
        self.frame(kind::HEADERS, first_flags, self.stream, first);
        while let Some(part) = rest.next() {
            let last = if rest.peek().is_none() { flags & END_HEADERS } else { 0 };
            self.frame(kind::CONTINUATION, last, self.stream, part);
        }
    }

    fn fields(&self, block: &mut Vec<u8>, fields: &[(Text, Text)]) -> Result<()> {
        for (name, value) in fields {
            literal(block, &name.bytes(self.names)?, &value.bytes(self.names)?);
        }
        Ok(())
    }

    fn settings(&mut self, settings: &[(u16, u32)]) {
        let payload: Vec<u8> =
            settings.iter().flat_map(|(id, value)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat()).collect();
        self.frame(kind::SETTINGS, 0, 0, &payload);
    }

    fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        self.bytes.extend(frame(kind, flags, stream, payload));
    }
}

/// Writes a literal HPACK field without indexing.
fn literal(block: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    block.push(0);
    for text in [name, value] {
        length(block, text.len());
        block.extend_from_slice(text);
    }
}

/// Writes an HPACK integer with a prefix of 7 bits (RFC 7541, 5.1).
fn length(block: &mut Vec<u8>, length: usize) {
    let Some(mut rest) = length.checked_sub(127) else { return block.push(u8::try_from(length).unwrap_or(0)) };
    block.push(127);
    while rest >= 128 {
        block.push(u8::try_from(rest % 128).unwrap_or(0) | 128);
        rest /= 128;
    }
    block.push(u8::try_from(rest).unwrap_or(0));
}

/// The status code at the start of a head, if it can be decoded without a dynamic table.
pub fn status(block: &[u8]) -> Option<u16> {
    // A change of the table's size may come first.
    let start = block.iter().position(|byte| byte & 0xe0 != 0x20)?;
    let block = &block[start..];
    let indexed = |index: u8| Some([200, 204, 206, 304, 400, 404, 500][usize::from(index.checked_sub(8)?.min(6))]);
    match block[0] {
        field @ 0x88..=0x8e => indexed(field & 0x7f),
        0x08..=0x0e | 0x18..=0x1e | 0x48..=0x4e => {
            let length = usize::from(block.get(1)? & 0x7f);
            let value = block.get(2..2 + length)?;
            if block[1] & 0x80 == 0 { std::str::from_utf8(value).ok()?.parse().ok() } else { huffman_digits(value) }
        }
        _ => None,
    }
}

/// Three digits in HPACK's Huffman code: 0 to 2 have 5 bits, the others 6.
fn huffman_digits(bytes: &[u8]) -> Option<u16> {
    let bits: Vec<u8> = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).collect();
    let value = |bits: &[u8]| bits.iter().fold(0_u16, |value, bit| value * 2 + u16::from(*bit));
    let (mut at, mut number) = (0, 0);
    for _ in 0..3 {
        let short = value(bits.get(at..at + 5)?);
        let (digit, length) = if short < 3 { (short, 5) } else { (value(bits.get(at..at + 6)?).checked_sub(22)?, 6) };
        if digit > 9 {
            return None;
        }
        number = number * 10 + digit;
        at += length;
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_read() {
        for (block, expected) in [
            (&[0x88][..], Some(200)),
            (&[0x20, 0x8d, 0xff], Some(404)),
            (&[0x08, 3, b'4', b'2', b'9'], Some(429)),
            // 413 is 011010 00001 011001, and then ones.
            (&[0x48, 0x83, 0b0110_1000, 0b0010_1100, 0b1111_1111], Some(413)),
            (&[0x40, 0], None),
            (&[], None),
        ] {
            assert_eq!(status(block), expected, "{block:x?}");
        }
    }

    #[test]
    fn lengths_are_those_of_the_rfc() {
        let bytes = |number| {
            let mut block = Vec::new();
            length(&mut block, number);
            block
        };
        assert_eq!((bytes(5), bytes(127), bytes(1464)), (vec![5], vec![127, 0], vec![127, 0b1011_1001, 10]));
    }

    #[test]
    fn frames_open_streams_and_follow_them() {
        let frames = "[{ times = 2, frames = [{ request = 'GET /' }, { reset = 8 }] }, { data = 'x', stream = 9 }]";
        #[derive(Deserialize)]
        struct Holder {
            frames: Vec<Frame>,
        }
        let Holder { frames } = toml::from_str(&format!("frames = {frames}")).unwrap();
        let names = Names::from([("host", "h".to_owned())]);
        let script = script(&frames, Vec::new(), &names).unwrap();
        assert_eq!(script.streams, 2);
        let mut rest = &script.bytes[PREFACE.len()..];
        let mut seen = Vec::new();
        while !rest.is_empty() {
            let length = usize::from(rest[1]) * 256 + usize::from(rest[2]);
            seen.push((rest[3], rest[8]));
            rest = &rest[9 + length..];
        }
        assert_eq!(seen, [(4, 0), (8, 0), (1, 1), (3, 1), (1, 3), (3, 3), (0, 9)]);
    }
}
