//! The managers' side of `cargo xtask bench`: a process with a manager of secrets that obeys commands.
//!
//! ```text
//! bench-managers URL TOKEN STRATEGY TTL OBJECTS
//! ```
//! The secrets `object-0`, `object-1`, ... of the namespace `default` exist; pods refer to ten each. Each line of the
//! standard input is a command, and each is answered by a line:
//!
//! | command | action | answer |
//! |---|---|---|
//! | `register` | registers all pods, reads all secrets once, waits until they are watched if the strategy watches | `done` |
//! | `change N` | N times changes a secret and waits until a read returns the change | the duration of each, in µs |
//! | `sync N` | reads the secrets of N pods, 100 pods a second by the managers' clock | the number of requests |

use anyhow::{Context, bail, ensure};
use futures::future::try_join_all;
use http::Request;
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::api::{Patch, PatchParams};
use kube::client::Body;
use kube::{Api, Client, Config};
use kubelet::client::Pool;
use kubelet::clock::{Clock, ManualClock, SystemClock};
use kubelet::objects::{ObjectManager, Registry, Settings, Strategy, WatchedObjects};
use serde_json::json;
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tokio_util::sync::CancellationToken;
use tower::service_fn;

const NAMESPACE: &str = "default";
/// The number of secrets that a pod refers to.
const SECRETS: usize = 10;
/// The time between the syncs of two pods.
const PAUSE: SignedDuration = SignedDuration::from_millis(10);

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let mut bench = runtime.block_on(async { Bench::new(&std::env::args().skip(1).collect::<Vec<_>>()) })?;
    let mut output = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        writeln!(output, "{}", runtime.block_on(bench.obey(&line?))?)?;
    }
    Ok(())
}

struct Bench {
    /// The connections of the managers' client.
    pool: Pool,
    /// The number of its requests so far.
    requests: Arc<AtomicUsize>,
    clock: ManualClock,
    manager: Arc<dyn ObjectManager<Secret>>,
    /// The manager's store, with the strategy `Watch`.
    watched: Option<Arc<Registry<Secret, WatchedObjects<Secret>>>>,
    pods: usize,
    /// The pod that is synced next.
    next: usize,
    writer: Api<Secret>,
}

impl Bench {
    fn new(arguments: &[String]) -> anyhow::Result<Self> {
        let [url, token, strategy, ttl, objects] = arguments else { bail!("URL TOKEN STRATEGY TTL OBJECTS") };
        let (strategy, ttl): (Strategy, i64) = (strategy.parse()?, ttl.parse()?);
        let mut config = Config::new(url.parse()?);
        config.accept_invalid_certs = true;
        config.auth_info.token = Some(token.clone().into());
        let pool = Pool::new(&config)?;
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = counted(pool.client(config.clone(), "bench-managers")?, requests.clone());
        let clock = ManualClock::new(SystemClock.now());
        let settings = Settings {
            clock: Arc::new(clock.clone()),
            sync_frequency: SignedDuration::from_mins(1),
            node_ttl: Arc::new(move || Some(SignedDuration::from_secs(ttl))),
            shutdown: CancellationToken::new(),
        };
        let watched = (strategy == Strategy::Watch).then(|| settings.clone().watched(counted.clone()));
        let manager = match &watched {
            Some(watched) => watched.clone(),
            None => strategy.manager(counted, settings),
        };
        let pods = objects.parse::<usize>()? / SECRETS;
        let writer = Api::namespaced(kubelet::client::new(config, "bench-writer")?, NAMESPACE);
        Ok(Bench { pool, requests, clock, manager, watched, pods, next: 0, writer })
    }

    async fn obey(&mut self, command: &str) -> anyhow::Result<String> {
        match command.split_once(' ') {
            None if command == "register" => self.register().await,
            Some(("change", times)) => self.change(times.parse()?).await,
            Some(("sync", pods)) => self.sync(pods.parse()?).await,
            _ => bail!("unknown command: {command}"),
        }
    }

    async fn register(&self) -> anyhow::Result<String> {
        for pod in 0..self.pods {
            self.manager.register_pod(&pod_of(pod)?);
            self.read(pod).await?;
        }
        while self.watched.is_some() && self.pool.requests() < self.pods * SECRETS {
            tokio::task::yield_now().await;
        }
        Ok("done".to_owned())
    }

    async fn change(&self, times: usize) -> anyhow::Result<String> {
        let mut durations = Vec::with_capacity(times);
        for number in 0..times {
            let name = object(number % (self.pods * SECRETS));
            let version = number.to_string();
            let patch = Patch::Merge(json!({"metadata": {"labels": {"version": version}}}));
            let is_new = |secret: &Secret| {
                secret.metadata.labels.as_ref().and_then(|labels| labels.get("version")) == Some(&version)
            };
            let start = Instant::now();
            self.writer.patch_metadata(&name, &PatchParams::default(), &patch).await?;
            if let Some(watched) = &self.watched {
                watched.store().until(NAMESPACE, &name, |secret| secret.is_some_and(&is_new)).await;
            }
            ensure!(is_new(&*self.manager.get(NAMESPACE, &name).await?), "an old version was read");
            durations.push(start.elapsed().as_micros().to_string());
        }
        Ok(durations.join(" "))
    }

    async fn sync(&mut self, pods: usize) -> anyhow::Result<String> {
        let before = self.requests.load(Ordering::Relaxed);
        for _ in 0..pods {
            self.clock.advance(PAUSE);
            self.read(self.next).await?;
            self.next = (self.next + 1) % self.pods;
        }
        Ok((self.requests.load(Ordering::Relaxed) - before).to_string())
    }

    /// Reads all secrets that a pod refers to.
    async fn read(&self, pod: usize) -> anyhow::Result<()> {
        let names: Vec<String> = objects_of(pod).collect();
        try_join_all(names.iter().map(|name| self.manager.get(NAMESPACE, name))).await.context("unable to read")?;
        Ok(())
    }
}

fn objects_of(pod: usize) -> impl Iterator<Item = String> {
    (pod * SECRETS..(pod + 1) * SECRETS).map(object)
}

fn object(number: usize) -> String {
    format!("object-{number}")
}

fn pod_of(number: usize) -> anyhow::Result<Pod> {
    let sources: Vec<_> = objects_of(number).map(|name| json!({"secretRef": {"name": name}})).collect();
    let pod = json!({
        "metadata": {"namespace": NAMESPACE, "name": format!("pod-{number}"), "uid": number.to_string()},
        "spec": {"containers": [{"name": "c", "envFrom": sources}]},
    });
    Ok(serde_json::from_value(pod)?)
}

/// A client like `inner` that counts its requests.
fn counted(inner: Client, requests: Arc<AtomicUsize>) -> Client {
    let service = service_fn(move |request: Request<Body>| {
        requests.fetch_add(1, Ordering::Relaxed);
        let inner = inner.clone();
        async move { inner.send(request).await }
    });
    Client::new(service, NAMESPACE)
}
