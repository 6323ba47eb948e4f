//! The soak of admission: hundreds of clients write, while webhooks fail one time in ten, limits and quotas change, and namespaces are
//! deleted. All that was sent, answered, reviewed and shown is recorded, and a pure function judges it.
//!
//! ```text
//!   clients ────▶ server ◀───── changes: policies, parameters, quotas, namespaces
//!      │            │ ▲ └──▶ watches of config maps, quotas, namespaces ──┐
//!      │            ▼ │                                                   ▼
//!      │          webhooks: they admit, refuse, fail, hang ─ reviews ─▶ history ─▶ verdict
//!      └──────────────────────────── writes ──────────────────────────────┘
//! ```
//!
//! The same seed gives the same clients; the order of their requests, and what webhooks do, is left to chance. A task gives back to
//! quotas what was deleted, as upstream's controller does, but never too early, so that the quotas are exact.

mod changes;
mod client;
pub mod history;
mod hooks;
mod observer;
mod verdict;
mod world;

pub use crate::findings::Outcome;
pub use history::History;
pub use verdict::{Cause, causes, verdict};

use crate::credentials::ADMINISTRATOR;
use crate::line::Line;
use crate::subject::{Embedded, Process, Real, Setup, Target};
use anyhow::{Context as _, Result};
use changes::{Changes, give_back};
use client::Client;
use futures::future::try_join_all;
use history::{Act, Outcome as Written, Reaction, Used};
use hooks::Hooks;
use observer::Observer;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use world::{GROUP, SLOTS, Slots, found, in_force, must};

/// The time in which namespaces that are deleted have to go.
const NAMESPACES_GO: Duration = Duration::from_secs(120);
/// How long after its replacement a policy may be in force on a real server, whose caches follow in the background.
const REAL_LAG: Duration = Duration::from_secs(5);

/// The options of a soak of admission.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Options {
    /// The server
    #[arg(long, value_enum, default_value_t = Kind::Embedded)]
    pub target: Kind,
    /// How long clients write
    #[arg(long, value_name = "N", default_value_t = 300)]
    pub seconds: u64,
    /// Number of clients
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub clients: usize,
    /// Seed of the clients and of the changes
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// A server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// The library, in this process
    Embedded,
    /// The program
    Process,
    /// A real kube-apiserver, to see that the verdict is just
    Real,
}

/// Runs a soak of admission and judges the server.
///
/// # Errors
/// If the server does not start, or refuses what prepares the soak.
pub async fn run(options: Options) -> Result<Outcome> {
    let target: Box<dyn Target> = match options.target {
        Kind::Embedded => Box::new(Embedded),
        Kind::Process => Box::new(Process::find()?),
        Kind::Real => Box::new(Real::start(true).await?),
    };
    let setup = Setup {
        scenario: "soak".to_owned(),
        replicas: 1,
        flags: Vec::new(),
        has_own_files: false,
        manual_clock: false,
        tls: true,
    };
    let cluster = target.start(&setup).await?;
    let token = cluster.token(ADMINISTRATOR).context("the administrator has no token")?;
    let endpoint = cluster.endpoints()[0].clone();
    let connect = || Line::connect(&endpoint, &token, "soak");
    let lag = if options.target == Kind::Real { REAL_LAG } else { Duration::ZERO };
    let mut history = soak(options, cluster.namespace(), connect).await?;
    history.lag = lag;
    cluster.stop().await?;
    Ok(Outcome { findings: verdict(&history), figures: figures(&history) })
}

/// The history of a soak. `run` is a name for it.
async fn soak(options: Options, run: &str, connect: impl AsyncFn() -> Result<Line>) -> Result<History> {
    let Options { seconds, clients, seed, .. } = options;
    let line = connect().await?;
    let objects = Observer::open(&line, "/api/v1/configmaps", history::data).await?;
    let quotas = Observer::open(&line, "/api/v1/resourcequotas", used).await?;
    let namespaces = Observer::open(&line, "/api/v1/namespaces", |_| ()).await?;
    let hooks = Hooks::start().await?;
    let names: Vec<String> = (0..SLOTS).map(|slot| format!("{run}-{slot}")).collect();
    let mut changes = Changes {
        line: line.clone(),
        run: run.to_owned(),
        slots: Arc::new(Slots::new(names.clone())),
        begun: Instant::now(),
        random: fastrand::Rng::with_seed(seed),
        limits: Vec::new(),
        condemned: Vec::new(),
    };
    for name in &names {
        let hard = changes.hard();
        found(&line, run, name, hard).await?;
    }
    changes.create(&names[0]).await?;
    for (resource, body) in hooks.configurations(run) {
        must(&line, "POST", &format!("{GROUP}/{resource}"), &body).await?;
    }
    settled(&line, &names[0], &hooks).await?;

    let (slots, begun) = (changes.slots.clone(), changes.begun);
    let (returned, to_return) = mpsc::unbounded_channel();
    let giving = tokio::spawn(give_back(connect().await?, to_return));
    let stop = CancellationToken::new();
    let changing = tokio::spawn(changes.run(stop.clone()));
    let mut writing = Vec::new();
    for number in 0..clients {
        let client = Client::new(connect().await?, (number, seed), slots.clone(), begun, returned.clone());
        writing.push(tokio::spawn(client.run(stop.clone())));
    }
    drop(returned);
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    stop.cancel();
    let writes = try_join_all(writing).await?.into_iter().flatten().collect();
    let Changes { limits, condemned, .. } = changing.await??;
    giving.await?;
    gone(&namespaces, &condemned).await;
    for (resource, _) in hooks.configurations(run) {
        must(&line, "DELETE", &format!("{GROUP}/{resource}/{run}"), &Value::Null).await?;
    }
    Ok(History {
        writes,
        reviews: hooks.reviews(),
        limits,
        objects: objects.end().await?,
        quotas: quotas.end().await?,
        namespaces: namespaces.end().await?,
        condemned,
        lag: Duration::ZERO,
    })
}

/// Waits until all webhooks are in force.
async fn settled(line: &Line, namespace: &str, hooks: &Hooks) -> Result<()> {
    let path = format!("{}?dryRun=All", world::config_maps(namespace));
    in_force("the webhooks", async || {
        world::ask(line, "POST", &path, &world::body("probe", "", 0)).await?;
        let reviews = hooks.reviews();
        let of_probes = || reviews.get("").into_iter().flatten();
        Ok(history::Hook::ALL.iter().all(|hook| of_probes().any(|review| review.hook == *hook)))
    })
    .await
}

/// Waits until the namespaces are gone, or had time enough; the verdict says which are not.
async fn gone(namespaces: &Observer<()>, condemned: &[String]) {
    let begin = Instant::now();
    for name in condemned {
        while !namespaces.is_gone(&(String::new(), name.clone())) && begin.elapsed() < NAMESPACES_GO {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// The counts of config maps in the status of a quota.
fn used(document: &Value) -> Used {
    let number = |part: &str| {
        let text = document["status"][part]["configmaps"].as_str();
        text.and_then(|text| text.parse().ok()).unwrap_or_default()
    };
    Used { hard: number("hard"), used: number("used") }
}

fn figures(history: &History) -> String {
    let listed = |counts: BTreeMap<String, usize>| {
        counts.into_iter().map(|(what, count)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
    };
    let done = |act: fn(&Act) -> bool| {
        history.writes.iter().filter(|write| matches!(write.outcome, Written::Done(..)) && act(&write.act)).count()
    };
    let mut reactions = BTreeMap::new();
    for review in history.reviews.values().flatten() {
        let name = match review.reaction {
            Reaction::Admitted(_) => "admitted",
            Reaction::Denied => "refused",
            Reaction::Wrong => "patched wrongly",
            Reaction::Error => "answered 500",
            Reaction::Silent => "not answered",
        };
        *reactions.entry(name.to_owned()).or_default() += 1;
    }
    let longest =
        history.writes.iter().map(|write| write.answered.saturating_sub(write.sent)).max().unwrap_or_default();
    format!(
        "{} writes: {} creates, {} updates, {} patches and {} deletions were carried out; refused: {}\n\
         reviews: {}\n\
         {} versions of policies, {} of quotas, {} namespaces deleted; the longest request took {longest:.1?}\n",
        history.writes.len(),
        done(|act| *act == Act::Create),
        done(|act| matches!(act, Act::Update(_))),
        done(|act| *act == Act::Patch),
        done(|act| *act == Act::Delete),
        listed(causes(history)),
        listed(reactions),
        history.limits.len(),
        history.quotas.len(),
        history.condemned.len(),
    )
}
