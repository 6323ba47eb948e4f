//! The endurance test: hundreds of clients and thousands of watches, while watches are cut, replicas stopped and started, caches held
//! back, history forgotten, and every kind of fault rule is in force for a while. All that was answered and shown is recorded, and a
//! pure function judges it: what an API server promises holds all the while, and its memory does not grow.
//!
//! ```text
//!   parent: writers, heavy clients, watches, disruptions ──HTTP/2──▶ child: a server of three replicas ──▶ a file of what its store says of changes
//!      └──────────────── history ──▶ verdict ◀────────────────────────────────────────────────┘
//! ```

mod faults;
mod heavy;
pub mod history;
mod host;
mod link;
mod names;
mod outcome;
mod verdict;
mod watcher;
mod writer;

pub use crate::findings::Outcome;
pub use host::serve;
pub use verdict::verdict;

use crate::attack::vitals::{Patient, Vitals};
use anyhow::{Context as _, Result, ensure};
use faults::FAULTS;
use futures::future::try_join_all;
use history::{History, NAMESPACES, Scope, Watch, Write};
use host::{REMEMBERED, REPLICAS};
use http::Method;
use link::{Link, Responses};
use outcome::Counts;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use watcher::{Goal, Watcher};
use writer::{OBJECTS, Writer};

/// How long a disruption lasts, and the pause after it.
const DISRUPTED: Duration = Duration::from_secs(2);
/// The time without disruptions after history was forgotten on command, in which watches get the bookmarks that come each minute.
const REST: Duration = Duration::from_secs(75);
/// The time in which every watch has to have everything in the end.
const CATCH_UP: Duration = Duration::from_secs(120);
/// Every so manieth watch begins with a streamed list.
const STREAMED: u32 = 4;

/// The options of an endurance test.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Options {
    /// How long it takes, without its beginning and its end
    #[arg(long, value_name = "N", default_value_t = 600)]
    pub seconds: u64,
    /// Number of clients that write
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub clients: u32,
    /// Number of clients besides whose requests take long
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub heavy: u32,
    /// Number of watches
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub watches: u32,
    /// Seed of the writes
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// Runs the endurance test and judges the server.
///
/// # Errors
/// If the server does not start, ends, or sends an impossible response.
pub async fn run(options: Options) -> Result<Outcome> {
    let file = tempfile::NamedTempFile::new()?;
    let mut host = Host::start(file.path()).await?;
    let begun = Instant::now();
    let responses = Arc::<Responses>::default();
    let link = |number: u32| Link::new(host.addresses.clone(), host.token.clone(), number as usize, responses.clone());
    let setup = link(0);
    for namespace in 0..NAMESPACES {
        let body = json!({"metadata": {"name": format!("n-{namespace}")}});
        let (status, _) = setup.ask(Method::POST, "/api/v1/namespaces", &body).await?;
        ensure!(status == 201, "a namespace: {status}");
    }
    heavy::prepare(&setup).await?;
    let (opened, stop) = (Arc::new(AtomicU64::new(0)), CancellationToken::new());
    let (goal, goals) = watch::channel(Goal::default());
    let links: Vec<Link> = (0..options.clients).map(link).collect();
    let watches = (0..options.watches).map(|number| {
        let link = links[(number % options.clients) as usize].clone();
        let scope = scope(number, options.clients);
        Watcher::new(link, scope, number % STREAMED == 0, goals.clone()).run(opened.clone())
    });
    let watches: Vec<_> = watches.map(tokio::spawn).collect();
    let writers = links
        .iter()
        .zip(0..)
        .map(|(link, number)| tokio::spawn(Writer::new(link.clone(), number, options.seed).run(stop.clone())));
    let writers: Vec<_> = writers.collect();
    let heavy = (0..options.heavy).map(|number| tokio::spawn(heavy::run(link(number), number, stop.clone())));
    let heavy: Vec<_> = heavy.collect();

    let time = Duration::from_secs(options.seconds);
    let (disruptions, samples) = host.disrupt(time).await?;
    stop.cancel();
    let mut clients = try_join_all(writers).await?;
    let mut tally = heavy::Tally::new();
    for (about, (done, all)) in try_join_all(heavy).await?.into_iter().flatten() {
        let sum = tally.entry(about).or_default();
        *sum = (sum.0 + done, sum.1 + all);
    }
    clients.push(Writer::new(setup.clone(), options.clients, options.seed).touch(0..OBJECTS).await);
    let last = clients.last().into_iter().flatten().filter_map(|write| match write {
        Write::Stored { shown, .. } => Some((shown.object, shown.revision)),
        _ => None,
    });
    goal.send_replace(Arc::new(last.collect::<BTreeMap<_, _>>()));
    let watches = tokio::time::timeout(CATCH_UP, try_join_all(watches)).await;
    let watches = watches.context("not every watch has what there is in the end")??;
    let watches = watches.into_iter().map(|seen| seen.map(|(scope, seen)| Watch { scope, seen }));
    let watches = watches.collect::<Result<Vec<_>>>()?;
    let mut end = Vec::new();
    for namespace in 0..NAMESPACES {
        let (_, list) = setup.ask(Method::GET, &names::collection(namespace), &Value::Null).await?;
        let objects = list["items"].as_array().context("a list has items")?;
        let objects = objects.iter().filter(|object| object["metadata"]["name"] != "kube-root-ca.crt");
        end.extend(objects.map(names::shown).collect::<Result<Vec<_>>>()?);
    }
    host.end().await?;
    let (changes, compactions) = host::read(&std::fs::read_to_string(file.path())?)?;
    let history = History { clients, changes, compactions, watches, end };
    let counts = Counts {
        responses: responses.all(),
        opened: opened.load(Ordering::Relaxed),
        heavy: tally,
        disruptions,
        samples,
        took: begun.elapsed(),
    };
    Ok(Outcome::of(&history, counts, verdict(&history, REMEMBERED as u64), time))
}

/// The scope of the watch of that number: the first one of each client watches a namespace, the others one object each.
fn scope(number: u32, clients: u32) -> Scope {
    let (client, round) = (number % clients, number / clients);
    let namespace = client % NAMESPACES;
    let own = (round + client / NAMESPACES * 7) % (OBJECTS / NAMESPACES);
    Scope { namespace, object: (round > 0).then_some(own * NAMESPACES + namespace) }
}

/// The server's process.
struct Host {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    addresses: Vec<String>,
    token: String,
}

impl Host {
    async fn start(changes: &std::path::Path) -> Result<Host> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("endurance-host").arg(changes).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let stdin = child.stdin.take().context("a pipe")?;
        let mut lines = BufReader::new(child.stdout.take().context("a pipe")?).lines();
        let ready = lines.next_line().await?.context("the server did not start")?;
        let mut words = ready.split(' ').skip(1).map(|word| word.trim_start_matches("http://").to_owned());
        let token = words.next().context("it says a token")?;
        let addresses: Vec<String> = words.collect();
        ensure!(addresses.len() == REPLICAS, "it said {ready:?}");
        Ok(Host { child, stdin, lines, addresses, token })
    }

    async fn tell(&mut self, line: &str) -> Result<()> {
        self.stdin.write_all(format!("{line}\n").as_bytes()).await?;
        let answer = self.lines.next_line().await?.with_context(|| format!("the server ended at {line:?}"))?;
        ensure!(answer == "done", "{line:?}: {answer}");
        Ok(())
    }

    /// Disrupts the server for so long, in one way after the other. Returns the number of disruptions by way, and a sample of the
    /// process's resources for each second.
    async fn disrupt(&mut self, time: Duration) -> Result<(BTreeMap<String, usize>, Vec<Vitals>)> {
        let patient = Patient::new(self.child.id().context("it runs")?);
        let begin = Instant::now();
        let mut ways = ways().into_iter().cycle();
        let (mut counts, mut samples) = (BTreeMap::new(), Vec::new());
        let mut tick = tokio::time::interval(Duration::from_secs(1));
        let mut pass = async |seconds: u64| -> Result<()> {
            for _ in 0..seconds {
                tick.tick().await;
                samples.push(patient.vitals()?);
            }
            Ok(())
        };
        while begin.elapsed() < time {
            let (first, then) = ways.next().context("there are some")?;
            self.tell(&first).await?;
            pass(DISRUPTED.as_secs()).await?;
            if let Some(then) = then {
                self.tell(&then).await?;
            }
            pass(if first == "compact" { REST } else { DISRUPTED }.as_secs()).await?;
            let way = first.split(' ').next().unwrap_or_default();
            *counts.entry(way.to_owned()).or_default() += 1;
        }
        Ok((counts, samples))
    }

    async fn end(mut self) -> Result<()> {
        drop(self.stdin);
        let status = self.child.wait().await?;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }
}

/// The disruptions: the command that starts each, and the command that ends it, if it does not end by itself.
fn ways() -> Vec<(String, Option<String>)> {
    let with_end = |first: String, then: String| (first, Some(then));
    let round = |number: usize| {
        let replica = number % REPLICAS;
        let held = (replica + 1) % REPLICAS;
        let mut ways = vec![
            with_end(format!("fault {number}"), "calm".to_owned()),
            ("cut".to_owned(), None),
            with_end(format!("stop {replica}"), format!("start {replica}")),
            with_end(format!("hold {held}"), format!("release {held}")),
        ];
        if number % 5 == 4 {
            ways.push(("compact".to_owned(), None));
        }
        ways
    };
    (0..FAULTS.len()).flat_map(round).collect()
}
