//! The command line of `conformance crds`.

use super::package::Package;
use super::sets;
use super::source::Source;
use super::table::{SECTION, Tally, table};
use super::{modules, trial};
use crate::pair::Pair;
use crate::readme;
use crate::subject::{Embedded, Process, Real, Target};
use anyhow::{Context as _, Result, ensure};
use clap::{Args, ValueEnum};
use conformance_judge::ledger::Ledger;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The arguments of `crds`.
#[derive(Debug, Args)]
pub struct Options {
    /// The server that is compared with a real one
    #[arg(long, value_enum, default_value_t = Kind::Embedded)]
    target: Kind,
    /// Instead of the sets, the definitions and examples in the YAML files of this folder and below; may be repeated
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["only", "list"])]
    directory: Vec<PathBuf>,
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

/// Compares both servers on the sets in `fixtures/crds.toml`, or on folders; `root` is the workspace's folder. Succeeds only if
/// they answer the same.
///
/// # Errors
/// If a module or folder cannot be had, has no definitions, a server cannot be started, or no set is meant.
pub async fn run(options: &Options, root: &Path) -> Result<ExitCode> {
    if !options.directory.is_empty() {
        let folders = options.directory.iter().map(|path| Source::directory(path)).collect::<Result<_>>()?;
        return Ok(code(&compare(folders, options.target, root).await?));
    }
    let mut sets = sets::load(&root.join("fixtures/crds.toml"))?;
    let all = sets.len();
    sets.retain(|set| set.module.contains(&options.only) || set.project.contains(&options.only));
    ensure!(!sets.is_empty(), "no set contains {:?}", options.only);
    if options.list {
        sets.iter().for_each(|set| println!("{}: {set}", set.project));
        return Ok(ExitCode::SUCCESS);
    }
    let results = compare(modules::download(&sets)?, options.target, root).await?;
    if results.len() == all {
        readme::write(root, SECTION, &table(&results))?;
    }
    Ok(code(&results))
}

fn code(results: &[(Source, Tally)]) -> ExitCode {
    if results.iter().all(|(_, tally)| tally.is_equal()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
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
