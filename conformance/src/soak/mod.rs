//! The soak test: many writes, cut watches and compacted history, to see whether client-go's informers lose an event on the fake. The
//! real tokens controller is connected, and what it does afterwards shows what its caches hold.
//!
//! ```text
//! writes, watches end every CUT ─▶ outage: no watch can be opened until history is compacted ─▶ quiet ─┐
//!   ▲                                                                                                  │ some times
//!   └───────────────────────────────────────────────◀──────────────────────────────────────────────────┘
//! touch everything ─▶ quiet ─▶ writes, watches end every CUT ─▶ quiet ─▶ touch accounts ─▶ quiet ─▶ judge ─▶ findings
//!                                                                           └──────◀── it may still remember wrongly
//! ```
//!
//! The controller by design may miss what happens during an outage. Hence the touch, an update of every object, after the last one.
//! From then on no event may be lost, and only accounts are touched, so that nothing else makes up for a lost event.
//!
//! The same seed gives the same writes. The controller's calls depend on timing; the state that it has to reach does not.

mod past;
mod script;
mod verdict;

pub use past::Past;
pub use verdict::{End, verdict};

use crate::credentials::ADMINISTRATOR;
use crate::subject::controller::{Controller, ControllerKind, TokenSettings};
use crate::subject::controllers::client;
use crate::subject::{Cluster, Kcm, Setup};
use anyhow::{Context as _, Result, anyhow};
use fake_apiserver::{FakeApiServer, On, RequestRecord, internals};
use futures::stream::FuturesUnordered;
use futures::{StreamExt as _, TryStreamExt as _};
use kube::Api;
use kube::api::{Patch, PatchParams};
use past::Observer;
use script::{Places, Script};
use serde::de::DeserializeOwned;
use serde_json::json;
use std::fmt::{self, Debug};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Number of writes in progress at once.
const AT_ONCE: usize = 8;
/// Number of writes from one end of all watches to the next.
const CUT: usize = 100;
/// Number of writes in a part of the test. Every part but the last ends with an outage.
const OUTAGE: usize = 2000;
/// Number of writes during an outage.
const OUTAGE_LASTS: usize = 150;
/// Time for which the controller of 1.25 trusts its own writes that no watch has confirmed: the 60 s of its mutation cache, and
/// some reserve.
const MEMORY: Duration = Duration::from_secs(75);
/// Pause between two looks whether its mutation cache has expired.
const PAUSE: Duration = Duration::from_secs(5);
/// Time for the controller to become quiet.
const DEADLINE: Duration = Duration::from_secs(300);
/// The user that the controller runs as.
const USER: &str = "tokens";

/// The options of a soak test.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The number of writes of secrets that have to succeed.
    pub writes: usize,
    /// The seed of the writes.
    pub seed: u64,
    /// Whether the controller creates tokens for accounts without one; that takes its version 1.25.
    pub auto_generate: bool,
}

/// The outcome of a soak test.
#[derive(Debug)]
pub struct Outcome {
    /// The violations found; empty if the controller passed.
    pub findings: Vec<String>,
    /// Number of writes of secrets that succeeded.
    writes: usize,
    cuts: usize,
    outages: usize,
    /// Number of the controller's calls, without lists and watches.
    calls: usize,
    watches: usize,
    /// Number of times the controller listed all secrets.
    beginnings: usize,
    end: End,
    took: Duration,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome { writes, cuts, outages, calls, watches, beginnings, end, took, findings } = self;
        writeln!(f, "{writes} secret writes, {cuts} times cut off, {outages} times until history was forgotten")?;
        writeln!(f, "{calls} calls of the controller, {watches} watches, {beginnings} times all secrets anew")?;
        writeln!(f, "{} accounts and {} token secrets in the end", end.accounts(), end.secrets())?;
        write!(f, "{} findings in {:.1} s", findings.len(), took.as_secs_f64())?;
        findings.iter().try_for_each(|finding| write!(f, "\n    {finding}"))
    }
}

/// Runs the soak test and judges the controller.
///
/// # Errors
/// If a program was not built or does not start, or the server refuses a request of the test.
pub async fn soak(options: Options) -> Result<Outcome> {
    let begun = Instant::now();
    let setup = Setup {
        scenario: "soak".to_owned(),
        replicas: 1,
        flags: Vec::new(),
        has_own_files: false,
        manual_clock: false,
        tls: false,
    };
    let cluster = Kcm::find()?.launch(&setup).await?;
    let settings = TokenSettings { auto_generate: options.auto_generate, max_retries: None };
    let controller =
        cluster.controller(USER, ControllerKind::Tokens(settings)).await?.context("the target has no controller")?;
    let places = Places::new(&client(&cluster, ADMINISTRATOR)?, cluster.namespace());
    let mut disruptor = Disruptor::new(cluster.server(), cluster.namespace())?;
    let mut script = Script::new(options.seed);
    let parts = (options.writes / OUTAGE).max(2);
    let mut writes = 0;
    for part in 1..=parts {
        let last = part == parts;
        if last {
            touch_each(places.account_api(), &places.account_names().await?, "after the outages").await?;
            touch_each(places.secret_api(), &places.token_names().await?, "after the outages").await?;
            quiet(&*controller, &cluster).await?;
        }
        writes +=
            storm((options.writes * part / parts).saturating_sub(writes), !last, &mut script, &places, &mut disruptor)
                .await?;
        quiet(&*controller, &cluster).await?;
    }

    let calm = Instant::now();
    let mut round = 0;
    let (mut findings, end) = loop {
        round += 1;
        let before = cluster.calls(USER).await?.len();
        touch_each(places.account_api(), &places.account_names().await?, &round.to_string()).await?;
        quiet(&*controller, &cluster).await?;
        let calls = cluster.calls(USER).await?;
        let end = End::of(&places.accounts().await?, &places.secrets().await?)?;
        let findings = verdict(options.auto_generate, &end, disruptor.observer.past()?, &calls, calls.len() - before);
        if findings.is_empty() || calm.elapsed() > MEMORY {
            break (findings, end);
        }
        tokio::time::sleep(PAUSE).await;
    };
    let Disruptor { cuts, outages, .. } = disruptor;
    controller.stop().await?;
    let calls = cluster.calls(USER).await?.len();
    let mut records = cluster.server().requests();
    records.retain(|record| record.user.as_ref().is_some_and(|user| user.name == USER) && record.namespace.is_empty());
    let watches = records.iter().filter(|record| record.verb == "watch").count();
    let begins = |record: &&Arc<RequestRecord>| record.verb == "list" || record.uri.contains("sendInitialEvents=true");
    let beginnings = records.iter().filter(|record| record.resource == "secrets").filter(begins).count();
    if beginnings <= outages {
        findings.push(format!("history was forgotten {outages} times, yet it began anew only {beginnings} times"));
    }
    Box::new(cluster).stop().await?;
    Ok(Outcome { findings, writes, cuts, outages, calls, watches, beginnings, end, took: begun.elapsed() })
}

/// Makes writes until `enough` have succeeded; the last of them during an outage, if there is one.
async fn storm(
    enough: usize,
    outage: bool,
    script: &mut Script,
    places: &Places,
    disruptor: &mut Disruptor<'_>,
) -> Result<usize> {
    let mut under_way = FuturesUnordered::new();
    let mut written = 0;
    let blocks_at = enough.saturating_sub(OUTAGE_LASTS);
    while written < enough {
        while under_way.len() < AT_ONCE {
            under_way.push(places.make(script.next_write()));
        }
        if !under_way.try_next().await?.unwrap_or_default() {
            continue;
        }
        written += 1;
        if outage && written == blocks_at.max(1) {
            disruptor.block_watches();
        } else if written % CUT == 0 {
            disruptor.cut();
        }
    }
    if outage {
        disruptor.clear()?;
    }
    let rest: Vec<bool> = under_way.try_collect().await?;
    Ok(written + rest.into_iter().filter(|written| *written).count())
}

/// Disrupts the controller's watches.
struct Disruptor<'a> {
    server: &'a FakeApiServer,
    observer: Observer,
    cuts: usize,
    outages: usize,
}

impl<'a> Disruptor<'a> {
    fn new(server: &'a FakeApiServer, namespace: &str) -> Result<Disruptor<'a>> {
        Ok(Disruptor { server, observer: Observer::new(internals::store(server), namespace), cuts: 0, outages: 0 })
    }

    fn cut(&mut self) {
        self.server.disconnect_watches();
        self.cuts += 1;
    }

    /// Ends the watches and refuses new ones.
    fn block_watches(&mut self) {
        // After 429, and no other error, client-go resumes a watch at its last revision.
        self.server.faults().add(On::verb("watch").user(USER).status(429));
        self.cut();
    }

    /// Reads the history, compacts it, and allows watches again.
    fn clear(&mut self) -> Result<()> {
        let revision = internals::store(self.server).revision();
        self.observer.look()?;
        internals::store(self.server).compact(revision);
        self.server.faults().clear();
        self.outages += 1;
        Ok(())
    }
}

/// Annotates each object, so that the controller syncs it.
async fn touch_each<K>(api: &Api<K>, names: &[String], why: &str) -> Result<()>
where
    K: Clone + DeserializeOwned + Debug,
{
    let patch = Patch::Merge(json!({"metadata": {"annotations": {"touched": why}}}));
    let touch = async |name: &String| match api.patch(name, &PatchParams::default(), &patch).await {
        // The controller may have deleted it.
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        result => result.map(|_| ()),
    };
    futures::stream::iter(names).map(touch).buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await?;
    Ok(())
}

async fn quiet(controller: &dyn Controller, cluster: &dyn Cluster) -> Result<()> {
    let quiet = tokio::time::timeout(DEADLINE, controller.quiet(cluster)).await;
    quiet.map_err(|_| anyhow!("the controller is not quiet after {DEADLINE:?}"))?
}
