//! Files of coverage, and `fake-apiserver cover`: what a suite has never tried.

use crate::check::ended;
use anyhow::{Context as _, ensure};
use clap::Parser;
use fake_apiserver::control::CoveredRule;
use fake_apiserver::control::coverage::{merged, reached};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The `apiVersion` and `kind` of such files.
const API_VERSION: &str = "fake-apiserver/v1";
const KIND: &str = "Coverage";

/// The content of a file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    api_version: String,
    kind: String,
    rules: Vec<CoveredRule>,
}

/// Print which rules a suite has never tried: verbs of roles that no request was allowed by, expressions that were never true or never false,
/// operations that a webhook was not called for.
#[derive(Debug, Parser)]
#[command(name = "fake-apiserver cover", max_term_width = 100, after_help = CODES)]
struct Arguments {
    /// Files that servers with --coverage have written
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Percentage of outcomes that must have been reached
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=100))]
    fail_under: u8,
}

const CODES: &str = "Exit codes: 0 enough was reached, 1 too little was, 2 a file could not be read.";

/// Prints the gaps in the files that the arguments name.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    match Arguments::try_parse_from(std::iter::once("fake-apiserver cover".into()).chain(arguments)) {
        Ok(arguments) => ended(run(&arguments)),
        Err(error) => crate::check::refused(&error),
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let reports: Vec<_> = arguments.files.iter().map(|path| read(path)).collect::<Result<_, _>>()?;
    let rules = merged(reports);
    let mut text = String::new();
    for rule in &rules {
        for gap in rule.gaps() {
            text += &format!("{}: never {gap}\n", rule.full_name());
        }
    }
    let (reached, outcomes) = reached(&rules);
    let percent = (reached * 100).checked_div(outcomes).unwrap_or(100);
    text += &format!("{reached} of {outcomes} outcomes were reached: {percent} %\n");
    io::stdout().write_all(text.as_bytes()).context("unable to print the report")?;
    Ok(if percent < arguments.fail_under.into() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn read(path: &Path) -> anyhow::Result<Vec<CoveredRule>> {
    let failed = || format!("unable to read {}", path.display());
    rules(&fs::read(path).with_context(failed)?).with_context(failed)
}

fn rules(text: &[u8]) -> anyhow::Result<Vec<CoveredRule>> {
    let report: Report = serde_json::from_slice(text)?;
    let is_one = report.api_version == API_VERSION && report.kind == KIND;
    ensure!(is_one, "it is {} {}, and not {API_VERSION} {KIND}", report.api_version, report.kind);
    Ok(report.rules)
}

/// Adds what rules have decided to a file, which is made if there is none. Other servers may do so at the same time.
///
/// # Errors
/// If the file cannot be written, or is something else.
pub(crate) fn add(path: &Path, more: Vec<CoveredRule>) -> anyhow::Result<()> {
    let failed = || format!("unable to add to --coverage {}", path.display());
    let open = File::options().read(true).write(true).create(true).truncate(false).open(path);
    let mut file = open.with_context(failed)?;
    file.lock().with_context(failed)?;
    let mut text = Vec::new();
    file.read_to_end(&mut text).with_context(failed)?;
    let known = if text.is_empty() { Vec::new() } else { rules(&text).with_context(failed)? };
    let report = Report { api_version: API_VERSION.into(), kind: KIND.into(), rules: merged([known, more]) };
    let mut text = serde_json::to_vec_pretty(&report).with_context(failed)?;
    text.push(b'\n');
    file.rewind().and_then(|()| file.set_len(0)).and_then(|()| file.write_all(&text)).with_context(failed)
}
