//! The command line of `conformance`.

mod run;

use crate::admission;
use crate::attack;
use crate::clients;
use crate::control_plane;
use crate::crds;
use crate::endurance;
use crate::inputs;
use crate::manifests;
use crate::play;
use crate::pod_security;
use crate::schemas;
use crate::soak::Options;
use crate::subject::{Embedded, Kcm, Process, Real, Target};
use crate::suites;
use crate::writes;
use anyhow::{Context as _, Result, bail, ensure};
use clap::{Args, Parser, Subcommand, ValueEnum};
use conformance_judge::check;
use conformance_judge::dialogue::Played;
use conformance_judge::history::{Event, History};
use conformance_judge::ledger::Ledger;
use conformance_judge::scenario::Scenario;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Plays the written scenarios against an API server and judges what it saw.
#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: run::Run,
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
        /// Without a watch cache; scenarios about compaction can only be blessed so
        #[arg(long)]
        uncached: bool,
        #[command(flatten)]
        server: Server,
        /// Only scenarios whose name contains this
        filter: String,
    },
    /// Records the answers of a real kube-apiserver to creates and updates of all kinds
    Cases {
        /// Write nothing; fail if an answer is another one than the recorded one
        #[arg(long)]
        check: bool,
        /// Only resources whose name contains this
        #[arg(default_value = "")]
        filter: String,
    },
    /// Records all resources of a real kube-apiserver, with facts that only Kubernetes' Go packages have
    Kinds {
        /// Write nothing; fail if the record is not up to date
        #[arg(long)]
        check: bool,
    },
    /// Records the OpenAPI documents that a real kube-apiserver publishes about its own resources
    Openapi {
        /// Write nothing; fail if the record is not up to date
        #[arg(long)]
        check: bool,
    },
    /// Records what a real kube-apiserver makes of command lines
    #[command(name = "command-lines")]
    Lines {
        /// Write nothing; fail if an answer is another one than the recorded one
        #[arg(long)]
        check: bool,
    },
    /// Records what a real kube-apiserver objects to in files of authentication and authorization
    Configurations {
        /// Write nothing; fail if an answer is another one than the recorded one
        #[arg(long)]
        check: bool,
    },
    /// Records the objects that a real kube-apiserver creates at its first start
    Bootstrap,
    /// Stresses the real tokens controller with many writes and cut watches, and judges its work
    Soak {
        /// Number of writes of secrets that have to succeed
        #[arg(long, value_name = "N", default_value_t = 10_000)]
        writes: usize,
        /// Seed of the writes: the same seed gives the same writes
        #[arg(long, value_name = "N", default_value_t = 1)]
        seed: u64,
    },
    /// Sends definitions and objects of a generator to a real kube-apiserver and to the fake, and compares the answers
    Schemas(schemas::Options),
    /// Sends writes of a generator to a real kube-apiserver and to the fake, and compares the answers
    Writes(writes::Options),
    /// Writes and watches with many clients while the server is disrupted in every way, and checks its guarantees
    Endurance(endurance::Options),
    /// Writes with many clients while webhooks fail, policies and quotas change and namespaces go, and checks what was admitted
    Admission(admission::Options),
    /// Sends the inputs of the fuzz targets to a server beside another client, and tells which of them makes it wait. For a machine that does
    /// nothing else
    Inputs(inputs::Options),
    /// The server of an endurance test
    #[command(hide = true)]
    EnduranceHost {
        /// File for the changes in its store
        changes: PathBuf,
    },
    /// Compares a real kube-apiserver and the fake on definitions of custom resources and on examples
    Crds(crds::cli::Options),
    /// Compares a real kube-apiserver and the fake on manifests, which kubectl applies to both
    Manifests(manifests::cli::Options),
    /// Compares a real kube-apiserver and the fake on pods that meet or violate the standards for pods
    PodSecurity(pod_security::Options),
    /// Runs other projects' clients, and Kubernetes' own tests, against the fake and a real kube-apiserver
    Clients(clients::cli::Options),
    /// Runs suites of Go packages that start envtest with the real pair and with this program, and compares their verdicts
    Suites(suites::cli::Options),
    /// Attacks a server, and checks that it stays healthy
    Attack(attack::cli::Options),
    /// Builds a real control plane, or runs one by hand
    #[command(subcommand)]
    Real(control_plane::cli::Task),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// The library, in this process
    Embedded,
    /// The binary, as a process, over TLS
    Process,
    /// The library over TLS, with real kube-controller-managers on it
    Kcm,
    /// A kube-apiserver: the one at --server, or else one started here
    Real,
    /// A kube-apiserver without a watch cache
    RealUncached,
    /// All targets in turn; the histories are compared, and the score is written
    All,
}

impl Kind {
    /// The single targets behind this one, in the order they are played.
    fn each(self) -> Vec<Kind> {
        match self {
            Kind::All => vec![Kind::Embedded, Kind::Process, Kind::Kcm, Kind::Real, Kind::RealUncached],
            one => vec![one],
        }
    }

    /// The target, ready to be played on.
    async fn target(self, server: &Server) -> Result<Box<dyn Target>> {
        Ok(match self {
            Kind::Embedded => Box::new(Embedded),
            Kind::Process => Box::new(Process::find()?),
            Kind::Kcm => Box::new(Kcm::find()?),
            Kind::Real => Box::new(server.connect(true).await?),
            Kind::RealUncached => Box::new(server.connect(false).await?),
            Kind::All => bail!("name a single target here, not `all`"),
        })
    }
}

#[derive(Debug, Args)]
struct Server {
    /// The address of a real server that runs already; its clocks, logs and keys are out of reach
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
    /// The server at `--server`, or one started here.
    async fn connect(&self, cached: bool) -> Result<Real> {
        let Some(url) = self.server.as_deref() else { return Real::start(cached).await };
        let ca_pem = self.certificate_authority.as_ref().map(std::fs::read_to_string).transpose()?;
        let token = |argument: &String| {
            let (user, token) = argument.split_once('=').context("--token wants USER=TOKEN")?;
            Ok((user.to_owned(), token.to_owned()))
        };
        Real::at(url, ca_pem, self.tokens.iter().map(token).collect::<Result<_>>()?, cached)
    }
}

/// The folder of the project's own scenarios.
const SCENARIOS: &str = "fixtures/scenarios";

/// The scenarios in a folder and below, whose commands are understood.
fn loaded(folder: &Path) -> Result<Vec<Scenario>> {
    let scenarios = Scenario::load_all(folder)?;
    play::check(&scenarios)?;
    Ok(scenarios)
}

/// Runs the command line; all paths are below `root`, the workspace's folder. Succeeds only if everything passed.
pub async fn main(cli: Cli, root: &Path) -> Result<ExitCode> {
    match &cli.command {
        Some(Command::Judge { history }) => judge(&loaded(&root.join(SCENARIOS))?, history),
        Some(Command::Bless { uncached, server, filter }) => {
            let scenarios = with_whole_files(loaded(&root.join(SCENARIOS))?, filter)?;
            let real = server.connect(!uncached).await?;
            crate::bless::bless(&scenarios, &real, &root.join("fixtures")).await?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Cases { check, filter }) => {
            crate::cases::run(&Real::start(true).await?, root, *check, filter).await?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Kinds { check }) => {
            crate::kinds::run(root, *check).await?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Openapi { check }) => {
            crate::openapi::run(root, *check).await?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Lines { check }) => {
            crate::command_lines::record(&root.join("fixtures/command-lines.jsonl"), *check)?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Configurations { check }) => {
            crate::configurations::record(&root.join("fixtures/configurations.jsonl"), *check)?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Bootstrap) => {
            let output = root.join("fake-apiserver/src/reconcile/bootstrap.jsonl");
            crate::bootstrap::record(&Real::start_with(true, &[crate::kinds::ASKED]).await?, &output).await?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Crds(options)) => crds::cli::run(options, root).await,
        Some(Command::Manifests(options)) => manifests::cli::run(options, root).await,
        Some(Command::PodSecurity(options)) => pod_security::run(options, root).await,
        Some(Command::Clients(options)) => clients::cli::run(options, root, &target_folder(root)).await,
        Some(Command::Suites(options)) => suites::cli::run(options, root, &target_folder(root)),
        Some(Command::Attack(options)) => attack::cli::run(options, root).await,
        Some(Command::Soak { writes, seed }) => soak(*writes, *seed).await,
        Some(Command::Schemas(options)) => {
            let outcome = schemas::run(*options).await?;
            println!("{outcome}");
            Ok(if outcome.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Some(Command::Writes(options)) => {
            let outcome =
                writes::run(options, root, Ledger::load(&root.join("fixtures/expectations.toml"))?.omitted).await?;
            println!("{outcome}");
            Ok(if outcome.differing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Some(Command::Endurance(options)) => {
            let outcome = endurance::run(*options).await?;
            println!("{outcome}");
            Ok(if outcome.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Some(Command::Admission(options)) => {
            let outcome = admission::run(*options).await?;
            println!("{outcome}");
            Ok(if outcome.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Some(Command::Inputs(options)) => {
            let outcome = inputs::run(options, root).await?;
            println!("{outcome}");
            Ok(if outcome.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Some(Command::EnduranceHost { changes }) => {
            endurance::serve(changes).await?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Real(task)) => {
            control_plane::cli::run(task, root, &target_folder(root)).await?;
            Ok(ExitCode::SUCCESS)
        }
        None => cli.run.main(root).await,
    }
}

/// Runs the soak test with both modes of the controller.
async fn soak(writes: usize, seed: u64) -> Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    for auto_generate in [true, false] {
        let outcome = crate::soak::soak(Options { writes, seed, auto_generate }).await?;
        println!("auto-generate={auto_generate}: {outcome}\n");
        if !outcome.findings.is_empty() {
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

fn judge(scenarios: &[Scenario], path: &Path) -> Result<ExitCode> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let history = History::parse(&text).map_err(anyhow::Error::msg).with_context(|| path.display().to_string())?;
    let name = history.events().find_map(|event| match event {
        Event::Started { scenario, .. } => Some(scenario),
        _ => None,
    });
    let findings = match scenarios.iter().find(|scenario| Some(&scenario.name) == name) {
        Some(scenario) => check::findings(scenario, &Played::replay(scenario, history)),
        None => check::guarantees(&history),
    };
    for finding in &findings {
        println!("{finding}");
    }
    println!("{} findings", findings.len());
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn filtered(mut scenarios: Vec<Scenario>, filter: Option<&str>) -> Result<Vec<Scenario>> {
    let filter = filter.unwrap_or_default();
    // A folder: `create/` is not that of `namespaces-create/`.
    let matches = |name: &str| if filter.ends_with('/') { name.starts_with(filter) } else { name.contains(filter) };
    scenarios.retain(|scenario| matches(&scenario.name));
    ensure!(!scenarios.is_empty(), "no scenario's name contains {filter:?}");
    Ok(scenarios)
}

/// The scenarios whose name contains `filter`, with the others of their files.
fn with_whole_files(mut scenarios: Vec<Scenario>, filter: &str) -> Result<Vec<Scenario>> {
    let files: BTreeSet<String> = filtered(scenarios.clone(), Some(filter))?.into_iter().map(|one| one.file).collect();
    scenarios.retain(|scenario| files.contains(&scenario.file));
    Ok(scenarios)
}

fn target_folder(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}
