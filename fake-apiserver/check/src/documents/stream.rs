//! Streams: texts with several documents, in YAML or JSON.
//!
//! Follows `YAMLOrJSONDecoder` and `YAMLReader` of `pkg/util/yaml/decoder.go` (k8s.io/apimachinery v0.37.1), but goes on behind a document that
//! cannot be read.

use machinery::deadline::Deadline;
use machinery::yaml;
use serde::de::IgnoredAny;
use tree::Value;

/// The line between documents begins with this.
const SEPARATOR: &[u8] = b"---";

/// The text of one document.
pub(super) struct Part<'t> {
    pub(super) text: &'t [u8],
    /// The number of lines before it.
    pub(super) before: usize,
    /// Whether it is JSON, which has other rules than YAML.
    is_json: bool,
    /// The reason why it is none.
    pub(super) refusal: Option<String>,
}

impl Part<'_> {
    /// The value of the document; `null` if it has none.
    ///
    /// # Errors
    /// The line, from 1, and the error.
    pub(super) fn value(&self) -> Result<Value, (usize, String)> {
        let read = yaml::parse(self.text, &Deadline::default());
        if self.is_json {
            // Keys are found twice by the reader of YAML only.
            let repeated = read.ok().and_then(|document| document.repeated.into_iter().next());
            if let Some(repeated) = repeated {
                return Err((1, without_line(&repeated).to_owned()));
            }
            let value = std::str::from_utf8(self.text).map_err(|why| (1, why.to_string()))?;
            return value.parse().map_err(|why: serde_json::Error| (why.line(), why.to_string()));
        }
        let document = read.map_err(|why| self.placed(&why))?;
        match document.repeated.first() {
            Some(repeated) => Err(self.placed(&format!("yaml: {repeated}"))),
            None => Ok(document.value),
        }
    }

    /// The line, from 1, where the value begins: the first that is neither empty nor a comment.
    pub(super) fn first_line(&self) -> usize {
        let lines = self.text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_start);
        let begin = lines.enumerate().find(|(_, line)| !line.is_empty() && !line.starts_with(b"#"));
        begin.map_or(1, |(index, _)| index + 1)
    }

    /// An error of the reader of YAML, with the line in the whole text instead of that in the document.
    fn placed(&self, why: &str) -> (usize, String) {
        let found = why.strip_prefix("yaml: line ").and_then(|rest| rest.split_once(": "));
        match found.and_then(|(line, words)| Some((line.parse::<usize>().ok()?, words))) {
            Some((line, words)) => (line, format!("yaml: line {}: {words}", self.before + line)),
            None => (self.first_line(), why.to_owned()),
        }
    }
}

fn without_line(finding: &str) -> &str {
    finding.split_once(": ").filter(|(line, _)| line.starts_with("line ")).map_or(finding, |(_, words)| words)
}

/// The documents of a text.
pub(super) fn parts(text: &[u8]) -> Vec<Part<'_>> {
    match text.trim_ascii_start().starts_with(b"{") {
        true => json_parts(text),
        false => yaml_parts(text, 0),
    }
}

/// The documents of a text that begins as JSON does. What cannot be read as JSON behind the first one, or from the beginning, may be YAML.
fn json_parts(text: &[u8]) -> Vec<Part<'_>> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    let (mut parts, mut begin) = (Vec::new(), 0);
    while let Some(value) = values.next() {
        let end = values.byte_offset();
        if let Err(why) = value {
            match parts.len() {
                0 => return yaml_parts(text, 0),
                1 => parts.extend(yaml_parts(behind_line(&text[begin..]), lines(&text[..begin]) + 1)),
                _ => parts.push(Part {
                    refusal: Some(why.to_string()),
                    before: why.line() - 1,
                    ..json(text, begin, end)
                }),
            }
            return parts;
        }
        parts.push(json(text, begin, end));
        begin = end;
    }
    parts
}

/// The document between two places, without the space before it.
fn json(text: &[u8], begin: usize, end: usize) -> Part<'_> {
    let own = text[begin..end].trim_ascii_start();
    Part { text: own, before: lines(&text[..end - own.len()]), is_json: true, refusal: None }
}

/// The text behind the first line, which is empty.
fn behind_line(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    &text[end..]
}

fn lines(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte == b'\n').count()
}

/// The documents of a text in YAML, before which there are some lines.
fn yaml_parts(text: &[u8], before: usize) -> Vec<Part<'_>> {
    let part = |text, before, refusal| Part { text, before, is_json: false, refusal };
    let (mut parts, mut begin, mut at, mut first) = (Vec::new(), 0, 0, before);
    for (index, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let end = at + line.len();
        if let Some(rest) = line.strip_prefix(SEPARATOR) {
            parts.push(part(&text[begin..at], first, None));
            let rest = String::from_utf8_lossy(rest);
            let rest = rest.trim();
            // Only comments may follow.
            if !rest.is_empty() && !rest.starts_with('#') {
                let why = format!("invalid Yaml document separator: {rest}");
                parts.push(part(line, before + index, Some(why)));
            }
            (begin, first) = (end, before + index + 1);
        }
        at = end;
    }
    parts.push(part(&text[begin..], first, None));
    parts.retain(|part| !part.text.is_empty());
    parts
}
