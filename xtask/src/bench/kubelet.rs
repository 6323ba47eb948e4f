//! Measurements of the kubelet's secret managers: memory of a watch on both sides, delay of a change, and requests for
//! reading. Server and managers are processes of their own.

use super::TOKEN;
use super::client::{Call, Target};
use super::process::{Process, resident_memory};
use super::report::Unit;
use anyhow::{Context, ensure};
use futures::future::try_join_all;
use http::Method;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The program with the managers, an example of the package `kubelet`.
pub(super) const PROGRAM: &str = "bench-managers";

const SECRETS: &str = "/api/v1/namespaces/default/secrets";
/// Connections that create secrets.
const WRITERS: usize = 8;
/// Number of changes whose delay is measured.
const CHANGES: usize = 500;
/// Pod syncs whose cost is measured: for a minute 100 a second, of ten secrets each. That is long enough for a TTL of a
/// minute to expire once.
const SYNCS: usize = 6000;
/// Duration of those syncs by the managers' clock, in seconds.
const SYNC_SECONDS: f64 = 60.0;

/// A measurement: a strategy, the TTL in seconds of the node's annotation (0 in small clusters), and the number of secrets.
pub(super) struct Measurement {
    strategy: &'static str,
    ttl: u32,
    secrets: usize,
    /// The aspects to measure.
    aspects: &'static [Aspect],
}

#[derive(Clone, Copy, PartialEq)]
enum Aspect {
    Memory,
    Changes,
    Syncs,
}

pub(super) fn measurements() -> impl Iterator<Item = Measurement> {
    use Aspect::{Changes, Memory, Syncs};
    let table: [(_, _, _, &[Aspect]); 5] = [
        ("Watch", 0, 1_000, &[Memory, Changes, Syncs]),
        ("Watch", 0, 10_000, &[Memory]),
        ("Cache", 0, 1_000, &[Changes, Syncs]),
        ("Cache", 60, 1_000, &[Syncs]),
        ("Get", 0, 1_000, &[Changes, Syncs]),
    ];
    table.into_iter().map(|(strategy, ttl, secrets, aspects)| Measurement { strategy, ttl, secrets, aspects })
}

impl Aspect {
    /// The names of the figures.
    fn figures(self) -> &'static [&'static str] {
        match self {
            Aspect::Memory => &["memory of a watch, server", "memory of a watch, client"],
            Aspect::Changes => &["change to read, median", "change to read, 99 %"],
            Aspect::Syncs => &["requests of 100 pod syncs a second", "server's CPU time of a pod sync"],
        }
    }
}

impl Measurement {
    /// The names of its figures.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        self.aspects.iter().flat_map(|aspect| aspect.figures()).map(|figure| self.name(figure))
    }

    fn name(&self, figure: &str) -> String {
        let strategy = match (self.strategy, self.ttl) {
            ("Cache", ttl) => format!("Cache {ttl} s"),
            (other, _) => other.to_owned(),
        };
        let thousands = self.secrets / 1000;
        format!("kubelet, {strategy}, {thousands},000 secrets: {figure}")
    }

    /// Measures, on an unused server.
    pub(super) async fn take(&self, server: &Process, program: &Path) -> anyhow::Result<Vec<(String, Unit, Vec<f64>)>> {
        populate(&Target::new(server.url(), TOKEN, None)?, self.secrets).await?;
        let mut managers = Managers::start(program, server.url(), self)?;
        // The first answer shows that it has started.
        managers.ask("change 0")?;
        let memory = |managers: &Managers| [server.resident_memory(), resident_memory(managers.child.id())];
        let before = memory(&managers);
        managers.ask("register")?;
        let after = memory(&managers);
        let mut figures = Vec::new();
        let mut add = |aspect: Aspect, units: [Unit; 2], samples: [Vec<f64>; 2]| {
            for ((figure, unit), samples) in aspect.figures().iter().zip(units).zip(samples) {
                figures.push((self.name(figure), unit, samples));
            }
        };
        for aspect in self.aspects {
            match aspect {
                Aspect::Memory => {
                    let grown = [0, 1]
                        .map(|side| after[side].zip(before[side]).map(|(now, before)| now as f64 - before as f64));
                    let each =
                        grown.map(|bytes| bytes.into_iter().map(|bytes| bytes / 1e3 / self.secrets as f64).collect());
                    add(*aspect, [Unit::Kilobytes, Unit::Kilobytes], each);
                }
                Aspect::Changes => {
                    let answer = managers.ask(&format!("change {CHANGES}"))?;
                    let micros: Result<Vec<f64>, _> = answer.split(' ').map(str::parse).collect();
                    let millis: Vec<f64> = micros?.into_iter().map(|micros| micros / 1e3).collect();
                    let quantiles = [0.5, 0.99].map(|part| super::quantile(&millis, part).into_iter().collect());
                    add(*aspect, [Unit::Milliseconds, Unit::Milliseconds], quantiles);
                }
                Aspect::Syncs => {
                    let cpu_before = server.cpu_time();
                    let requests: f64 = managers.ask(&format!("sync {SYNCS}"))?.parse()?;
                    let cpu = server.cpu_time().zip(cpu_before).map(|(now, before)| (now - before).as_secs_f64());
                    let cpu = cpu.map(|seconds| seconds * 1e6 / SYNCS as f64);
                    let samples = [vec![requests / SYNC_SECONDS], cpu.into_iter().collect()];
                    add(*aspect, [Unit::RequestsPerSecond, Unit::Microseconds], samples);
                }
            }
        }
        Ok(figures)
    }
}

/// Creates that many secrets, of some 200 bytes each.
async fn populate(target: &Target, secrets: usize) -> anyhow::Result<()> {
    let writers = (0..WRITERS).map(|writer| async move {
        let mut connection = target.connect().await?;
        for number in (writer..secrets).step_by(WRITERS) {
            let body = format!(r#"{{"metadata":{{"name":"object-{number}"}},"stringData":{{"password":"hunter2"}}}}"#);
            connection.exchange(Call::new(Method::POST, SECRETS, body)).await?;
        }
        anyhow::Ok(())
    });
    try_join_all(writers).await?;
    Ok(())
}

/// The process with the managers; it ends when this is dropped.
struct Managers {
    child: Child,
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Managers {
    fn start(program: &Path, url: &str, measurement: &Measurement) -> anyhow::Result<Self> {
        let (ttl, secrets) = (measurement.ttl.to_string(), measurement.secrets.to_string());
        let mut command = Command::new(program);
        command.args([url, TOKEN, measurement.strategy, &ttl, &secrets]);
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = spawned.with_context(|| format!("unable to start {}", program.display()))?;
        let commands = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().context("a child without an output")?);
        Ok(Managers { child, commands, answers })
    }

    /// Sends a command and returns the answer.
    fn ask(&mut self, command: &str) -> anyhow::Result<String> {
        let commands = self.commands.as_mut().context("a child without an input")?;
        writeln!(commands, "{command}")?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        ensure!(answer.ends_with('\n'), "the managers have failed at {command:?}");
        Ok(answer.trim_end().to_owned())
    }
}

impl Drop for Managers {
    fn drop(&mut self) {
        drop(self.commands.take());
        if let Err(error) = self.child.wait() {
            eprintln!("unable to wait for the managers: {error}");
        }
    }
}
