//! Reports: verdicts in the forms that people and machines read.

mod changes;
mod github;
mod junit;
mod sarif;
mod text;

use crate::verdict::{Judged, Verdict};
use serde::Serialize;

pub use changes::{defaults, differences};

/// A form of reports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Form {
    /// A line for each finding, and for each object without one.
    #[default]
    Text,
    /// One document in JSON.
    Json,
    /// A test suite in JUnit's XML: an object is a test.
    Junit,
    /// SARIF 2.1.0, which code scanners write.
    Sarif,
    /// The workflow commands by which GitHub annotates files.
    Github,
}

/// The verdicts on some objects, in the order of the objects.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    /// The objects.
    #[serde(rename = "objects")]
    pub judged: Vec<Judged>,
    /// The facts that have to be known besides, such as webhooks that were not asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The numbers of objects by verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The number of all objects.
    pub objects: usize,
    /// Those that are admitted.
    pub ok: usize,
    /// Those with warnings.
    pub warning: usize,
    /// Those that are refused.
    pub denied: usize,
    /// Those that could not be judged.
    pub error: usize,
}

impl Report {
    /// The numbers of objects by verdict.
    pub fn summary(&self) -> Summary {
        let count = |verdict| self.judged.iter().filter(|judged| judged.verdict == verdict).count();
        Summary {
            objects: self.judged.len(),
            ok: count(Verdict::Ok),
            warning: count(Verdict::Warning),
            denied: count(Verdict::Denied),
            error: count(Verdict::Error),
        }
    }

    /// The worst verdict.
    pub fn worst(&self) -> Verdict {
        self.judged.iter().map(|judged| judged.verdict).max().unwrap_or(Verdict::Ok)
    }

    /// The report in a form.
    pub fn print(&self, form: Form) -> String {
        match form {
            Form::Text => text::text(self),
            Form::Json => json(self),
            Form::Junit => junit::junit(self),
            Form::Sarif => sarif::sarif(self),
            Form::Github => github::github(self),
        }
    }
}

/// The report as JSON: `{"summary": …, "objects": […], "notes": […]}`.
fn json(report: &Report) -> String {
    #[derive(Serialize)]
    struct Whole<'r> {
        summary: Summary,
        #[serde(flatten)]
        report: &'r Report,
    }
    let whole = Whole { summary: report.summary(), report };
    serde_json::to_string_pretty(&whole).expect("it has texts as keys") + "\n"
}

#[cfg(test)]
mod tests;
