//! Answers in short: `200`, `400 BadRequest closed`, `2x 200, goaway ENHANCE_YOUR_CALM`.
//!
//! A number is the status code of an answer, with the reason if its body is a `Status`; then comes the end of the connection:
//! `closed` by the server, or `open` if nothing more came within the time.

use serde_json::Value;
use std::collections::BTreeMap;

/// The names of HTTP/2's error codes.
const CODES: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];

/// The name of an error of HTTP/2.
pub fn error_name(code: u32) -> String {
    let name = usize::try_from(code).ok().and_then(|code| CODES.get(code));
    name.map_or_else(|| code.to_string(), ToString::to_string)
}

/// The most bytes of a body that are kept to read its reason.
const MAX_STATUS: usize = 64 * 1024;

/// The status code, and the reason if the body is a `Status`.
pub fn described(code: u16, body: &[u8]) -> String {
    let status: Value = serde_json::from_slice(body).unwrap_or_default();
    let is_status = code >= 400 && status["kind"] == "Status";
    match status["reason"].as_str().filter(|_| is_status) {
        Some(reason) => format!("{code} {reason}"),
        None => code.to_string(),
    }
}

/// The texts in order, equal ones counted: `2x 200, 404 NotFound`.
pub fn tally(texts: impl IntoIterator<Item = String>) -> String {
    let mut counts = BTreeMap::<String, usize>::new();
    for text in texts {
        *counts.entry(text).or_default() += 1;
    }
    let shown = counts.into_iter().map(|(text, count)| if count == 1 { text } else { format!("{count}x {text}") });
    shown.collect::<Vec<_>>().join(", ")
}

/// An incremental parser of HTTP/1.1 answers.
#[derive(Default)]
pub struct Reader {
    buffer: Vec<u8>,
    answers: Vec<String>,
    rest: Rest,
    code: u16,
    body: Vec<u8>,
}

/// The next part of the answer that is being read.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Rest {
    #[default]
    Head,
    Length(usize),
    ChunkSize,
    Chunk(usize),
    /// Lines up to an empty one.
    Trailers,
    ToTheEnd,
    Garbage,
}

impl Reader {
    /// Parses more bytes.
    pub fn take(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
        while self.step() {}
    }

    /// The number of complete answers, without informational ones (100).
    pub fn finished(&self) -> usize {
        self.answers.iter().filter(|answer| *answer != "100").count()
    }

    /// All answers; an incomplete one ends in `...`.
    pub fn end(mut self) -> Vec<String> {
        match self.rest {
            Rest::ToTheEnd => self.finish(),
            Rest::Garbage => self.answers.push("garbage".to_owned()),
            Rest::Head if self.buffer.is_empty() => {}
            Rest::Head => self.answers.push("garbage".to_owned()),
            _ => self.answers.push(format!("{}...", self.code)),
        }
        self.answers
    }

    /// Parses the next part; false if it is not complete yet.
    fn step(&mut self) -> bool {
        match self.rest {
            Rest::Garbage => self.buffer.clear(),
            Rest::ToTheEnd => {
                let all = self.buffer.len();
                self.body(all);
            }
            Rest::Head => return self.head(),
            Rest::Length(length) => {
                let taken = self.body(length);
                match length - taken {
                    0 => self.finish(),
                    left => self.rest = Rest::Length(left),
                }
                return taken > 0;
            }
            Rest::ChunkSize => {
                let Some(line) = self.line() else { return false };
                let size = line.split(';').next().and_then(|size| usize::from_str_radix(size.trim(), 16).ok());
                self.rest = match size {
                    Some(0) => Rest::Trailers,
                    Some(size) => Rest::Chunk(size + 2),
                    None => Rest::Garbage,
                };
                return true;
            }
            Rest::Chunk(length) => {
                let taken = self.body(length);
                self.rest = if taken == length { Rest::ChunkSize } else { Rest::Chunk(length - taken) };
                return taken > 0;
            }
            Rest::Trailers => {
                let Some(line) = self.line() else { return false };
                if line.is_empty() {
                    self.finish();
                }
                return true;
            }
        }
        false
    }

    /// Parses a head.
    fn head(&mut self) -> bool {
        if self.buffer.len() >= 5 && !self.buffer.starts_with(b"HTTP/") {
            self.rest = Rest::Garbage;
            return true;
        }
        let Some(end) = self.buffer.windows(4).position(|end| end == b"\r\n\r\n") else { return false };
        let head = String::from_utf8_lossy(&self.buffer[..end]).to_ascii_lowercase();
        self.buffer.drain(..end + 4);
        let mut lines = head.lines();
        let code = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let headers: BTreeMap<&str, &str> =
            lines.filter_map(|line| line.split_once(':')).map(|(name, value)| (name, value.trim())).collect();
        self.code = code.unwrap_or_default();
        let length = headers.get("content-length").and_then(|length| length.parse().ok());
        match (self.code, headers.get("transfer-encoding"), length) {
            (100..=199 | 204 | 304, ..) | (_, None, Some(0)) => self.finish(),
            (_, Some(_), _) => self.rest = Rest::ChunkSize,
            (_, None, Some(length)) => self.rest = Rest::Length(length),
            (_, None, None) => self.rest = Rest::ToTheEnd,
        }
        true
    }

    fn line(&mut self) -> Option<String> {
        let end = self.buffer.windows(2).position(|end| end == b"\r\n")?;
        let line = String::from_utf8_lossy(&self.buffer[..end]).into_owned();
        self.buffer.drain(..end + 2);
        Some(line)
    }

    /// Takes up to `length` bytes of a body.
    fn body(&mut self, length: usize) -> usize {
        let taken: Vec<u8> = self.buffer.drain(..length.min(self.buffer.len())).collect();
        let room = MAX_STATUS.saturating_sub(self.body.len()).min(taken.len());
        self.body.extend_from_slice(&taken[..room]);
        taken.len()
    }

    fn finish(&mut self) {
        // The line ends of chunks are kept; within JSON they are harmless, and at its end they are trimmed.
        let body = self.body.trim_ascii_end();
        self.answers.push(described(self.code, body));
        self.body.clear();
        self.rest = Rest::Head;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_in_pieces_of_any_length() {
        let status = r#"{"kind":"Status","reason":"NotFound"}"#;
        let text = format!(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: {}\r\n\r\n{status}\
             HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\n\r\n\r\n0\r\n\r\n\
             HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nno",
            status.len()
        );
        for size in [1, 2, 7, text.len()] {
            let mut reader = Reader::default();
            text.as_bytes().chunks(size).for_each(|piece| reader.take(piece));
            assert_eq!(reader.finished(), 2);
            assert_eq!(reader.end(), ["100", "404 NotFound", "200", "400"], "{size}");
        }
    }

    #[test]
    fn what_is_not_whole_or_no_answer_is_said_to_be_so() {
        for (text, expected) in [
            ("", &[][..]),
            ("\x15\x03\x01\0\x02", &["garbage"]),
            ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", &["200..."]),
            ("HTTP/1.1 200", &["garbage"]),
        ] {
            let mut reader = Reader::default();
            reader.take(text.as_bytes());
            assert_eq!(reader.end(), expected, "{text:?}");
        }
    }

    #[test]
    fn equal_texts_are_counted() {
        assert_eq!(tally(["b", "a", "b"].map(str::to_owned)), "a, 2x b");
    }
}
