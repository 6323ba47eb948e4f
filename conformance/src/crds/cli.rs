//! The command line of `conformance crds`.

use super::package::Package;
use super::pair::Pair;
use super::sets::{self, Set};
use super::table::{SECTION, Tally, table};
use super::{modules, trial};
use crate::readme;
use crate::subject::{Embedded, Process, Real, Target};
use anyhow::{Context as _, Result, ensure};
use clap::{Args, ValueEnum};
use conformance_judge::ledger::Ledger;
use std::path::Path;
use std::process::ExitCode;

/// The arguments of `crds`.
#[derive(Debug, Args)]
pub struct Options {
    /// The server that is compared with a real one
    #[arg(long, value_enum, default_value_t = Kind::Embedded)]
    target: Kind,
    /// Only sets whose module or project contains this; a run of all writes the README's table
    #[arg(long, value_name = "SUBSTRING", default_value = "")]
    only: String,
    /// Print the sets without comparing them
    #[arg(long)]
    list: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// The library, in this process
    Embedded,
    /// The program
    Process,
}

/// Compares what both servers make of the sets in `fixtures/crds.toml`; `root` is the workspace's folder. Succeeds only if they answer the same.
///
/// # Errors
/// If a module cannot be had, a server cannot be started, or no set is meant.
pub async fn run(options: &Options, root: &Path) -> Result<ExitCode> {
    let mut sets = sets::load(&root.join("fixtures/crds.toml"))?;
    let all = sets.len();
    sets.retain(|set| set.module.contains(&options.only) || set.project.contains(&options.only));
    ensure!(!sets.is_empty(), "no set contains {:?}", options.only);
    if options.list {
        sets.iter().for_each(|set| println!("{}: {set}", set.project));
        return Ok(ExitCode::SUCCESS);
    }
    let fake: Box<dyn Target> = match options.target {
        Kind::Embedded => Box::new(Embedded),
        Kind::Process => Box::new(Process::find()?),
    };
    let ledger = Ledger::load(&root.join("fixtures/expectations.toml"))?;
    let modules = modules::download(&sets)?;
    let mut results = Vec::new();
    for (set, module) in sets.into_iter().zip(modules) {
        let tally = compare(&set, &module, root, &*fake, &ledger).await.with_context(|| set.to_string())?;
        results.push((set, tally));
    }
    let equal = results.iter().all(|(_, tally)| tally.is_equal());
    let table = table(&results);
    println!("{table}");
    if results.len() == all {
        readme::write(root, SECTION, &table)?;
    }
    Ok(if equal { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Compares one set, on servers of its own.
async fn compare(set: &Set, module: &Path, root: &Path, fake: &dyn Target, ledger: &Ledger) -> Result<Tally> {
    let (documents, unreadable) = modules::documents(root, module)?;
    let package = Package::of(set, documents)?;
    let real = Real::start(true).await?;
    let pair = Pair::start([&real, fake], ledger.omitted.clone()).await?;
    let mut differences = Vec::new();
    let tally = trial::run(&package, &pair, |difference| differences.push(difference)).await?;
    pair.stop().await?;
    println!("{set}: {tally}; {unreadable} documents are not YAML");
    differences.iter().for_each(|difference| println!("{difference}"));
    Ok(tally)
}
