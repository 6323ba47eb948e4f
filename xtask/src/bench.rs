//! `cargo xtask bench`: the server under load, beside others under the same load from the same generator.
//!
//! Servers take turns of half a second, so that other load on the machine affects them all alike; a figure is the median
//! of its turns. Absolute numbers depend on the machine, so quote ratios: to a bare hyper server, which shows what could
//! be gained, and to a real API server, given by `--against`.

mod admission;
mod attacks;
pub(crate) mod bare;
mod beside;
mod checks;
mod client;
mod crowd;
mod custom;
mod forks;
mod kubelet;
mod living;
mod load;
mod namespace;
mod process;
mod ratios;
mod recreate;
mod report;
mod rotation;
mod server;
mod watches;
mod webhook;

use anyhow::ensure;
use client::{Call, Target};
use load::{CREATES, CREATES_AT_ONCE, GETS, LISTS, Load, PAGES, POD_CREATES, RBAC_GETS, Session, UPDATES};
use process::Process;
use report::{Figure, Report, Unit, milliseconds, quantile};
use server::{LIST_LENGTH, Server};
use std::env::consts::EXE_SUFFIX;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;
use tempfile::NamedTempFile;
use tokio::task::spawn_blocking;
use watches::{Audience, Deliveries, ONE, THOUSAND};

/// Number of turns of each server in a figure.
const TURNS: usize = 5;
/// Number of starts that are measured.
const STARTS: usize = 11;
/// Bearer token of the servers that are started here.
const TOKEN: &str = "bench";
/// Bearer token, and name, of a user who has only the rights that roles give.
const USER: &str = "bench-user";
/// The same of another one, who reads beside attacks.
const READER: &str = "bench-reader";
/// Number of objects of the list that is read in pages.
const MANY: u64 = 100_000;

const OWN: usize = 0;
const BARE: usize = 1;

const START: &str = "start to first answer";
const MEMORY: &str = "memory at start";
const RECREATED: &str = "deleted token secret recreated";
/// The key that signs service account tokens.
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/keys/rsa.key");
const BESIDE: &str = "get of 1 kB beside the worst bodies";
const WATCHED: &str = "creates kept under 10,000 watches";

/// The arguments: which servers and figures to measure.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Also load this server, such as https://127.0.0.1:6443. Namespaces are created there, and deleted at the end
    #[arg(long, value_name = "URL", requires = "token")]
    against: Option<String>,
    /// Bearer token for that server, of a user with full access
    #[arg(long, value_name = "TOKEN", requires = "against")]
    token: Option<String>,
    /// PEM file with the certificate authority of that server
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    ca: Option<PathBuf>,
    /// Do not verify the certificate of that server
    #[arg(long)]
    insecure: bool,
    /// Only the figures whose names contain this
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Print the table as Markdown
    #[arg(long)]
    markdown: bool,
}

/// Builds the needed programs and prints the table.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if cfg!(debug_assertions) {
        return run_as_distributed();
    }
    let runtime = tokio::runtime::Runtime::new()?;
    let report = runtime.block_on(measure(arguments))?;
    print!("{}", report.table(arguments.markdown));
    Ok(())
}

/// Builds the server and this program as they are distributed, and runs that build in place of this one.
fn run_as_distributed() -> anyhow::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(&cargo)
        .args(["build", "--profile", "dist", "--package", "fake-apiserver-cli", "--package", "kubernetes-controllers"])
        .status()?;
    ensure!(built.success(), "the build has failed");
    let built = Command::new(&cargo)
        .args(["build", "--profile", "dist", "--package", "kubelet"])
        .args(["--example", kubelet::PROGRAM, "--example", rotation::PROGRAM])
        .status()?;
    ensure!(built.success(), "the build has failed");
    let mut run = Command::new(cargo);
    run.args(["run", "--profile", "dist", "--quiet", "--package", "xtask", "--"]).args(std::env::args_os().skip(1));
    ensure!(run.status()?.success(), "the bench has failed");
    Ok(())
}

async fn measure(arguments: &Arguments) -> anyhow::Result<Report> {
    let programs = Programs::find()?;
    let (own, bare) = (programs.start_own()?, programs.start_bare()?);
    let mut servers = vec![server("fake-apiserver", own)?, server("bare hyper", bare)?];
    let other = other(arguments)?.map(Arc::new);
    servers.extend(other.clone());
    let mut bench = Bench { only: &arguments.only, servers, figures: Vec::new() };
    let measured = bench.figures(&programs).await;
    if let Some(other) = other {
        other.depopulate().await?;
    }
    measured?;
    Ok(Report { servers: bench.servers.iter().map(|server| server.name).collect(), figures: bench.figures })
}

/// The server of `--against`.
fn other(arguments: &Arguments) -> anyhow::Result<Option<Server>> {
    let (Some(url), Some(token)) = (&arguments.against, &arguments.token) else { return Ok(None) };
    ensure!(arguments.insecure || arguments.ca.is_some(), "--against needs --ca or --insecure");
    let target = Target::new(url, token, arguments.ca.as_deref())?;
    Ok(Some(Server::new("kube-apiserver", target, None)))
}

fn server(name: &'static str, process: Process) -> anyhow::Result<Arc<Server>> {
    let target = Target::new(process.url(), TOKEN, None)?;
    Ok(Arc::new(Server::new(name, target, Some(process))))
}

/// The programs that can be started here.
struct Programs {
    own: PathBuf,
    this: PathBuf,
    tokens: NamedTempFile,
}

impl Programs {
    fn find() -> anyhow::Result<Self> {
        let this = std::env::current_exe()?;
        let mut tokens = NamedTempFile::new()?;
        writeln!(tokens, "{TOKEN},bench,bench,system:masters\n{USER},{USER},{USER}\n{READER},{READER},{READER}")?;
        Ok(Programs { own: this.with_file_name(format!("fake-apiserver{EXE_SUFFIX}")), this, tokens })
    }

    /// The server with its defaults, but for the port.
    fn start_own(&self) -> anyhow::Result<Process> {
        Process::start(&mut self.own())
    }

    fn own(&self) -> Command {
        let mut command = Command::new(&self.own);
        command.args(["--secure-port=0", "--exit-with-stdin", "--token-auth-file"]).arg(self.tokens.path());
        command
    }

    /// The path of an example, the client's side of a kubelet measurement.
    fn example(&self, name: &str) -> PathBuf {
        self.this.with_file_name("examples").join(format!("{name}{EXE_SUFFIX}"))
    }

    fn start_bare(&self) -> anyhow::Result<Process> {
        Process::start(Command::new(&self.this).arg("bench-bare"))
    }
}

struct Bench<'b> {
    only: &'b str,
    /// The server under test, the bare one, and perhaps a real one.
    servers: Vec<Arc<Server>>,
    figures: Vec<Figure>,
}

impl Bench<'_> {
    async fn figures(&mut self, programs: &Programs) -> anyhow::Result<()> {
        self.starts(programs).await?;
        for server in self.api_servers() {
            server.populate(LIST_LENGTH).await?;
        }
        self.servers[OWN].copy_to(&self.servers[BARE]).await?;
        let servers = self.servers.clone();
        for load in [&CREATES, &CREATES_AT_ONCE, &POD_CREATES, &UPDATES, &GETS] {
            self.load(load, &servers).await?;
        }
        self.creates_past_admission().await?;
        self.gets_under_rbac(programs).await?;
        self.load(&LISTS, &servers).await?;
        self.pages(programs).await?;
        for audience in [&ONE, &THOUSAND] {
            self.deliveries(audience).await?;
        }
        self.gets_beside_the_worst(programs).await?;
        self.crowds(programs).await?;
        self.attacks(programs).await?;
        self.creates_while_watched().await?;
        self.ratios().await?;
        self.memory_of_owners(programs).await?;
        self.custom_objects().await?;
        self.definitions(programs).await?;
        self.forks(programs)?;
        self.checks(programs)?;
        self.living(programs).await?;
        self.recreations(programs).await?;
        self.kubelet(programs).await?;
        self.rotation(programs)
    }

    /// Measures the time until changes are on a node's disk, each on a server of its own.
    fn rotation(&mut self, programs: &Programs) -> anyhow::Result<()> {
        for measurement in rotation::MEASUREMENTS {
            if measurement.names().iter().any(|name| self.wants(name)) {
                let server = programs.start_own()?;
                for (name, unit, own) in measurement.take(&server, &programs.example(rotation::PROGRAM))? {
                    let mut samples = self.no_samples();
                    samples[OWN] = own;
                    self.add(&name, unit, samples);
                }
            }
        }
        Ok(())
    }

    /// Measures the cost and the delay of the kubelet's managers, each on a server of its own.
    async fn kubelet(&mut self, programs: &Programs) -> anyhow::Result<()> {
        for measurement in kubelet::measurements() {
            if measurement.names().any(|name| self.wants(&name)) {
                let server = programs.start_own()?;
                for (name, unit, own) in measurement.take(&server, &programs.example(kubelet::PROGRAM)).await? {
                    let mut samples = self.no_samples();
                    samples[OWN] = own;
                    self.add(&name, unit, samples);
                }
            }
        }
        Ok(())
    }

    async fn recreations(&mut self, programs: &Programs) -> anyhow::Result<()> {
        if !self.wants(RECREATED) {
            return Ok(());
        }
        let folder = tempfile::tempdir()?;
        let kubeconfig = folder.path().join("kubeconfig");
        let mut command = programs.own();
        command.args(["--service-account-signing-key-file", KEY, "--write-kubeconfig"]).arg(&kubeconfig);
        let server = Process::start(&mut command)?;
        let target = Target::new(server.url(), TOKEN, None)?;
        let manager = programs.this.with_file_name(format!("controller-manager{EXE_SUFFIX}"));
        let durations = recreate::recreations(&target, &manager, &kubeconfig, Path::new(KEY)).await?;
        let mut samples = self.no_samples();
        samples[OWN].extend(durations.into_iter().map(milliseconds));
        self.add(RECREATED, Unit::Milliseconds, samples);
        Ok(())
    }

    async fn starts(&mut self, programs: &Programs) -> anyhow::Result<()> {
        if !self.wants(START) && !self.wants(MEMORY) {
            return Ok(());
        }
        let mut times = self.no_samples();
        let mut memory = self.no_samples();
        for _ in 0..STARTS {
            for (index, start) in [(OWN, Programs::start_own as fn(&_) -> _), (BARE, Programs::start_bare)] {
                let begin = Instant::now();
                let process = start(programs)?;
                let target = Target::new(process.url(), TOKEN, None)?;
                target.connect().await?.exchange(Call::get("/readyz")).await?;
                times[index].push(milliseconds(begin.elapsed()));
                memory[index].extend(process.resident_memory().map(|bytes| bytes as f64 / 1e6));
            }
        }
        self.add(START, Unit::Milliseconds, times);
        self.add(MEMORY, Unit::Megabytes, memory);
        Ok(())
    }

    /// Loads servers in turns, in the order of the report's columns.
    async fn load(&mut self, load: &'static Load, servers: &[Arc<Server>]) -> anyhow::Result<()> {
        if !self.wants(load.name) {
            return Ok(());
        }
        let mut sessions = Vec::new();
        for server in servers {
            sessions.push(Session::open(load, server).await?);
        }
        let (mut rates, mut cpu) = (self.no_samples(), self.no_samples());
        for _ in 0..TURNS {
            for (index, session) in sessions.iter_mut().enumerate() {
                let round = session.round().await?;
                rates[index].push(round.rate);
                cpu[index].extend(round.cpu);
            }
        }
        self.add(load.name, Unit::PerSecond, rates);
        self.add(&format!("{}, CPU time of one", load.name), Unit::Microseconds, cpu);
        Ok(())
    }

    /// Measures GETs of a user, on a server with RBAC.
    async fn gets_under_rbac(&mut self, programs: &Programs) -> anyhow::Result<()> {
        if !self.wants(RBAC_GETS.name) {
            return Ok(());
        }
        let mut command = programs.own();
        let process = Process::start(command.arg("--authorization-mode=RBAC"))?;
        let user = Target::new(process.url(), USER, None)?;
        let (own, bare) = (server("fake-apiserver", process)?, self.servers[BARE].clone());
        own.populate(0).await?;
        own.allow_gets(USER).await?;
        self.load(&RBAC_GETS, &[Arc::new(own.for_user(user)), bare]).await
    }

    /// Measures gets while other clients ask for long computations, on a server of its own.
    async fn gets_beside_the_worst(&mut self, programs: &Programs) -> anyhow::Result<()> {
        let names = [format!("{BESIDE}, median"), format!("{BESIDE}, 99 %")];
        if !names.iter().any(|name| self.wants(name)) {
            return Ok(());
        }
        let process = Process::start(programs.own().arg("--authorization-mode=RBAC"))?;
        let [administrator, worst] = [TOKEN, USER].map(|token| Target::new(process.url(), token, None));
        let (administrator, worst) = (administrator?, worst?);
        let measured = spawn_blocking(move || beside::measure(&administrator, &worst, USER, TURNS)).await??;
        ensure!(measured.bodies > 0, "no body was answered");
        for (name, part) in names.iter().zip([0.5, 0.99]) {
            let mut samples = self.no_samples();
            for turn in &measured.turns {
                samples[OWN].extend(quantile(&turn.iter().copied().map(milliseconds).collect::<Vec<_>>(), part));
            }
            self.add(name, Unit::Milliseconds, samples);
        }
        Ok(())
    }

    /// Measures first pages of a long list, on servers of their own.
    async fn pages(&mut self, programs: &Programs) -> anyhow::Result<()> {
        if !self.wants(PAGES.name) {
            return Ok(());
        }
        let own = server("fake-apiserver", programs.start_own()?)?;
        let bare = server("bare hyper", programs.start_bare()?)?;
        own.populate(MANY).await?;
        own.copy_page_to(&bare).await?;
        self.load(&PAGES, &[own, bare]).await
    }

    /// Measures the deletion of namespaces with pods, and how much longer it takes with twice as many.
    async fn namespaces(&mut self, programs: &Programs) -> anyhow::Result<()> {
        let [few, many] = namespace::PODS;
        let names = [few, many].map(|pods| format!("namespace of {pods} graceful pods removed"));
        let growth = format!("the same of {many}, of that of {few}");
        if !names.iter().chain([&growth]).any(|name| self.wants(name)) {
            return Ok(());
        }
        let mut samples = [(); 3].map(|()| self.no_samples());
        for _ in 0..TURNS {
            let process = programs.start_own()?;
            let target = Target::new(process.url(), TOKEN, None)?;
            let [few, many] = [namespace::removal(&target, few).await?, namespace::removal(&target, many).await?];
            samples[0][OWN].push(milliseconds(few));
            samples[1][OWN].push(milliseconds(many));
            samples[2][OWN].push(many.as_secs_f64() / few.as_secs_f64());
        }
        let units = [Unit::Milliseconds, Unit::Milliseconds, Unit::Times];
        for ((name, unit), samples) in names.iter().chain([&growth]).zip(units).zip(samples) {
            self.add(name, unit, samples);
        }
        Ok(())
    }

    async fn deliveries(&mut self, audience: &Audience) -> anyhow::Result<()> {
        let name = format!("event to {}", audience.name);
        if !self.wants(&name) {
            return Ok(());
        }
        let servers = self.servers.clone();
        servers[BARE].keep_frame(watches::frame(&servers[OWN]).await?).await?;
        let mut watched = Vec::new();
        for (index, server) in servers.iter().enumerate() {
            let revision = if index == BARE { "0".to_owned() } else { server.revision().await? };
            watched.push(Deliveries::open(server, audience, &revision).await?);
        }
        let (mut medians, mut tails) = (self.no_samples(), self.no_samples());
        for _ in 0..TURNS {
            for (index, watched) in watched.iter_mut().enumerate() {
                let durations: Vec<f64> = watched.turn().await?.into_iter().map(milliseconds).collect();
                medians[index].extend(quantile(&durations, 0.5));
                tails[index].extend(quantile(&durations, 0.99));
            }
        }
        self.add(&format!("{name}, median"), Unit::Milliseconds, medians);
        self.add(&format!("{name}, 99 %"), Unit::Milliseconds, tails);
        Ok(())
    }

    async fn creates_while_watched(&mut self) -> anyhow::Result<()> {
        if !self.wants(WATCHED) {
            return Ok(());
        }
        let mut kept = self.no_samples();
        for (index, server) in self.servers.iter().enumerate().filter(|(index, _)| *index != BARE) {
            kept[index] = watches::creates_while_watched(server).await?;
        }
        self.add(WATCHED, Unit::Percent, kept);
        Ok(())
    }

    fn wants(&self, name: &str) -> bool {
        name.contains(self.only)
    }

    fn api_servers(&self) -> impl Iterator<Item = &Arc<Server>> {
        self.servers.iter().enumerate().filter(|(index, _)| *index != BARE).map(|(_, server)| server)
    }

    fn no_samples(&self) -> Vec<Vec<f64>> {
        vec![Vec::new(); self.servers.len()]
    }

    fn add(&mut self, name: &str, unit: Unit, samples: Vec<Vec<f64>>) {
        self.figures.push(Figure { name: name.into(), unit, samples });
    }
}
