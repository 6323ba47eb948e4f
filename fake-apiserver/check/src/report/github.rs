//! Workflow commands: GitHub shows them at the lines of the files.

use super::Report;
use crate::verdict::{Finding, Judged, Verdict};

pub(super) fn github(report: &Report) -> String {
    let commands =
        report.judged.iter().flat_map(|judged| judged.findings.iter().map(move |finding| command(judged, finding)));
    let notes = report.notes.iter().map(|note| format!("::notice title=fake-apiserver check::{}\n", data(note)));
    commands.chain(notes).collect()
}

fn command(judged: &Judged, Finding { verdict, rule, message, place, hint, .. }: &Finding) -> String {
    let level = if *verdict == Verdict::Warning { "warning" } else { "error" };
    let (file, title) = (property(&place.file), property(&format!("{verdict} {}: {rule}", judged.identity)));
    let hint = hint.iter().map(|hint| format!("\n{hint}")).collect::<String>();
    format!("::{level} file={file},line={},title={title}::{}\n", place.line, data(&format!("{message}{hint}")))
}

/// The text behind `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
