//! The terminal report: a line as each scenario ends, and a table of areas.

use crate::report::Report;
use crate::verdict::Outcome;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The sequence from which a terminal shows text red, until [`END`].
const RED: &str = "\x1b[31m";
/// The sequence that ends a colour.
const END: &str = "\x1b[0m";

/// The line for a scenario that ended, with its findings.
pub fn progress(report: &Report, ended: usize, total: usize) -> String {
    let seconds = report.took.as_secs_f64();
    let (word, detail) = match &report.outcome {
        Outcome::Passed => ("passed", String::new()),
        Outcome::Differs { reason } => ("differs", format!("  ({reason})")),
        Outcome::Skipped { reason } => ("skipped", format!("  ({reason})")),
        Outcome::Failed(_) => ("FAILED", findings(report)),
    };
    let width = total.to_string().len();
    format!("{ended:>width$}/{total} {word:<7} {seconds:>6.2}s {}{detail}", report.scenario)
}

/// The same for a terminal with colors: what is wrong is red.
pub fn colored_progress(report: &Report, ended: usize, total: usize) -> String {
    let line = progress(report, ended, total);
    if matches!(report.outcome, Outcome::Failed(_)) { format!("{RED}{line}{END}") } else { line }
}

/// The findings of a scenario that failed, each on lines of its own; empty for another one.
pub fn findings(report: &Report) -> String {
    let Outcome::Failed(findings) = &report.outcome else { return String::new() };
    findings.iter().map(|finding| format!("\n  {finding}").replace('\n', "\n  ")).collect()
}

#[derive(Default)]
struct Row {
    passed: usize,
    differs: usize,
    failed: usize,
    skipped: usize,
    seconds: f64,
}

impl Row {
    fn add(&mut self, report: &Report) {
        *match report.outcome {
            Outcome::Passed => &mut self.passed,
            Outcome::Differs { .. } => &mut self.differs,
            Outcome::Failed(_) => &mut self.failed,
            Outcome::Skipped { .. } => &mut self.skipped,
        } += 1;
        self.seconds += report.took.as_secs_f64();
    }
}

/// The table of areas: the number of scenarios by outcome.
pub fn table(reports: &[Report]) -> String {
    let mut rows = BTreeMap::<&str, Row>::new();
    let mut total = Row::default();
    for report in reports {
        rows.entry(report.area()).or_default().add(report);
        total.add(report);
    }
    let width = rows.keys().map(|area| area.len()).chain([5]).max().unwrap_or_default();
    let mut table = format!("{:<width$}  passed  differs  failed  skipped  seconds\n", "area");
    for (area, row) in rows.into_iter().chain([("total", total)]) {
        let Row { passed, differs, failed, skipped, seconds } = row;
        writeln!(table, "{area:<width$}  {passed:>6}  {differs:>7}  {failed:>6}  {skipped:>7}  {seconds:>7.2}")
            .expect("writing to a string");
    }
    table
}
