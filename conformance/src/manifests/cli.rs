//! The command line of `conformance manifests`.

use super::checked::{self, Checked};
use super::manifest::Manifest;
use super::mutants;
use super::table::{SECTION, Tally, table};
use super::trial;
use crate::pages;
use crate::pair::Pair;
use crate::sources::{Selected, Selection, Source};
use crate::subject::{Embedded, Process, Real};
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use conformance_judge::ledger::Ledger;
use std::path::Path;
use std::process::ExitCode;

/// The flag without which a real server refuses what most projects have somewhere; the fake allows it by default.
const PRIVILEGED: &str = "--allow-privileged=true";

/// The flag by which pods need their service accounts, as in every cluster.
const ACCOUNTS: &str = "--enable-admission-plugins=ServiceAccount";

/// The arguments of `manifests`.
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    selection: Selection,
    /// Instead of applying the manifests, create this many mutants of those of each set, without storing them
    #[arg(long, value_name = "N")]
    mutants: Option<usize>,
    /// Instead of applying the manifests, compare what `fake-apiserver check` says to them with a dry run of kubectl on the real server
    #[arg(long, conflicts_with = "mutants")]
    check: bool,
    /// Seed of the mutants: the same seed gives the same ones
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// Compares both servers on the sets in `fixtures/manifests.toml`, or on folders; `root` is the workspace's folder. Succeeds only if
/// all is equal.
///
/// # Errors
/// If a module or folder cannot be had, has no manifests, a server cannot be started, or no set is meant.
pub async fn run(options: &Options, root: &Path) -> Result<ExitCode> {
    let Selected { sources, is_complete } = options.selection.select(&root.join("fixtures/manifests.toml"))?;
    if sources.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let ledger = Ledger::load(&root.join("fixtures/expectations.toml"))?;
    if let Some(count) = options.mutants {
        return mutated(&sources, root, &ledger, (count, options.seed)).await;
    }
    if options.check {
        let results = checked(sources, root, &ledger).await?;
        println!("{}", checked::table(&results));
        if is_complete {
            pages::write(root, pages::FIDELITY, checked::SECTION, &checked::table(&results))?;
        }
        let is_equal = results.iter().all(|(_, checked)| checked.is_equal());
        return Ok(if is_equal { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let mut results = Vec::new();
    for source in sources {
        let tally = compare(&source, root, &ledger).await.with_context(|| source.to_string())?;
        results.push((source, tally));
    }
    println!("{}", table(&results));
    if is_complete {
        pages::write(root, pages::FIDELITY, SECTION, &table(&results))?;
    }
    let is_equal = results.iter().all(|(_, tally)| tally.is_equal());
    Ok(if is_equal { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Compares one source, on servers of its own, and prints the result.
async fn compare(source: &Source, root: &Path, ledger: &Ledger) -> Result<Tally> {
    let (documents, unreadable) = source.documents(root)?;
    let found = documents.len();
    let manifests = Manifest::all(source, documents);
    ensure!(!manifests.is_empty(), "there are no manifests in {source}");
    let real = Real::start_with(true, &[PRIVILEGED]).await?;
    let pair = Pair::start([&real, &Process::find()?], "manifests", ledger.omitted.clone()).await?;
    let mut differences = Vec::new();
    let tally = trial::run(&manifests, &pair, |difference| differences.push(difference)).await?;
    pair.stop().await?;
    println!("{source}: {tally}; of {found} documents, and {unreadable} that are not YAML");
    differences.iter().for_each(|difference| println!("{difference}\n"));
    Ok(tally)
}

/// Compares the verdicts on the manifests of all `sources`, and prints the differences.
async fn checked(sources: Vec<Source>, root: &Path, ledger: &Ledger) -> Result<Vec<(Source, Checked)>> {
    let mut results = Vec::new();
    for source in sources {
        let (documents, _) = source.documents(root).with_context(|| source.to_string())?;
        let manifests = Manifest::all(&source, documents);
        let real = Real::start_with(true, &[PRIVILEGED, ACCOUNTS]).await?;
        let pair = Pair::start([&real, &Embedded], "check", ledger.omitted.clone()).await?;
        let tally = checked::run(&manifests, &pair, |difference| println!("{difference}\n")).await?;
        pair.stop().await?;
        println!("{source}: {tally}");
        results.push((source, tally));
    }
    Ok(results)
}

/// Creates mutants of the manifests of all `sources`, on one pair of servers, and prints the differences.
async fn mutated(sources: &[Source], root: &Path, ledger: &Ledger, run: (usize, u64)) -> Result<ExitCode> {
    let real = Real::start_with(true, &[PRIVILEGED]).await?;
    let pair = Pair::start([&real, &Embedded], "mutants", ledger.omitted.clone()).await?;
    let mut differing = 0;
    for source in sources {
        let (documents, _) = source.documents(root).with_context(|| source.to_string())?;
        let manifests = Manifest::all(source, documents);
        ensure!(!manifests.is_empty(), "there are no manifests in {source}");
        let outcome = mutants::run(&manifests, &pair, run, |difference| println!("{difference}\n")).await?;
        println!("{source}: {outcome}");
        differing += outcome.differing;
    }
    pair.stop().await?;
    Ok(if differing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
