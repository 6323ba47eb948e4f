//! The kubelets that scenarios start: the port of a kubelet's work on credentials, each with a root directory of its own.

use crate::credentials::ADMINISTRATOR;
use crate::deadline::DEADLINE;
use crate::subject::Cluster;
use crate::subject::controllers::{client, config};
use anyhow::{Context as _, Result, anyhow};
use conformance_judge::observation::Item;
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use kubelet::clock::Clock;
use kubelet::node::{Node, Options};
use kubelet::objects::Strategy;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::watch;

/// The seed of the kubelets' jitter, so that all runs are alike.
const SEED: u64 = 1;

/// The settings of a kubelet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The user that it authenticates as.
    pub user: String,
    /// The change detection strategy of its caches.
    pub strategy: Strategy,
    /// The error of its clock, in seconds.
    pub clock_offset: i64,
}

/// A running kubelet.
pub struct Kubelet {
    node: Node,
    /// A client of another user, so that reads of the harness are not taken for the node's.
    observer: Client,
    root: TempDir,
}

impl Kubelet {
    /// Starts the kubelet of the node called `name`. `moved` signals that the cluster's clock was moved.
    ///
    /// # Errors
    /// If the cluster does not know its user.
    pub fn start(
        cluster: &dyn Cluster,
        name: &str,
        settings: &Settings,
        moved: watch::Receiver<()>,
    ) -> Result<Kubelet> {
        let nodes_own = kubelet::client::new(config(cluster, &settings.user)?, "kubelet-volumes")?;
        let root = tempfile::tempdir()?;
        let offset = SignedDuration::from_secs(settings.clock_offset);
        let mut options = Options::new(name, root.path());
        options.strategy = settings.strategy;
        options.clock = Arc::new(NodeClock { now: cluster.clock(), offset, moved });
        options.jitter = fastrand::Rng::with_seed(SEED);
        let observer = client(cluster, ADMINISTRATOR)?;
        Ok(Kubelet { node: Node::start(nodes_own, options), observer, root })
    }

    /// Waits until its caches have caught up with the API server.
    ///
    /// # Errors
    /// If that takes too long, or the API server refuses a request.
    pub async fn caught_up(&self) -> Result<()> {
        self.settled().await?;
        within(self.node.caught_up(&self.observer)).await
    }

    /// Waits until no work is due.
    ///
    /// # Errors
    /// If that takes too long.
    pub async fn settled(&self) -> Result<()> {
        within(self.node.settled()).await
    }

    /// Catches up, then makes the sync of all pods due.
    ///
    /// # Errors
    /// As for [`caught_up`](Self::caught_up).
    pub async fn sync(&self) -> Result<()> {
        self.caught_up().await?;
        self.node.sync_now();
        Ok(())
    }

    /// The files of the pod with that uid, as its containers would see them: `VOLUME/PATH` with `content`, `mode`, and the `version`
    /// of the volume's content.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn files(&self, uid: &str) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        for plugin in names(&self.node.pod_directory(uid).join("volumes"))? {
            let plugin = self.node.pod_directory(uid).join("volumes").join(plugin);
            for volume in names(&plugin)? {
                let folder = plugin.join(&volume);
                let version = fs::read_link(folder.join("..data")).ok();
                let version = version.map(|target| target.to_string_lossy().into_owned());
                read(&folder, &volume, version.as_deref(), &mut items)?;
            }
        }
        items.sort_by(|one, other| one.head.cmp(&other.head));
        Ok(items)
    }

    /// Stops it and removes its files.
    ///
    /// # Errors
    /// If they cannot be removed.
    pub async fn stop(self) -> Result<()> {
        self.node.stop().await;
        Ok(self.root.close()?)
    }
}

async fn within<E>(work: impl Future<Output = Result<(), E>>) -> Result<()>
where
    E: std::error::Error + Send + Sync + 'static,
{
    let done = tokio::time::timeout(DEADLINE, work).await;
    Ok(done.map_err(|_| anyhow!("the kubelet has not done what is due within {DEADLINE:?}"))??)
}

/// The entries of a folder, by name; none if the folder does not exist.
fn names(folder: &Path) -> Result<Vec<String>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut names =
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect::<Result<Vec<String>>>()?;
    names.sort();
    Ok(names)
}

/// The files below `folder`, without the atomic writer's own (`..`).
fn read(folder: &Path, head: &str, version: Option<&str>, items: &mut Vec<Item>) -> Result<()> {
    for name in names(folder)?.into_iter().filter(|name| !name.starts_with("..")) {
        let (path, head) = (folder.join(&name), format!("{head}/{name}"));
        let about = fs::metadata(&path).with_context(|| path.display().to_string())?;
        if about.is_dir() {
            read(&path, &head, version, items)?;
            continue;
        }
        let content = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
        let mode = format!("{:04o}", about.permissions().mode() & 0o7777);
        items.push(Item::new(head, json!({"content": content, "mode": mode, "version": version})));
    }
    Ok(())
}

/// The cluster's clock, as a node reads it.
struct NodeClock {
    now: controller::clock::Clock,
    offset: SignedDuration,
    moved: watch::Receiver<()>,
}

impl Clock for NodeClock {
    fn now(&self) -> Timestamp {
        (self.now)() + self.offset
    }

    fn sleep_until(&self, time: Timestamp) -> BoxFuture<'static, ()> {
        let (now, offset, mut moved) = (self.now.clone(), self.offset, self.moved.clone());
        Box::pin(async move {
            loop {
                moved.mark_unchanged();
                let left = time.duration_since(now() + offset);
                if left <= SignedDuration::ZERO {
                    return;
                }
                // A manual clock does not move by itself, so it is looked at only now and then.
                tokio::select! {
                    () = tokio::time::sleep(left.unsigned_abs().max(Duration::from_millis(1))) => {}
                    Ok(()) = moved.changed() => {}
                }
            }
        })
    }
}
