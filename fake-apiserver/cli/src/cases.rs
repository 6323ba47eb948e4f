//! `fake-apiserver test`: tests of policies.

use crate::check::{Output, ended, exit_code};
use anyhow::Context as _;
use clap::Parser;
use fake_apiserver_check::{SCHEMA, Verdict, test};
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::runtime;

/// Play the cases in a file, or in those of a folder: requests, and what policies, rules and roles are expected to say.
#[derive(Debug, Parser)]
#[command(name = "fake-apiserver test", max_term_width = 100, after_help = CODES)]
struct Arguments {
    /// File or folder with cases
    #[arg(required_unless_present = "schema")]
    path: Option<PathBuf>,
    /// Form of the report
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    output: Output,
    /// Print the JSON schema of files of cases
    #[arg(long)]
    schema: bool,
}

const CODES: &str = "Exit codes: 0 all answers are the expected ones, 1 some are not, 2 something could not be asked.";

/// Plays what the arguments name.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    match Arguments::try_parse_from(std::iter::once("fake-apiserver test".into()).chain(arguments)) {
        Ok(arguments) => ended(run(&arguments).map(|worst| exit_code(worst, false))),
        Err(error) => crate::check::refused(&error),
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let mut out = io::stdout();
    let Some(path) = arguments.path.as_ref().filter(|_| !arguments.schema) else {
        out.write_all(SCHEMA.as_bytes()).context("unable to print the schema")?;
        return Ok(Verdict::Ok);
    };
    let runtime = runtime::Builder::new_current_thread().enable_all().build().context("unable to start threads")?;
    let report = runtime.block_on(test(path))?;
    out.write_all(report.print(arguments.output.into()).as_bytes()).context("unable to print the report")?;
    Ok(report.worst())
}
