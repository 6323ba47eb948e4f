//! The node's side of `cargo xtask bench`: a process with a node that does one task on a new server and prints the
//! durations, in µs.
//!
//! | arguments | task | durations |
//! |---|---|---|
//! | `URL TOKEN rotate PODS` | makes the tokens of all pods due at once | until all were renewed and on disk |
//! | `URL TOKEN change STRATEGY TIMES` | TIMES times changes a secret and waits until a pod's file has the change | of each |
//!
//! The node's clock stands still until it is moved. Syncs are forced, as otherwise the sync frequency would be
//! measured. Files are written to a tmpfs if there is one, as by a real kubelet.

use anyhow::{Context, bail, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::{Pod, Secret, ServiceAccount};
use kube::api::{Patch, PatchParams, PostParams};
use kube::core::NamespaceResourceScope;
use kube::{Api, Client, Config, Resource, ResourceExt};
use kubelet::clock::{Clock, ManualClock, SystemClock};
use kubelet::node::{Node, Options};
use kubelet::objects::Strategy;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const NODE: &str = "bench-node";
const NAMESPACE: &str = "default";
const ACCOUNT: &str = "bench";
/// The shortest lifetime of a token, in seconds; it is renewed after four fifths of that.
const TOKEN_LIFE: i64 = 600;
/// The number of objects that are created at once.
const CREATORS: usize = 32;
/// The time within which a node has to do its work.
const TIMEOUT: Duration = Duration::from_secs(120);

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let durations = match arguments[..] {
        [url, token, "rotate", pods] => vec![rotate(&client(url, token)?, pods.parse()?).await?],
        [url, token, "change", strategy, times] => {
            change(&client(url, token)?, strategy.parse()?, times.parse()?).await?
        }
        _ => bail!("URL TOKEN rotate PODS, or URL TOKEN change STRATEGY TIMES"),
    };
    let micros: Vec<_> = durations.iter().map(|duration| duration.as_micros().to_string()).collect();
    println!("{}", micros.join(" "));
    Ok(())
}

fn client(url: &str, token: &str) -> anyhow::Result<Client> {
    let mut config = Config::new(url.parse()?);
    config.accept_invalid_certs = true;
    config.auth_info.token = Some(token.to_owned().into());
    kubelet::client::new(config, NODE)
}

async fn rotate(client: &Client, pods: usize) -> anyhow::Result<Duration> {
    create::<ServiceAccount>(client, json!({"metadata": {"name": ACCOUNT}})).await?;
    let source = json!({"serviceAccountToken": {"path": "token", "expirationSeconds": TOKEN_LIFE}});
    let volumes = json!([{"name": "token", "projected": {"sources": [source]}}]);
    let all = stream::iter(0..pods).map(|number| create::<Pod>(client, pod(&format!("bench-{number}"), &volumes)));
    let all: Vec<Pod> = all.buffer_unordered(CREATORS).try_collect().await?;
    let begin = Instant::now();
    let bench = Bench::start(client, Strategy::Watch)?;
    bench.settled().await?;
    let before = bench.tokens(&all)?;
    // The server's clock moves, so the last token is younger than the first.
    let spread = SignedDuration::try_from(begin.elapsed())?;
    let start = Instant::now();
    bench.clock.advance(SignedDuration::from_secs(TOKEN_LIFE * 4 / 5 + 1).saturating_add(spread));
    bench.settled().await?;
    let took = start.elapsed();
    let after = bench.tokens(&all)?;
    let renewed = before.iter().zip(&after).filter(|(before, after)| before != after).count();
    ensure!(renewed == pods, "{renewed} of {pods} tokens were renewed");
    bench.node.stop().await;
    Ok(took)
}

async fn change(client: &Client, strategy: Strategy, times: usize) -> anyhow::Result<Vec<Duration>> {
    create::<Secret>(client, json!({"metadata": {"name": NODE}, "stringData": {"key": "0"}})).await?;
    let pod: Pod = create(client, pod(NODE, &json!([{"name": "secret", "secret": {"secretName": NODE}}]))).await?;
    let bench = Bench::start(client, strategy)?;
    bench.settled().await?;
    let file = bench.file(&pod, "secret", "secret/key");
    let secrets: Api<Secret> = Api::namespaced(client.clone(), NAMESPACE);
    let mut durations = Vec::with_capacity(times);
    for time in 1..=times {
        let content = time.to_string();
        let patch = Patch::Merge(json!({"stringData": {"key": content}}));
        let start = Instant::now();
        secrets.patch(NODE, &PatchParams::default(), &patch).await?;
        bench.node.caught_up(client).await?;
        bench.node.sync_now();
        // The file is what counts, and its changes are not signalled.
        while std::fs::read_to_string(&file).ok().as_deref() != Some(&content) {
            ensure!(start.elapsed() < TIMEOUT, "the node does nothing");
            tokio::task::yield_now().await;
        }
        durations.push(start.elapsed());
    }
    bench.node.stop().await;
    Ok(durations)
}

/// A node with a clock of its own.
struct Bench {
    node: Node,
    clock: ManualClock,
    /// Removed when this is dropped.
    _root: TempDir,
}

impl Bench {
    fn start(client: &Client, strategy: Strategy) -> anyhow::Result<Self> {
        let memory = Path::new("/dev/shm");
        let root = if memory.is_dir() { TempDir::new_in(memory)? } else { TempDir::new()? };
        let clock = ManualClock::new(SystemClock.now());
        let clocked = Options { strategy, clock: Arc::new(clock.clone()), ..Options::new(NODE, root.path()) };
        Ok(Bench { node: Node::start(client.clone(), clocked), clock, _root: root })
    }

    async fn settled(&self) -> anyhow::Result<()> {
        Ok(tokio::time::timeout(TIMEOUT, self.node.settled()).await.context("the node does not settle")??)
    }

    fn file(&self, pod: &Pod, plugin: &str, path: &str) -> PathBuf {
        let directory = self.node.pod_directory(&pod.uid().unwrap_or_default());
        directory.join("volumes").join(format!("kubernetes.io~{plugin}")).join(path)
    }

    fn tokens(&self, pods: &[Pod]) -> anyhow::Result<Vec<String>> {
        pods.iter().map(|pod| Ok(std::fs::read_to_string(self.file(pod, "projected", "token/token"))?)).collect()
    }
}

async fn create<K>(client: &Client, object: Value) -> anyhow::Result<K>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned + Serialize,
{
    let api: Api<K> = Api::namespaced(client.clone(), NAMESPACE);
    Ok(api.create(&PostParams::default(), &serde_json::from_value(object)?).await?)
}

fn pod(name: &str, volumes: &Value) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {
            "nodeName": NODE, "serviceAccountName": ACCOUNT, "volumes": volumes,
            "containers": [{"name": "c", "image": "i"}],
        },
    })
}
