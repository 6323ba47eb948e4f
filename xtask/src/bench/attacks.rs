//! Gets of an object of 1 kB while other clients, as another user, attack the server in one way at a time: each on a server of its own.

mod catalogue;
mod common;
mod compiled;

use super::client::{Call, Target};
use super::process::Process;
use super::report::{Unit, milliseconds, quantile};
use super::webhook::Webhook;
use super::{Bench, OWN, Programs, READER, TOKEN, USER};
use anyhow::{Context as _, anyhow};
use http::Method;
use serde_json::json;
use std::future::Future;
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::{self, Runtime};
use tokio::sync::watch;
use tokio::task::spawn_blocking;

/// The longest duration of a measurement.
const TURN: Duration = Duration::from_secs(4);
const OBJECT: &str = "/api/v1/namespaces/default/configmaps/beside";
/// Streams that an attacker opens and resets over one connection.
const RESETS: usize = 300;

/// An attack: what is there before, and what its clients send.
struct Attack {
    name: &'static str,
    before: Vec<Call>,
    calls: Vec<Call>,
    way: Way,
    /// The number of clients.
    clients: usize,
    /// Flags of the server.
    flags: &'static [&'static str],
}

/// The way in which clients send their calls.
#[derive(Clone, Copy)]
enum Way {
    /// One after the other, again and again.
    Repeated,
    /// Once; the measurement ends with them.
    Once,
    /// Over HTTP/2, each reset as soon as it is sent.
    Reset,
}

impl Bench<'_> {
    /// Measures gets beside each attack.
    pub(super) async fn attacks(&mut self, programs: &Programs) -> anyhow::Result<()> {
        let webhook = Webhook::start(&[])?;
        for attack in catalogue::all(&webhook).into_iter().chain(compiled::all()).chain(common::all()) {
            let name = format!("get of 1 kB beside {}, 99 %", attack.name);
            if !self.wants(&name) {
                continue;
            }
            let process = Process::start(programs.own().args(attack.flags))?;
            let targets = [TOKEN, READER, USER].map(|token| Target::new(process.url(), token, None));
            let [administrator, reader, attacker] = targets;
            let (administrator, reader, attacker) = (administrator?, reader?, attacker?);
            let measured = spawn_blocking(move || measure(&administrator, &reader, &attacker, attack)).await?;
            let durations: Vec<f64> = measured.with_context(|| name.clone())?.into_iter().map(milliseconds).collect();
            let mut samples = self.no_samples();
            samples[OWN].extend(quantile(&durations, 0.99));
            self.add(&name, Unit::Milliseconds, samples);
        }
        Ok(())
    }
}

/// The durations of gets beside an attack. They are measured on a thread that does nothing else.
fn measure(
    administrator: &Target,
    reader: &Target,
    attacker: &Target,
    attack: Attack,
) -> anyhow::Result<Vec<Duration>> {
    let Attack { before, calls, way, clients, .. } = attack;
    let runtime = single()?;
    runtime.block_on(prepared(administrator, before))?;
    let mut connection = runtime.block_on(reader.connect())?;
    let (over, ended) = watch::channel(false);
    let clients: Vec<_> = (0..clients)
        .map(|_| {
            let (target, calls, ended) = (attacker.clone(), calls.clone(), ended.clone());
            thread::spawn(move || single()?.block_on(until(ended, send(&target, &calls, way))))
        })
        .collect();
    let durations = runtime.block_on(async {
        let (begin, mut durations) = (Instant::now(), Vec::new());
        while begin.elapsed() < TURN && !clients.iter().all(thread::JoinHandle::is_finished) {
            let sent = Instant::now();
            connection.exchange(Call::get(OBJECT)).await?;
            durations.push(sent.elapsed());
        }
        anyhow::Ok(durations)
    });
    over.send_replace(true);
    for client in clients {
        client.join().map_err(|_| anyhow!("a client has panicked"))??;
    }
    durations
}

fn single() -> std::io::Result<Runtime> {
    runtime::Builder::new_current_thread().enable_all().build()
}

/// Creates the object that is read, and what the attack needs.
async fn prepared(administrator: &Target, before: Vec<Call>) -> anyhow::Result<()> {
    let mut connection = administrator.connect().await?;
    let object = json!({"metadata": {"name": "beside"}, "data": {"text": "x".repeat(700)}}).to_string();
    let collection = OBJECT.rsplit_once('/').map_or(OBJECT, |(collection, _)| collection);
    connection.exchange(Call::new(Method::POST, collection, object)).await?;
    for call in before {
        connection.exchange(call).await?;
    }
    Ok(())
}

/// Runs an attacker until the attack is over, or it has done what it had to.
async fn until(
    mut ended: watch::Receiver<bool>,
    attacker: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<()> {
    tokio::select! {
        _ = ended.wait_for(|ended| *ended) => Ok(()),
        done = attacker => done,
    }
}

async fn send(target: &Target, calls: &[Call], way: Way) -> anyhow::Result<()> {
    match way {
        Way::Once | Way::Repeated => {
            let mut connection = target.connect().await?;
            loop {
                for call in calls {
                    connection.answer(call.clone()).await?;
                }
                if matches!(way, Way::Once) {
                    return Ok(());
                }
            }
        }
        Way::Reset => loop {
            let connection = target.connect_http2().await?;
            for call in calls.iter().cycle().take(RESETS) {
                // The server closes a connection on which many streams are reset.
                if connection.clone().reset(call.clone()).await.is_err() {
                    break;
                }
            }
        },
    }
}
