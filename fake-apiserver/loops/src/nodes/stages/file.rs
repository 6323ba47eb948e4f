//! Stages in a text: documents of YAML.

use super::{Stage, read};
use machinery::deadline::Deadline;
use machinery::yaml;
use std::str::FromStr;
use std::sync::Arc;
use tree::Value;

/// Stages of pods and nodes, as kwok's files have them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stages(pub(super) Vec<Arc<Stage>>);

/// The error in a stage, or the part of it that is not supported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct StageError {
    /// The line of the text, from 1.
    pub line: usize,
    /// The words for it.
    pub message: String,
}

/// The kind of stages.
const KIND: (&str, &str) = ("kwok.x-k8s.io/v1alpha1", "Stage");

impl FromStr for Stages {
    type Err = StageError;

    /// Reads documents of YAML, all of which are stages.
    fn from_str(text: &str) -> Result<Stages, StageError> {
        let stages: Result<Vec<_>, _> = documents(text).into_iter().map(|document| document.stage()).collect();
        Ok(Stages(stages?.into_iter().flatten().map(Arc::new).collect()))
    }
}

struct Document<'t> {
    text: &'t str,
    /// The lines before it.
    before: usize,
}

/// The documents of a text.
fn documents(text: &str) -> Vec<Document<'_>> {
    let (mut documents, mut start, mut before, mut at) = (Vec::new(), 0, 0, 0);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if line.trim_end() == "---" || line.starts_with("--- #") {
            documents.push(Document { text: &text[start..at], before });
            (start, before) = (at + line.len(), number + 1);
        }
        at += line.len();
    }
    documents.push(Document { text: &text[start..], before });
    documents
}

impl Document<'_> {
    fn stage(&self) -> Result<Option<Stage>, StageError> {
        let fail = |line: usize, message: String| Err(StageError { line: self.before + line, message });
        let document = match yaml::parse(self.text.as_bytes(), &Deadline::default()) {
            Ok(document) => document,
            Err(message) => return fail(1, message),
        };
        if let Some(repeated) = document.finding() {
            return fail(1, repeated);
        }
        let object = document.value;
        if object.is_null() {
            return Ok(None);
        }
        let field = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
        let kind = (field("apiVersion"), field("kind"));
        if kind != KIND {
            return fail(
                self.line(&["kind".to_owned()]),
                format!("{} of {} is no stage of {}", kind.1, kind.0, KIND.0),
            );
        }
        match read::stage(&object) {
            Ok(stage) => Ok(Some(stage)),
            Err(wrong) => {
                // The lines of a template begin on the one behind its name.
                let is_long = wrong.way.last().is_some_and(|name| name.to_lowercase().ends_with("template"));
                let inner = if is_long { wrong.line + 1 } else { 0 };
                fail(self.line(&wrong.way) + inner, format!("{}: {}", path(&wrong.way), wrong.message))
            }
        }
    }

    fn line(&self, way: &[String]) -> usize {
        let way = way.iter().map(String::as_str).collect();
        yaml::lines(self.text.as_bytes(), &[way]).map_or(1, |lines| lines[0])
    }
}

/// A way as people write it: `spec.steps[0].patch`.
pub(super) fn path(way: &[String]) -> String {
    let mut path = String::new();
    for step in way {
        match step.parse::<usize>() {
            Ok(index) => path.push_str(&format!("[{index}]")),
            Err(_) if path.is_empty() => path.push_str(step),
            Err(_) => {
                path.push('.');
                path.push_str(step);
            }
        }
    }
    path
}
