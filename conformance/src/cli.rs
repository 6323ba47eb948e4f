//! The command line.

use crate::check::guarantees;
use crate::history::{Event, History};
use crate::report;
use crate::scenario::Scenario;
use crate::score::{self, Score};
use crate::suite::{self, Report, Truth};
use crate::target::{Embedded, Process, Real, Target};
use crate::verdict::Outcome;
use anyhow::{Context as _, Result, bail, ensure};
use clap::{Args, Parser, Subcommand, ValueEnum};
use fake_apiserver::version::git_version;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Plays the written scenarios against an API server and judges what it saw.
#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: Run,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Judges a saved history again
    Judge {
        /// A history.jsonl that a failed scenario left behind
        history: PathBuf,
    },
    /// Rewrites the observations of scenarios with those of a real kube-apiserver
    Bless {
        #[command(flatten)]
        server: Server,
        /// Only scenarios whose name contains this
        filter: String,
    },
}

#[derive(Debug, Args)]
struct Run {
    /// What to play against
    #[arg(long, value_enum, default_value_t = Kind::Embedded)]
    target: Kind,
    /// Also write the results as JUnit XML
    #[arg(long, value_name = "PATH")]
    junit: Option<PathBuf>,
    /// Also write a page that shows each scenario as a timeline, with every exchange
    #[arg(long, value_name = "PATH")]
    html: Option<PathBuf>,
    /// Print the scenarios and what they are about, play none
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    server: Server,
    /// Only scenarios whose name contains this
    filter: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// The library, in this process
    Embedded,
    /// The binary, as a process, over TLS
    Process,
    /// A kube-apiserver that runs already
    Real,
    /// All of them in turn; the histories are compared, and the score is written
    All,
}

impl Kind {
    /// The targets, in the order they are played.
    fn targets(self, server: &Server) -> Result<Vec<Box<dyn Target>>> {
        Ok(match self {
            Kind::Embedded => vec![Box::new(Embedded)],
            Kind::Process => vec![Box::new(Process::find()?)],
            Kind::Real => vec![Box::new(server.connect()?)],
            Kind::All => [Kind::Embedded, Kind::Process, Kind::Real]
                .into_iter()
                .map(|kind| kind.targets(server))
                .collect::<Result<Vec<_>>>()?
                .into_iter()
                .flatten()
                .collect(),
        })
    }
}

/// The targets that the score is about: the others are what it is measured by.
const SCORED: [&str; 2] = ["embedded", "process"];

#[derive(Debug, Args)]
struct Server {
    /// The real server's address
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// PEM file with the certificate authority of the real server
    #[arg(long, value_name = "PATH")]
    certificate_authority: Option<PathBuf>,
    /// A bearer token for a user of the scenarios; one for `admin` is needed
    #[arg(long = "token", value_name = "USER=TOKEN")]
    tokens: Vec<String>,
}

impl Server {
    fn connect(&self) -> Result<Real> {
        let url = self.server.as_deref().context("a real server needs --server")?;
        let ca_pem = self.certificate_authority.as_ref().map(std::fs::read_to_string).transpose()?;
        let token = |argument: &String| {
            let (user, token) = argument.split_once('=').context("--token wants USER=TOKEN")?;
            Ok((user.to_owned(), token.to_owned()))
        };
        Real::new(url, ca_pem, self.tokens.iter().map(token).collect::<Result<_>>()?)
    }
}

/// Runs the command line; all paths are below `root`, the workspace's folder. Succeeds only if everything passed.
pub async fn main(cli: Cli, root: &Path) -> Result<ExitCode> {
    let scenarios = Scenario::load_all(&root.join("fixtures/scenarios"))?;
    match &cli.command {
        Some(Command::Judge { history }) => judge(&scenarios, history),
        Some(Command::Bless { server, filter }) => {
            let scenarios = filtered(scenarios, Some(filter))?;
            crate::bless::bless(&scenarios, &server.connect()?, &root.join("fixtures")).await?;
            Ok(ExitCode::SUCCESS)
        }
        None => run(&cli.run, scenarios, root).await,
    }
}

async fn run(run: &Run, scenarios: Vec<Scenario>, root: &Path) -> Result<ExitCode> {
    let all = scenarios.len();
    let names: Vec<String> = scenarios.iter().map(|scenario| scenario.name.clone()).collect();
    let scenarios = filtered(scenarios, run.filter.as_deref())?;
    if run.list {
        for scenario in &scenarios {
            println!("{}\n    {}", scenario.name, scenario.text.summary());
        }
        return Ok(ExitCode::SUCCESS);
    }
    let truth = Truth::load(&root.join("fixtures"), &scenarios)?;
    let targets = run.target.targets(&run.server)?;
    let mut runs = Vec::new();
    for target in &targets {
        if let Some(entry) = truth.ledger.idle(target.name(), &names).first() {
            bail!("the ledger names {:?}, and there is no such scenario", entry.scenario);
        }
        runs.push((target.name(), play_on(&**target, &scenarios, &truth, root).await?));
    }
    if let Some(path) = &run.junit {
        std::fs::write(path, report::junit(&runs)).with_context(|| path.display().to_string())?;
    }
    let mut failed = runs.iter().flat_map(|(_, reports)| reports).any(Report::failed);
    let across = suite::across(&scenarios, &runs, &truth);
    for finding in &across {
        println!("{finding}");
        failed = true;
    }
    if let Some(path) = &run.html {
        let page = report::html(&git_version(), &scenarios, &runs, &across);
        std::fs::write(path, page).with_context(|| path.display().to_string())?;
    }
    if run.target == Kind::All && scenarios.len() == all && !failed {
        write_score(&runs, &truth, root)?;
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Plays on one target and tells how it went.
async fn play_on(target: &dyn Target, scenarios: &[Scenario], truth: &Truth, root: &Path) -> Result<Vec<Report>> {
    println!("on {}", target.name());
    let folder = target_folder(root).join("conformance").join(target.name());
    let mut ended = 0;
    let reports = suite::run(scenarios, target, truth, |report| {
        ended += 1;
        println!("{}", report::progress(report, ended, scenarios.len()));
    })
    .await;
    println!("\n{}", report::table(&reports));
    for report in &reports {
        if let Some(place) = report::leave(&folder, report)? {
            println!("{} left its history in {}", report.scenario, place.display());
        }
    }
    ensure!(
        reports.iter().any(|report| !matches!(report.outcome, Outcome::Skipped { .. })),
        "all scenarios were skipped"
    );
    Ok(reports)
}

/// Writes the score into its file and into the README.
fn write_score(runs: &[(&str, Vec<Report>)], truth: &Truth, root: &Path) -> Result<()> {
    let scored = runs.iter().filter(|(target, _)| SCORED.contains(target));
    let scored: Vec<_> = scored.map(|(target, reports)| (*target, reports.as_slice())).collect();
    let table = Score::of(truth, &scored).to_string();
    println!("{table}");
    let (file, readme) = (root.join("fixtures/score.md"), root.join("README.md"));
    let text = std::fs::read_to_string(&readme)?;
    let text = score::include(&text, &table).context("README.md has no place for the score")?;
    std::fs::write(file, table)?;
    std::fs::write(readme, text)?;
    Ok(())
}

fn judge(scenarios: &[Scenario], path: &Path) -> Result<ExitCode> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let history = History::parse(&text).map_err(anyhow::Error::msg).with_context(|| path.display().to_string())?;
    let name = history.events().find_map(|event| match event {
        Event::Started { scenario, .. } => Some(scenario),
        _ => None,
    });
    let findings = match scenarios.iter().find(|scenario| Some(&scenario.name) == name) {
        Some(scenario) => suite::judge(scenario, &history),
        None => guarantees(&history),
    };
    for finding in &findings {
        println!("{finding}");
    }
    println!("{} findings", findings.len());
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn filtered(mut scenarios: Vec<Scenario>, filter: Option<&str>) -> Result<Vec<Scenario>> {
    let filter = filter.unwrap_or_default();
    scenarios.retain(|scenario| scenario.name.contains(filter));
    ensure!(!scenarios.is_empty(), "no scenario's name contains {filter:?}");
    Ok(scenarios)
}

fn target_folder(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}
