//! The command line of `conformance crds`.

use super::package::Package;
use super::table::{SECTION, Tally, table};
use super::trial;
use crate::pages;
use crate::pair::Pair;
use crate::sources::{Selected, Selection, Source};
use crate::subject::{Embedded, Process, Real, Target};
use anyhow::{Context as _, Result};
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
    #[command(flatten)]
    selection: Selection,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// The library, in this process
    Embedded,
    /// The program
    Process,
}

/// Compares both servers on the sets in `fixtures/crds.toml`, or on folders; `root` is the workspace's folder. Succeeds only if
/// they answer the same.
///
/// # Errors
/// If a module or folder cannot be had, has no definitions, a server cannot be started, or no set is meant.
pub async fn run(options: &Options, root: &Path) -> Result<ExitCode> {
    let Selected { sources, is_complete } = options.selection.select(&root.join("fixtures/crds.toml"))?;
    if sources.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let results = compare(sources, options.target, root).await?;
    if is_complete {
        pages::write(root, pages::FIDELITY, SECTION, &table(&results))?;
    }
    let is_equal = results.iter().all(|(_, tally)| tally.is_equal());
    Ok(if is_equal { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Compares the sources, each on servers of its own, and prints the results.
async fn compare(sources: Vec<Source>, kind: Kind, root: &Path) -> Result<Vec<(Source, Tally)>> {
    let fake: Box<dyn Target> = match kind {
        Kind::Embedded => Box::new(Embedded),
        Kind::Process => Box::new(Process::find()?),
    };
    let ledger = Ledger::load(&root.join("fixtures/expectations.toml"))?;
    let mut results = Vec::new();
    for source in sources {
        let tally = compare_one(&source, root, &*fake, &ledger).await.with_context(|| source.to_string())?;
        results.push((source, tally));
    }
    println!("{}", table(&results));
    Ok(results)
}

async fn compare_one(source: &Source, root: &Path, fake: &dyn Target, ledger: &Ledger) -> Result<Tally> {
    let (documents, unreadable) = source.documents(root)?;
    let package = Package::of(source, documents)?;
    let real = Real::start(true).await?;
    let pair = Pair::start([&real, fake], "crds", ledger.omitted.clone()).await?;
    let mut differences = Vec::new();
    let tally = trial::run(&package, &pair, |difference| differences.push(difference)).await?;
    pair.stop().await?;
    println!("{source}: {tally}; {unreadable} documents are not YAML; {} definitions are left out", package.left_out);
    differences.iter().for_each(|difference| println!("{difference}"));
    Ok(tally)
}
