//! The command line of `conformance manifests`.

use super::manifest::Manifest;
use super::table::{SECTION, Tally, table};
use super::trial;
use crate::pair::Pair;
use crate::readme;
use crate::sources::{Selected, Selection, Source};
use crate::subject::{Process, Real};
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use conformance_judge::ledger::Ledger;
use std::path::Path;
use std::process::ExitCode;

/// The flag without which a real server refuses what most projects have somewhere; the fake allows it by default.
const PRIVILEGED: &str = "--allow-privileged=true";

/// The arguments of `manifests`.
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    selection: Selection,
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
    let mut results = Vec::new();
    for source in sources {
        let tally = compare(&source, root, &ledger).await.with_context(|| source.to_string())?;
        results.push((source, tally));
    }
    println!("{}", table(&results));
    if is_complete {
        readme::write(root, SECTION, &table(&results))?;
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
