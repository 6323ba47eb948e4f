//! The file of a recording, read as far as it is whole.

use super::line::{Line, What};
use crate::findings::{Finding, findings};
use crate::request::Request;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The format that is written, and the only one that is read.
pub const FORMAT: u32 = 1;

/// The first line of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// The format of the lines.
    #[serde(rename = "fakeApiserverRecording")]
    pub format: u32,
    /// The version of Kubernetes: `v1.37.1`.
    pub kubernetes: String,
    /// The time at which it began, by the server's clock.
    pub started: Timestamp,
    /// The number of replicas.
    pub replicas: usize,
}

/// A recording.
#[derive(Debug, Clone)]
pub struct Recording {
    /// Its first line.
    pub header: Header,
    /// The others, as they were written.
    pub lines: Vec<Line>,
    /// Why it does not reach to the server's end, if it does not.
    pub cut: Option<String>,
}

/// A file is not a recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The first line is not that of a recording.
    #[error("it is not a recording: {0}")]
    Header(String),
    /// Another version of the program has written it.
    #[error("the recording has the format {0}, and this program reads {FORMAT}")]
    Format(u32),
}

impl Recording {
    /// Reads a recording. One that is cut short, or damaged, is read as far as it is whole, and says so.
    ///
    /// # Errors
    /// If not even the first line can be read.
    pub fn read(text: &[u8]) -> Result<Recording, RecordingError> {
        let mut lines = text.split_inclusive(|byte| *byte == b'\n');
        let first = lines.next().unwrap_or_default();
        let header: Header =
            serde_json::from_slice(first).map_err(|error| RecordingError::Header(error.to_string()))?;
        if header.format != FORMAT {
            return Err(RecordingError::Format(header.format));
        }
        let mut recording = Recording { header, lines: Vec::new(), cut: None };
        for (index, line) in lines.enumerate() {
            let whole = line.strip_suffix(b"\n").ok_or_else(|| "it has no end".to_owned());
            match whole.and_then(|line| serde_json::from_slice(line).map_err(|error| error.to_string())) {
                Ok(line) => recording.lines.push(line),
                Err(why) => {
                    recording.cut =
                        Some(format!("line {} is not whole, and nothing behind it was read: {why}", index + 2));
                    return Ok(recording);
                }
            }
        }
        if !matches!(recording.lines.last(), Some(Line { what: What::Ended {}, .. })) {
            recording.cut = Some("the server has not ended it: it was killed, or still runs".to_owned());
        }
        Ok(recording)
    }

    /// The requests to the first cluster.
    pub fn requests(&self) -> Vec<Request> {
        self.requests_of(None)
    }

    /// The requests to a cluster: the first one, without a name.
    pub fn requests_of(&self, cluster: Option<&str>) -> Vec<Request> {
        let own = self.lines.iter().filter(|line| line.cluster.as_deref() == cluster);
        let requests = own.filter_map(|line| match &line.what {
            What::Request(request) => Some((**request).clone()),
            _ => None,
        });
        requests.collect()
    }

    /// The findings about the requests to the first cluster.
    pub fn findings(&self) -> Vec<Finding> {
        findings(&self.requests())
    }
}
