//! `fake-apiserver capture`: what decides about admission in a cluster, in one file.

use crate::check::{ended, refused};
use anyhow::Context as _;
use clap::{Parser, ValueEnum};
use controller::program;
use fake_apiserver::internals::parse_duration;
use fake_apiserver_check::capture::{Asked, Kept, Outcome, Progress, capture};
use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tempfile::NamedTempFile;
use tokio::runtime;

/// The exit code of a capture that is not complete.
const INCOMPLETE: u8 = 1;
/// The width of the progress bar.
const BAR: usize = 24;

/// Read what decides about admission in a cluster, by get and list alone, into a file for `fake-apiserver check --cluster` and `--load`.
#[derive(Debug, Parser)]
#[command(name = "fake-apiserver capture", max_term_width = 100, after_help = CODES)]
struct Arguments {
    /// File to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Kubeconfig of the cluster; by default those of KUBECONFIG, or ~/.kube/config
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Context in it; the present one by default
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// Keep all objects but events and leases, not only those that decide about others
    #[arg(long)]
    objects: bool,
    /// Keep these resources only, such as configmaps or deployments.apps, separated by commas
    #[arg(long, value_name = "RESOURCES", value_delimiter = ',')]
    only: Vec<String>,
    /// Leave these resources out, separated by commas
    #[arg(long, value_name = "RESOURCES", value_delimiter = ',')]
    exclude: Vec<String>,
    /// Treatment of secrets: their values are replaced by noise of the same lengths, or they are left out
    #[arg(long, value_enum, default_value_t = Secrets::Noise)]
    secrets: Secrets,
    /// Longest time that the cluster may take for an answer
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    timeout: Duration,
}

const CODES: &str = "Exit codes: 0 everything was read, 1 something is missing, which is said and noted in the file, 2 there is no capture.";

/// The treatment of secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Secrets {
    Noise,
    Omit,
}

fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).ok().filter(|time| !time.is_zero()).ok_or_else(|| "not a duration such as 30s".into())
}

/// Reads the cluster of the arguments.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(std::iter::once("fake-apiserver capture".into()).chain(arguments)) {
        Ok(arguments) => arguments,
        Err(error) => return refused(&error),
    };
    ended(run(&arguments).map(|outcome| told(&outcome, &arguments.output)))
}

fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let asked = Asked {
        kubeconfig: arguments.kubeconfig.clone(),
        context: arguments.context.clone(),
        kept: Kept { objects: arguments.objects, only: arguments.only.clone(), exclude: arguments.exclude.clone() },
        without_secrets: arguments.secrets == Secrets::Omit,
        timeout: arguments.timeout,
    };
    let failed = || format!("unable to write {}", arguments.output.display());
    let folder = arguments.output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Nobody finds half a capture under that name.
    let mut file = NamedTempFile::new_in(folder).with_context(failed)?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build().context("unable to start threads")?;
    let shows = io::stderr().is_terminal();
    let outcome = runtime.block_on(capture(&asked, BufWriter::new(&mut file), |progress| {
        if shows {
            show(progress);
        }
    }));
    if shows {
        write!(io::stderr(), "\r\u{1b}[K").ok();
    }
    let outcome = outcome?;
    file.persist(&arguments.output).with_context(failed)?;
    Ok(outcome)
}

/// Draws the progress bar. That it cannot be drawn is ignored.
fn show(progress: &Progress<'_>) {
    let full = BAR * progress.done / progress.all.max(1);
    let (bar, rest) = ("#".repeat(full), ".".repeat(BAR - full));
    let Progress { resource, done, all, objects } = progress;
    write!(io::stderr(), "\r\u{1b}[K[{bar}{rest}] {done}/{all} {resource}, {objects} objects").ok();
}

/// Says what was read and what was not.
fn told(outcome: &Outcome, path: &Path) -> ExitCode {
    program::say(&format!("{} objects are in {}", outcome.objects, path.display()));
    for missing in &outcome.missing {
        program::say(&format!("missing: {}: {}", missing.resource, missing.why));
    }
    if let Some(why) = &outcome.stopped {
        program::say(&format!("incomplete: {why}"));
    }
    let is_whole = outcome.missing.is_empty() && outcome.stopped.is_none();
    if is_whole { ExitCode::SUCCESS } else { ExitCode::from(INCOMPLETE) }
}
