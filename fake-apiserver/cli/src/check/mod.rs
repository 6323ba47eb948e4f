//! `fake-apiserver check`: what a cluster would say to manifests.

mod arguments;

use crate::logging;
use anyhow::Context as _;
pub(crate) use arguments::Output;
use arguments::{Arguments, FailOn};
use clap::Parser as _;
use controller::program;
use fake_apiserver_check::{Report, Verdict, check, report, upgrade};
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;
use tokio::runtime;

/// The exit code if there are findings.
const FINDINGS: u8 = 1;
/// The exit code if something could not be asked.
const UNASKED: u8 = 2;

/// Judges what the arguments name, and prints the report.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(std::iter::once("fake-apiserver check".into()).chain(arguments)) {
        Ok(arguments) => arguments,
        Err(error) => return refused(&error),
    };
    logging::start(0);
    let fails_by_warnings = arguments.fail_on == FailOn::Warning;
    ended(run(&arguments).map(|worst| exit_code(worst, fails_by_warnings)))
}

/// The end after arguments that are none, or a help.
pub(crate) fn refused(error: &clap::Error) -> ExitCode {
    // A failed write is ignored, as the exit code says the same.
    error.print().ok();
    if error.use_stderr() { ExitCode::from(UNASKED) } else { ExitCode::SUCCESS }
}

/// The exit code; an error is printed.
pub(crate) fn ended(code: anyhow::Result<ExitCode>) -> ExitCode {
    code.unwrap_or_else(|error| {
        program::say(&format!("error: {error:#}"));
        ExitCode::from(UNASKED)
    })
}

fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build().context("unable to start threads")?;
    let options = arguments.options()?;
    let report = runtime.block_on(async {
        match arguments.upgrade.as_slice() {
            [old, new] => upgrade(old, new, &options).await,
            _ => check(&options).await,
        }
    })?;
    io::stdout().write_all(text(&report, arguments).as_bytes()).context("unable to print the report")?;
    Ok(report.worst())
}

/// The report, and the objects or differences that were asked for.
fn text(report: &Report, arguments: &Arguments) -> String {
    let mut text = report.print(arguments.output.into());
    if arguments.show_defaults {
        text += &report::defaults(&report.judged);
    }
    if arguments.diff {
        text += &report::differences(&report.judged);
    }
    text
}

/// The exit code after a verdict.
pub(crate) fn exit_code(worst: Verdict, fails_by_warnings: bool) -> ExitCode {
    match worst {
        Verdict::Error => ExitCode::from(UNASKED),
        Verdict::Denied => ExitCode::from(FINDINGS),
        Verdict::Warning if fails_by_warnings => ExitCode::from(FINDINGS),
        Verdict::Warning | Verdict::Ok => ExitCode::SUCCESS,
    }
}
