//! The JUnit XML report.

use crate::report::Report;
use crate::verdict::Outcome;
use std::fmt::Write as _;

/// Runs (targets with their reports) as a JUnit document. A known difference counts as passed, with a note.
pub fn junit(runs: &[(&str, Vec<Report>)]) -> String {
    let suites = runs.iter().map(|(target, reports)| suite(target, reports)).collect::<String>();
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n{suites}</testsuites>\n")
}

fn suite(target: &str, reports: &[Report]) -> String {
    let count = |wanted: fn(&Outcome) -> bool| reports.iter().filter(|report| wanted(&report.outcome)).count();
    let failures = count(|outcome| matches!(outcome, Outcome::Failed(_)));
    let skipped = count(|outcome| matches!(outcome, Outcome::Skipped { .. }));
    let seconds: f64 = reports.iter().map(|report| report.took.as_secs_f64()).sum();
    let mut xml = format!(
        "<testsuite name=\"conformance.{target}\" tests=\"{}\" \
         failures=\"{failures}\" skipped=\"{skipped}\" time=\"{seconds:.3}\">\n",
        reports.len()
    );
    for report in reports {
        let (area, behaviour) = report.scenario.split_once('/').unwrap_or(("", &report.scenario));
        let inner = match &report.outcome {
            Outcome::Passed => String::new(),
            Outcome::Differs { reason } => {
                format!("<system-out>{}</system-out>", escaped(&format!("differs: {reason}")))
            }
            Outcome::Skipped { reason } => format!("<skipped message=\"{}\"/>", escaped(reason)),
            Outcome::Failed(findings) => {
                let text = findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
                format!("<failure message=\"{} findings\">{}</failure>", findings.len(), escaped(&text))
            }
        };
        writeln!(
            xml,
            "  <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\">{inner}</testcase>",
            escaped(area),
            escaped(behaviour),
            report.took.as_secs_f64()
        )
        .expect("writing to a string");
    }
    xml + "</testsuite>\n"
}

/// Text, escaped for XML; characters that XML does not allow become question marks.
fn escaped(text: &str) -> String {
    let escape = |character| match character {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        '\n' | '\t' => character.to_string(),
        control if control.is_control() => "?".to_owned(),
        plain => plain.to_string(),
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Finding;
    use std::time::Duration;

    #[test]
    fn writes_xml() {
        let report = |scenario: &str, outcome| Report {
            scenario: scenario.into(),
            outcome,
            exchanges: Vec::new(),
            took: Duration::from_millis(1500),
            played: None,
        };
        let failed = Outcome::Failed(vec![Finding {
            check: "dialogue",
            line: None,
            breaks_off: false,
            text: "a < b & \u{1}".into(),
        }]);
        let reports = vec![
            report("crud/create", Outcome::Passed),
            report("crud/delete", failed),
            report("skew/nbf", Outcome::Skipped { reason: "no \"clock\"".into() }),
        ];
        let xml = junit(&[("embedded", reports)]);
        let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n\
            <testsuite name=\"conformance.embedded\" tests=\"3\" failures=\"1\" skipped=\"1\" time=\"4.500\">\n  \
            <testcase classname=\"crud\" name=\"create\" time=\"1.500\"></testcase>\n  \
            <testcase classname=\"crud\" name=\"delete\" time=\"1.500\">\
            <failure message=\"1 findings\">dialogue: a &lt; b &amp; ?</failure></testcase>\n  \
            <testcase classname=\"skew\" name=\"nbf\" time=\"1.500\">\
            <skipped message=\"no &quot;clock&quot;\"/></testcase>\n</testsuite>\n</testsuites>\n";
        assert_eq!(xml, expected);
    }
}
