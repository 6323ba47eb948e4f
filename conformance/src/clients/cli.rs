//! The command line of `conformance clients`.

use super::ledger::Ledger;
use super::outcome::Outcome;
use super::server::Server;
use super::suites::{Installed, SUITES, Suite};
use super::table::{HEAD, Pair, SECTION};
use crate::pages::{self, with_rows};
use anyhow::{Context as _, Result, ensure};
use clap::{Args, ValueEnum};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};

/// Time for all checks of a suite.
const DEADLINE: Duration = Duration::from_secs(3600);

/// The arguments of `clients`.
#[derive(Debug, Args)]
pub struct Options {
    /// The server that the clients talk to
    #[arg(long, value_enum, default_value_t = Kind::Process)]
    target: Kind,
    /// Let them talk to a cluster beside the program's first one, which is reached that way; stories are left out
    #[arg(long, value_name = "ENDPOINT", value_parser = ["path", "port", "sni"], conflicts_with = "target")]
    cluster: Option<String>,
    /// Print the suites without running them
    #[arg(long)]
    list: bool,
    /// The suites; all by default
    #[arg(value_name = "SUITE")]
    suites: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// The program, as its users start it
    Process,
    /// A real kube-apiserver, started here
    Real,
    /// Both in turn; writes the suites' rows of the table in its page
    All,
}

/// Installs the suites and runs them; `root` is the workspace's folder, `target` that of build results. Succeeds only if every
/// check passes on the real server, and exactly the checks that the ledger lists fail on the fake.
///
/// # Errors
/// If a suite is unknown, cannot be installed or breaks off, or a server cannot be started.
pub async fn run(options: &Options, root: &Path, target: &Path) -> Result<ExitCode> {
    let names: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
    for name in &options.suites {
        ensure!(names.contains(&name.as_str()), "{name:?} is none of the suites {}", names.join(", "));
    }
    let chosen = |suite: &&Suite| options.suites.is_empty() || options.suites.iter().any(|name| name == suite.name);
    if options.list {
        SUITES.iter().filter(chosen).for_each(|suite| println!("{}", suite.name));
        return Ok(ExitCode::SUCCESS);
    }
    let ledger = Ledger::load(root)?;
    let mut good = true;
    let mut pairs = Vec::new();
    for suite in SUITES.iter().filter(chosen) {
        println!("{}", suite.name);
        let installed = suite.install(root, target).await?;
        let run = async |kind| checked(&installed, kind, suite.stories, options.cluster.as_deref()).await;
        let complaints = match options.target {
            Kind::Real => run(Kind::Real).await?.failed().map(|name| format!("{name} fails")).collect(),
            Kind::Process => ledger.complaints(suite.name, &run(Kind::Process).await?, None),
            Kind::All => {
                let (real, fake) = (run(Kind::Real).await?, run(Kind::Process).await?);
                let pair = Pair { suite: suite.name, real, fake };
                pair.wrong().iter().for_each(|name| println!("  a real server fails, too: {name}"));
                let complaints = ledger.complaints(suite.name, &pair.fake, Some(&pair.real));
                pairs.push(pair);
                complaints
            }
        };
        complaints.iter().for_each(|complaint| println!("  {complaint}"));
        good &= complaints.is_empty();
    }
    if options.target == Kind::All {
        let rows: Vec<_> = pairs.iter().map(|pair| (pair.suite, pair.row())).collect();
        pages::rewrite(root, pages::FIDELITY, SECTION, |present| with_rows(HEAD, present, &rows, &names))?;
    }
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the suite on a server of its own and prints the failures.
async fn checked(installed: &Installed, kind: Kind, stories: bool, cluster: Option<&str>) -> Result<Outcome> {
    let (title, server) = match (kind, cluster) {
        (Kind::Real, _) => ("kube-apiserver", Server::real().await?),
        (_, None) => ("fake-apiserver", Server::process(stories).await?),
        (_, Some(endpoint)) => ("a cluster of fake-apiserver", Server::cluster(endpoint).await?),
    };
    let outcome = tokio::time::timeout(DEADLINE, outcome(installed, &server)).await.context("it did not end")??;
    println!("  {} on {title}: {} of {} checks passed", outcome.client, outcome.passed(), outcome.checks.len());
    Ok(outcome)
}

async fn outcome(installed: &Installed, server: &Server) -> Result<Outcome> {
    // A client's caches for one server must not be used for another.
    let home = tempfile::tempdir()?;
    let mut process = installed.command(server.environment()?, home.path()).spawn().context("the suite's program")?;
    let stdout = process.stdout.take().context("its standard output is piped")?;
    let mut lines = BufReader::new(stdout).lines();
    let mut outcome = Outcome::default();
    while let Some(line) = lines.next_line().await? {
        outcome.take(&line)?;
        if line.starts_with("FAIL") {
            println!("  {line}");
        }
    }
    let status = process.wait().await?;
    ensure!(status.success(), "the suite broke off after {} checks: {status}", outcome.checks.len());
    ensure!(
        !outcome.checks.is_empty() && !outcome.client.is_empty(),
        "the suite made no check, or did not name its client"
    );
    Ok(outcome)
}
