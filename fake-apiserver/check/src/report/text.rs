//! The report for people: a line for each finding, in the form of compilers.

use super::Report;
use crate::verdict::{Finding, Judged};
use std::fmt::Write as _;

pub(super) fn text(report: &Report) -> String {
    let mut text = String::new();
    for judged in &report.judged {
        if judged.findings.is_empty() {
            line(&mut text, format_args!("{}: {} {}", judged.place, judged.verdict, judged.identity));
        }
        for finding in &judged.findings {
            of_finding(&mut text, judged, finding);
        }
    }
    for note in &report.notes {
        line(&mut text, format_args!("note: {note}"));
    }
    let summary = report.summary();
    let counts =
        [(summary.ok, "OK"), (summary.warning, "WARNING"), (summary.denied, "DENIED"), (summary.error, "ERROR")];
    let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}"));
    let counts = counts.collect::<Vec<_>>().join(", ");
    let objects = if summary.objects == 1 { "object" } else { "objects" };
    let colon = if counts.is_empty() { "" } else { ": " };
    line(&mut text, format_args!("{} {objects}{colon}{counts}", summary.objects));
    text
}

fn of_finding(text: &mut String, judged: &Judged, finding: &Finding) {
    let Finding { verdict, rule, message, place, hint, .. } = finding;
    let message = message.replace('\n', "\n    ");
    line(text, format_args!("{place}: {verdict} {}: {rule}: {message}", judged.identity));
    if let Some(hint) = hint {
        line(text, format_args!("    tip: {hint}"));
    }
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("memory takes every write");
}
