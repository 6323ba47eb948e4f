//! Findings about a value, and the place of the value.

use crate::error::{FieldError, MAX_SHOWN_BYTES};
use std::collections::HashSet;
use std::fmt;
use std::rc::Rc;

/// The result of validating a value: `Result` of `k8s.io/kube-openapi/pkg/validation/validate/result.go`.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// The findings in order, each once.
    findings: Vec<Rc<FieldError>>,
    known: HashSet<Rc<FieldError>>,
    /// About how many bytes the findings take up in an answer.
    bytes: usize,
    /// The number of checks that the value passed, by which `anyOf` and `oneOf` choose the findings to report.
    pub(super) matches: usize,
}

impl Report {
    /// The report of a check that passed.
    pub(super) fn matched() -> Self {
        Report { matches: 1, ..Report::default() }
    }

    /// A report of one finding.
    pub(super) fn of(finding: FieldError) -> Self {
        let mut report = Report::default();
        report.push(finding);
        report
    }

    /// Whether there are more findings than an answer shows. Such a report gets no more.
    fn is_full(&self) -> bool {
        self.bytes >= MAX_SHOWN_BYTES
    }

    pub(super) fn is_valid(&self) -> bool {
        self.findings.is_empty()
    }

    /// Adds a finding, unless it is known.
    pub(super) fn push(&mut self, finding: FieldError) {
        self.add(Rc::new(finding));
    }

    fn add(&mut self, finding: Rc<FieldError>) {
        if !self.is_full() && self.known.insert(finding.clone()) {
            self.bytes += finding.bytes();
            self.findings.push(finding);
        }
    }

    /// Does a check and adds its findings, unless there are too many already to be shown.
    pub(super) fn merge_with(&mut self, check: impl FnOnce() -> Report) {
        if !self.is_full() {
            self.merge(check());
        }
    }

    /// Adds the findings and the matches of another report.
    pub(super) fn merge(&mut self, mut other: Report) {
        self.matches += other.matches;
        if self.findings.len() >= other.findings.len() {
            return other.findings.into_iter().for_each(|finding| self.add(finding));
        }
        // Only the smaller set is looked up, as there may be many findings, each within many objects.
        let first = std::mem::take(&mut self.findings);
        let mut is_new = |finding: &Rc<FieldError>| other.known.insert(finding.clone());
        let again: HashSet<&Rc<FieldError>> = first.iter().filter(|finding| !is_new(finding)).collect();
        if !again.is_empty() {
            other.findings.retain(|finding| !again.contains(finding));
        }
        other.findings.splice(0..0, first.iter().cloned());
        self.bytes = other.findings.iter().map(|finding| finding.bytes()).sum();
        self.findings = other.findings;
        self.known = other.known;
    }

    /// Drops the findings, but not the matches.
    pub(super) fn forgive(&mut self) {
        self.findings.clear();
        self.known.clear();
        self.bytes = 0;
    }

    pub(super) fn into_findings(self) -> Vec<FieldError> {
        drop(self.known);
        self.findings.into_iter().map(Rc::unwrap_or_clone).collect()
    }
}

impl Extend<FieldError> for Report {
    fn extend<T: IntoIterator<Item = FieldError>>(&mut self, findings: T) {
        for finding in findings {
            if self.is_full() {
                return;
            }
            self.push(finding);
        }
    }
}

/// The place of a value as in the validator's messages, which is not quite the path of a field.
#[derive(Debug, Clone, Copy)]
pub(super) struct Where<'p> {
    up: Option<&'p Where<'p>>,
    step: Step<'p>,
    /// The path of the validated value, if that is a part of an object.
    of: Option<&'p str>,
}

#[derive(Debug, Clone, Copy)]
enum Step<'p> {
    Root,
    Property(&'p str),
    /// A field without a schema of its own. The validator puts a dot before it even at the root.
    Other(&'p str),
    Item(usize),
}

impl<'p> Where<'p> {
    /// The place of the validated value, which is the whole object or its field `of`.
    pub(super) fn root(of: Option<&'p str>) -> Self {
        Where { up: None, step: Step::Root, of }
    }

    pub(super) fn property<'c>(&'c self, name: &'c str) -> Where<'c> {
        Where { up: Some(self), step: Step::Property(name), of: self.of }
    }

    pub(super) fn other<'c>(&'c self, name: &'c str) -> Where<'c> {
        Where { up: Some(self), step: Step::Other(name), of: self.of }
    }

    pub(super) fn item(&self, index: usize) -> Where<'_> {
        Where { up: Some(self), step: Step::Item(index), of: self.of }
    }

    /// Whether this place is empty in messages.
    pub(super) fn is_root(&self) -> bool {
        match (self.up, self.step) {
            (None, _) => true,
            (Some(up), Step::Property("")) => up.is_root(),
            _ => false,
        }
    }

    /// The path of the field.
    pub(super) fn field(&self) -> String {
        let text = self.to_string();
        let name = text.strip_prefix('.').unwrap_or(&text);
        match self.of {
            _ if name.is_empty() => self.whole().to_owned(),
            Some(of) => format!("{of}.{name}"),
            None => name.to_owned(),
        }
    }

    /// The path of the validated value, for findings that the server attributes to the whole of it.
    pub(super) fn whole(&self) -> &'p str {
        self.of.unwrap_or("<nil>")
    }
}

impl fmt::Display for Where<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(up) = self.up else { return Ok(()) };
        up.fmt(f)?;
        match self.step {
            Step::Root => Ok(()),
            Step::Property(name) if up.is_root() => f.write_str(name),
            Step::Property(name) | Step::Other(name) => write!(f, ".{name}"),
            Step::Item(index) => write!(f, "[{index}]"),
        }
    }
}
