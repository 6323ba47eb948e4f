//! The command line of `conformance attack`.

use super::catalogue::{self, Entry};
use super::record::Record;
use super::suite::{self, Report};
use super::{score, verdict::Verdict};
use crate::pages;
use crate::subject::{Embedded, Process, Real, Target};
use anyhow::{Result, bail, ensure};
use clap::{Args, ValueEnum};
use std::path::Path;
use std::process::ExitCode;

/// The arguments of `attack`.
#[derive(Debug, Args)]
pub struct Options {
    /// The server to attack
    #[arg(long, value_enum, default_value_t = Kind::Embedded)]
    target: Kind,
    /// Print the attacks without carrying them out
    #[arg(long)]
    list: bool,
    /// Record the answers as the expected ones; from a real server only
    #[arg(long)]
    bless: bool,
    /// Only attacks whose name contains one of these
    names: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// The library, in this process: its answers
    Embedded,
    /// The program: its answers, memory, descriptors and threads. A run of all attacks writes the score
    Process,
    /// A real kube-apiserver: whether its answers are the recorded ones
    Real,
}

/// Carries out attacks. `root` is the workspace's folder. Succeeds only if no attack fails.
///
/// # Errors
/// If a server cannot be started, or no attack has a given name.
pub async fn run(options: &Options, root: &Path) -> Result<ExitCode> {
    let folder = root.join("fixtures/attacks");
    let mut entries = catalogue::load(&folder)?;
    let mut record = Record::load(&folder, &catalogue::judged(&entries))?;
    let (all, table) = (entries.len(), score::table(&entries, &record));
    let wanted = |entry: &Entry| options.names.iter().any(|name| entry.name.contains(name));
    entries.retain(|entry| options.names.is_empty() || wanted(entry));
    ensure!(!entries.is_empty(), "no attack's name contains one of {:?}", options.names);
    if options.list {
        entries.iter().for_each(|entry| println!("{}\n    {}", entry.name, entry.about));
        return Ok(ExitCode::SUCCESS);
    }
    let (target, version): (Box<dyn Target>, _) = match options.target {
        Kind::Embedded => (Box::new(Embedded), None),
        Kind::Process => (Box::new(Process::find()?), None),
        Kind::Real => {
            let real = Real::start(true).await?;
            let version = real.version().await?;
            (Box::new(real), Some(version))
        }
    };
    if options.target != Kind::Process {
        // Attacks on programs that are clients need a process, and do not concern a real server.
        entries.retain(|entry| entry.class != "programs" && (version.is_none() || entry.is_judged()));
    }
    let strict = version.is_none();
    let reports = suite::run(&entries, &*target, &record, strict, show).await?;
    let failed = reports.iter().filter(|report| report.failed()).count();
    println!("\n{} attacks, {failed} failed", reports.len());
    if options.bless {
        let Some(version) = version else { bail!("only a real server says what has to come back") };
        let (carried_out, others): (Vec<_>, Vec<_>) = reports.iter().partition(|report| !report.observed.is_empty());
        carried_out.iter().for_each(|report| record.enter(&report.name, &report.observed));
        record.write(&folder, &version)?;
        return Ok(if others.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    if options.target == Kind::Process && reports.len() == all && failed == 0 {
        pages::write(root, pages::ATTACKS, "attacks", &table)?;
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The most characters of the answers that are shown.
const SHOWN: usize = 160;

fn show(report: &Report) {
    let mark = if report.failed() { "FAILED" } else { "ok" };
    let memory = report.memory.map_or_else(String::new, |(most, after)| format!(", {most} MiB at most, {after} after"));
    println!("{mark:6} {}  {} ({:.1?}{memory})", report.name, shortened(&report.observed), report.took);
    if let Verdict::Different(what) = &report.verdict {
        println!("       {}", shortened(what));
    }
    report.harm.iter().for_each(|harm| println!("       {harm}"));
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
