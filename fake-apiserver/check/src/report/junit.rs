//! JUnit's XML: each object is a test, of the class that its file is.

use super::Report;
use crate::verdict::{Finding, Judged, Verdict};
use std::fmt::Write as _;

pub(super) fn junit(report: &Report) -> String {
    let summary = report.summary();
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"fake-apiserver check\" tests=\"{}\" failures=\"{}\" \
         errors=\"{}\">\n",
        summary.objects, summary.denied, summary.error
    );
    for judged in &report.judged {
        let (file, line) = (escaped(&judged.place.file), judged.place.line);
        writeln!(
            xml,
            "  <testcase classname=\"{file}\" name=\"{}\" file=\"{file}\" line=\"{line}\">{}</testcase>",
            escaped(&judged.identity.to_string()),
            content(judged)
        )
        .expect("memory takes every write");
    }
    let notes: String =
        report.notes.iter().map(|note| format!("  <system-out>{}</system-out>\n", escaped(note))).collect();
    xml + &notes + "</testsuite>\n</testsuites>\n"
}

fn content(judged: &Judged) -> String {
    let of = |finding: &Finding| {
        let Finding { verdict, rule, message, place, .. } = finding;
        let text = escaped(&format!("{place}: {rule}: {message}"));
        match verdict {
            Verdict::Denied => {
                format!("<failure type=\"{}\" message=\"{}\">{text}</failure>", escaped(&rule.id()), escaped(message))
            }
            Verdict::Error => {
                format!("<error type=\"{}\" message=\"{}\">{text}</error>", escaped(&rule.id()), escaped(message))
            }
            Verdict::Ok | Verdict::Warning => format!("<system-out>{text}</system-out>"),
        }
    };
    judged.findings.iter().map(of).collect()
}

/// Text, escaped for XML; characters that XML does not allow become question marks.
fn escaped(text: &str) -> String {
    let escape = |character| match character {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        '\n' => "&#10;".to_owned(),
        '\t' => "\t".to_owned(),
        control if control.is_control() => "?".to_owned(),
        plain => plain.to_string(),
    };
    text.chars().map(escape).collect()
}
