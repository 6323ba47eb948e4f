//! JSON as Go encodes it: `<`, `>` and `&` escaped, and indented for `?pretty`.

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io;

/// The compact JSON of a document. Raw values are written as they are.
pub fn encode(document: &impl Serialize) -> Vec<u8> {
    let mut json = Vec::new();
    document
        .serialize(&mut Serializer::with_formatter(&mut json, EscapeHtml))
        .expect("memory takes every write, and documents have string keys only");
    json
}

/// A document without spaces, and with the escapes of [`encode`]: what becomes of the JSON that a `json.Marshaler` returns (`appendCompact`
/// of `encoding/json`).
pub fn compact(json: &[u8]) -> Vec<u8> {
    let mut compact = Vec::with_capacity(json.len());
    let (mut in_string, mut at) = (false, 0);
    while let Some(&byte) = json.get(at) {
        at += 1;
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' if !in_string => {}
            b'<' | b'>' | b'&' => compact.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            0xe2 if json[at..].starts_with(&[0x80, 0xa8]) || json[at..].starts_with(&[0x80, 0xa9]) => {
                compact.extend_from_slice(if json[at + 1] == 0xa8 { b"\\u2028" } else { b"\\u2029" });
                at += 2;
            }
            b'\\' if in_string => {
                compact.push(byte);
                compact.extend(json.get(at));
                at += 1;
            }
            byte => {
                in_string ^= byte == b'"';
                compact.push(byte);
            }
        }
    }
    compact
}

/// The JSON indented by two spaces: `json.Indent` of Go. Errors in the input are not detected.
pub fn indent(json: &[u8]) -> Vec<u8> {
    Indent::default().next(json)
}

/// The state of indenting a document, chunk by chunk.
#[derive(Debug, Clone, Default)]
pub struct Indent {
    depth: usize,
    in_string: bool,
    escaped: bool,
    previous: u8,
}

impl Indent {
    /// Indents the next chunk.
    pub fn next(&mut self, json: &[u8]) -> Vec<u8> {
        let mut indented = Vec::with_capacity(json.len() * 2);
        for &byte in json {
            if self.in_string {
                self.in_string = self.escaped || byte != b'"';
                self.escaped = byte == b'\\' && !self.escaped;
                indented.push(byte);
                continue;
            }
            if byte.is_ascii_whitespace() {
                continue;
            }
            let empty = matches!((self.previous, byte), (b'{', b'}') | (b'[', b']'));
            match byte {
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if !empty {
                        new_line(&mut indented, self.depth);
                    }
                }
                _ if matches!(self.previous, b'{' | b'[' | b',') => new_line(&mut indented, self.depth),
                _ => {}
            }
            indented.push(byte);
            match byte {
                b'{' | b'[' => self.depth += 1,
                b':' => indented.push(b' '),
                b'"' => self.in_string = true,
                _ => {}
            }
            self.previous = byte;
        }
        indented
    }
}

fn new_line(indented: &mut Vec<u8>, depth: usize) {
    indented.push(b'\n');
    indented.resize(indented.len() + 2 * depth, b' ');
}

struct EscapeHtml;

impl Formatter for EscapeHtml {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}']) {
            let (plain, special) = rest.split_at(at);
            let mut characters = special.chars();
            let code = characters.next().map(u32::from).unwrap_or_default();
            write!(writer, "{plain}\\u{code:04x}")?;
            rest = characters.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    #[test]
    fn escapes_as_go_does() {
        let text = String::from_utf8(encode(&json!({"a<b": "<none>\n&\u{2028}ü"}))).unwrap();
        assert_eq!(text, r#"{"a\u003cb":"\u003cnone\u003e\n\u0026\u2028ü"}"#);
    }

    #[test]
    fn compacts_as_go_does() {
        let json = "{ \"a<\" :\t[1 , \"b \\\" & \u{2028}ü\" ]\n}";
        let expected = "{\"a\\u003c\":[1,\"b \\\" \\u0026 \\u2028ü\"]}";
        assert_eq!(String::from_utf8(compact(json.as_bytes())).unwrap(), expected);
    }

    #[test]
    fn indents_as_go_does() {
        let json = br#"{"a":{},"b":[],"c":[1,{"d":"x{,\"}:\\"}],"e": null}"#;
        let expected = "{\n  \"a\": {},\n  \"b\": [],\n  \"c\": [\n    1,\n    {\n      \"d\": \"x{,\\\"}:\\\\\"\n    }\n  ],\n  \"e\": null\n}";
        assert_eq!(String::from_utf8(indent(json)).unwrap(), expected);
        assert_eq!(indent(b"{}"), b"{}");
        let mut pieces = Indent::default();
        let in_pieces: Vec<u8> = json.chunks(3).flat_map(|piece| pieces.next(piece)).collect();
        assert_eq!(String::from_utf8(in_pieces).unwrap(), expected);
    }
}
