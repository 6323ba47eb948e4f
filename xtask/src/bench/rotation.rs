//! How soon a node renews the tokens of all its pods, and how soon a change is on disk. The node runs in this process, the server
//! in one of its own.
//!
//! The node's clock stands still until it is moved, so that all tokens are due at one moment. Files are written to memory where
//! there is a file system for that, as a real kubelet does.

use anyhow::{Context, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::{Pod, Secret, ServiceAccount};
use kube::api::{Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config, ResourceExt};
use kubelet::clock::{Clock, ManualClock, SystemClock};
use kubelet::node::{Node, Options};
use kubelet::objects::Strategy;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const NODE: &str = "bench-node";
const NAMESPACE: &str = "default";
const ACCOUNT: &str = "bench";
/// The shortest life of a token, in seconds: after four fifths of it, it is renewed.
const TOKEN_LIFE: i64 = 600;
/// How many objects are created at a time.
const CREATORS: usize = 32;
/// How long a node may take for anything.
const PATIENCE: Duration = Duration::from_secs(120);

/// What it took to renew the tokens of all pods.
pub(super) struct Rotation {
    /// How many requests for tokens there were.
    pub(super) requests: usize,
    /// From the moment that all are due, until the last new token is on disk.
    pub(super) all: Duration,
}

impl Rotation {
    /// Requests for tokens in a second.
    pub(super) fn rate(&self) -> f64 {
        self.requests as f64 / self.all.as_secs_f64()
    }
}

/// Renews the tokens of `pods` pods, on a new server.
pub(super) async fn rotation(kubeconfig: &Path, pods: usize) -> anyhow::Result<Rotation> {
    let client = client(kubeconfig).await?;
    create::<ServiceAccount>(&client, json!({"metadata": {"name": ACCOUNT}})).await?;
    let volumes = json!([{"name": "token", "projected": {"sources": [
        {"serviceAccountToken": {"path": "token", "expirationSeconds": TOKEN_LIFE}},
    ]}}]);
    let all = stream::iter(0..pods).map(|number| create::<Pod>(&client, pod(&format!("bench-{number}"), &volumes)));
    let all: Vec<Pod> = all.buffer_unordered(CREATORS).try_collect().await?;
    let begin = Instant::now();
    let bench = Bench::start(kubeconfig, Strategy::Watch).await?;
    bench.settled().await?;
    let before = bench.tokens(&all)?;
    // The server's clock has gone on meanwhile, so the last token is younger than the first.
    let spread = SignedDuration::try_from(begin.elapsed())?;
    let start = Instant::now();
    bench.clock.advance(SignedDuration::from_secs(TOKEN_LIFE * 4 / 5 + 1) + spread);
    bench.settled().await?;
    let took = start.elapsed();
    let after = bench.tokens(&all)?;
    let renewed = before.iter().zip(&after).filter(|(before, after)| before != after).count();
    ensure!(renewed == pods, "{renewed} of {pods} tokens were renewed");
    bench.node.stop().await;
    Ok(Rotation { requests: renewed, all: took })
}

/// The time that each of `changes` changes of a secret took from its being sent until the file of a pod had it, on a new server.
/// The sync is forced: without that the sync frequency would be all there is to see.
pub(super) async fn changes_on_disk(
    kubeconfig: &Path,
    strategy: Strategy,
    changes: usize,
) -> anyhow::Result<Vec<Duration>> {
    let client = client(kubeconfig).await?;
    let name = format!("bench-{}", strategy.to_string().to_lowercase());
    create::<Secret>(&client, json!({"metadata": {"name": name}, "stringData": {"key": "0"}})).await?;
    let volumes = json!([{"name": "secret", "secret": {"secretName": name}}]);
    let pod: Pod = create(&client, pod(&name, &volumes)).await?;
    let bench = Bench::start(kubeconfig, strategy).await?;
    bench.settled().await?;
    let file = bench.file(&pod, "secret", "secret/key");
    let secrets: Api<Secret> = Api::namespaced(client, NAMESPACE);
    let mut durations = Vec::with_capacity(changes);
    for change in 1..=changes {
        let content = change.to_string();
        let patch = Patch::Merge(json!({"stringData": {"key": content}}));
        let start = Instant::now();
        secrets.patch(&name, &PatchParams::default(), &patch).await?;
        bench.node.caught_up().await?;
        bench.node.sync_now();
        // The file is what counts: nobody tells when it changes.
        while std::fs::read_to_string(&file).ok().as_deref() != Some(&content) {
            ensure!(start.elapsed() < PATIENCE, "the node does nothing");
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
    async fn start(kubeconfig: &Path, strategy: Strategy) -> anyhow::Result<Self> {
        let memory = Path::new("/dev/shm");
        let root = if memory.is_dir() { TempDir::new_in(memory)? } else { TempDir::new()? };
        let clock = ManualClock::new(SystemClock.now());
        let clocked = Options { strategy, clock: Arc::new(clock.clone()), ..Options::new(NODE, root.path()) };
        let node = Node::start(client(kubeconfig).await?, clocked);
        Ok(Bench { node, clock, _root: root })
    }

    async fn settled(&self) -> anyhow::Result<()> {
        Ok(tokio::time::timeout(PATIENCE, self.node.settled()).await.context("the node does not settle")??)
    }

    fn file(&self, pod: &Pod, plugin: &str, path: &str) -> std::path::PathBuf {
        let directory = self.node.pod_directory(&pod.uid().unwrap_or_default());
        directory.join("volumes").join(format!("kubernetes.io~{plugin}")).join(path)
    }

    fn tokens(&self, pods: &[Pod]) -> anyhow::Result<Vec<String>> {
        pods.iter().map(|pod| Ok(std::fs::read_to_string(self.file(pod, "projected", "token/token"))?)).collect()
    }
}

async fn client(kubeconfig: &Path) -> anyhow::Result<Client> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    kubelet::client::new(config, "bench")
}

async fn create<K>(client: &Client, object: Value) -> anyhow::Result<K>
where
    K: kube::Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + DeserializeOwned
        + serde::Serialize,
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
