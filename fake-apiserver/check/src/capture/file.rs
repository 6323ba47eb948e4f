//! The file of a capture: lines of JSON.
//!
//! ```text
//!   {"fakeApiserverCapture":1,"server":"v1.37.1"}
//!   {…an object…}                                                  any number of them
//!   {"end":{"objects":1,"missing":[{"resource":"secrets","why":"…"}]}}
//! ```

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

/// The format that is written, and the only one that is read.
const FORMAT: u64 = 1;

/// A capture cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub enum CaptureError {
    /// The file cannot be read.
    File(String),
    /// The file is something else.
    Other,
    /// Another version of the program wrote it.
    Format(u64),
    /// A line is none of a capture.
    Line(usize, String),
    /// The last line is missing.
    Cut {
        /// The number of whole objects.
        objects: usize,
    },
    /// There are not as many objects as there were written.
    Count {
        /// The number of objects that were written.
        written: usize,
        /// The number of objects that are there.
        found: usize,
    },
}

impl std::fmt::Display for CaptureError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CaptureError::File(why) => f.write_str(why),
            CaptureError::Other => f.write_str("it is no capture: `fake-apiserver capture` makes one"),
            CaptureError::Format(format) => write!(
                f,
                "the capture has the format {format}, and this program reads {FORMAT}: use the version of the program that made it, or a newer one"
            ),
            CaptureError::Line(line, why) => write!(f, "line {line}: {why}"),
            CaptureError::Cut { objects } => {
                write!(f, "the capture is cut short after {objects} objects: its last line is missing")
            }
            CaptureError::Count { written, found } => {
                write!(f, "the capture is damaged: it has {found} objects, and {written} were written")
            }
        }
    }
}

impl std::error::Error for CaptureError {}

#[derive(Serialize, Deserialize)]
struct Head {
    #[serde(rename = "fakeApiserverCapture")]
    format: u64,
    /// The version of the server.
    server: String,
}

/// A resource that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// The resource: `secrets`, `deployments.apps`.
    pub resource: String,
    /// The reason.
    pub why: String,
}

/// The last line.
#[derive(Debug, Default, Serialize, Deserialize)]
struct End {
    objects: usize,
    missing: Vec<Missing>,
    /// The reason why nothing else was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stopped: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct EndLine {
    end: End,
}

/// A capture.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Capture {
    /// The version of the server.
    pub server: String,
    /// The objects, as lists return them.
    pub objects: Vec<Value>,
    /// The lines of the objects, by their uids.
    lines: HashMap<String, usize>,
    /// The resources that could not be read.
    pub missing: Vec<Missing>,
    /// The reason why nothing else was read, if the cluster did not answer any more.
    pub stopped: Option<String>,
}

impl Capture {
    /// The line of an object; that of the head, if it is not there.
    pub fn line(&self, object: &Value) -> usize {
        self.lines.get(uid(object)).copied().unwrap_or(1)
    }
}

fn uid(object: &Value) -> &str {
    object["metadata"]["uid"].as_str().unwrap_or_default()
}

/// Reads the file of a capture.
///
/// # Errors
/// [`CaptureError`].
pub fn read(path: &Path) -> Result<Capture, CaptureError> {
    parse(&std::fs::read_to_string(path).map_err(|why| CaptureError::File(why.to_string()))?)
}

fn parse(text: &str) -> Result<Capture, CaptureError> {
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let head: Value = lines.next().and_then(|(_, line)| serde_json::from_str(line).ok()).ok_or(CaptureError::Other)?;
    let format = head["fakeApiserverCapture"].as_u64().ok_or(CaptureError::Other)?;
    if format != FORMAT {
        return Err(CaptureError::Format(format));
    }
    let mut capture = Capture { server: head["server"].as_str().unwrap_or_default().to_owned(), ..Capture::default() };
    while let Some((number, line)) = lines.next() {
        let is_last = lines.clone().next().is_none();
        match serde_json::from_str::<Value>(line) {
            Ok(value) if value.get("end").is_some() && value.get("kind").is_none() => {
                let EndLine { end } =
                    serde_json::from_value(value).map_err(|why| CaptureError::Line(number, why.to_string()))?;
                let (written, found) = (end.objects, capture.objects.len());
                if written != found {
                    return Err(CaptureError::Count { written, found });
                }
                return Ok(Capture { missing: end.missing, stopped: end.stopped, ..capture });
            }
            Ok(value) if value["kind"].is_string() => {
                capture.lines.insert(uid(&value).to_owned(), number);
                capture.objects.push(value);
            }
            Ok(_) => return Err(CaptureError::Line(number, "it is no object".to_owned())),
            // The last line may be a part of one.
            Err(_) if is_last => break,
            Err(why) => return Err(CaptureError::Line(number, why.to_string())),
        }
    }
    Err(CaptureError::Cut { objects: capture.objects.len() })
}

/// A capture that is being written.
pub(super) struct Writer<W> {
    out: W,
    end: End,
}

impl<W: Write> Writer<W> {
    /// Begins a capture of a server of that version.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn begin(out: W, server: &str) -> io::Result<Writer<W>> {
        let mut writer = Writer { out, end: End::default() };
        writer.line(&Head { format: FORMAT, server: server.to_owned() })?;
        Ok(writer)
    }

    /// Writes an object.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn object(&mut self, object: &Value) -> io::Result<()> {
        self.end.objects += 1;
        self.line(object)
    }

    /// Notes what cannot be read.
    pub(super) fn missing(&mut self, resource: String, why: String) {
        self.end.missing.push(Missing { resource, why });
    }

    /// The number of objects so far.
    pub(super) fn objects(&self) -> usize {
        self.end.objects
    }

    /// Ends the capture; `stopped` is the reason why it ends early. Returns what could not be read.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn end(mut self, stopped: Option<String>) -> io::Result<Vec<Missing>> {
        let end = End { stopped, ..std::mem::take(&mut self.end) };
        let line = EndLine { end };
        self.line(&line)?;
        self.out.flush()?;
        Ok(line.end.missing)
    }

    fn line(&mut self, value: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, value)?;
        self.out.write_all(b"\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn written() -> String {
        let mut text = Vec::new();
        let mut writer = Writer::begin(&mut text, "v1.30.0").unwrap();
        writer.object(&json!({"kind": "ConfigMap", "metadata": {"name": "a"}})).unwrap();
        writer.object(&json!({"kind": "ConfigMap", "metadata": {"name": "b"}})).unwrap();
        writer.missing("secrets".into(), "forbidden".into());
        writer.end(Some("timed out".into())).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        let capture = parse(&written()).unwrap();
        assert_eq!((capture.server.as_str(), capture.objects.len()), ("v1.30.0", 2));
        assert_eq!(capture.missing, [Missing { resource: "secrets".into(), why: "forbidden".into() }]);
        assert_eq!(capture.stopped.as_deref(), Some("timed out"));
    }

    #[test]
    fn what_is_cut_or_newer_is_refused() {
        let whole = written();
        let lines: Vec<&str> = whole.lines().collect();
        assert_eq!(parse(""), Err(CaptureError::Other));
        assert_eq!(parse("kind: ConfigMap\n"), Err(CaptureError::Other));
        assert_eq!(parse(&whole.replace("Capture\":1", "Capture\":2")), Err(CaptureError::Format(2)));
        assert_eq!(parse(&lines[..3].join("\n")), Err(CaptureError::Cut { objects: 2 }));
        let end = whole.find("\"b\"").unwrap();
        assert_eq!(parse(&whole[..end]), Err(CaptureError::Cut { objects: 1 }));
        let one_less = [lines[0], lines[2], lines[3]].join("\n");
        assert_eq!(parse(&one_less), Err(CaptureError::Count { written: 2, found: 1 }));
        assert!(matches!(parse(&whole.replacen("\"ConfigMap\"", "x", 1)), Err(CaptureError::Line(2, _))));
    }
}
