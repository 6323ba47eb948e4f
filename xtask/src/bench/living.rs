//! Measurements of a cluster that lives: namespaces and trees of owners that are collected, and a deployment that becomes available. If what
//! is left were looked at again with each object that goes, twice as many would take four times as long.

mod node;

use super::client::{Call, Connection, Target};
use super::process::Process;
use super::report::{Unit, milliseconds};
use super::{Bench, OWN, Programs, TOKEN};
use anyhow::{Context as _, ensure};
use http::{Method, StatusCode};
use node::Node;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The server of `--against` among all.
const OTHER: usize = 2;
/// The number of measurements.
const RUNS: usize = 5;
/// The numbers of objects, of which the second is twice the first, and the third is what is promised about.
const OBJECTS: [usize; 3] = [2_000, 4_000, 10_000];
/// The number of children of an owner in a tree.
const CHILDREN: usize = 100;
/// The replicas of a deployment.
const REPLICAS: usize = 100;
/// The time between two looks.
const LOOK: Duration = Duration::from_millis(2);
/// The time within which something has to come to its end.
const DEADLINE: Duration = Duration::from_secs(120);

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/web";
const AVAILABLE: &str = "deployment of 100 replicas available";

/// The objects that are collected.
#[derive(Clone, Copy)]
enum Collected {
    Namespace,
    /// Owners of owners, in the foreground.
    Tree,
}

impl Collected {
    fn name(self, objects: usize) -> String {
        match self {
            Collected::Namespace => format!("namespace of {objects} objects collected"),
            Collected::Tree => format!("tree of {objects} owners deleted in the foreground"),
        }
    }

    /// The names of the processor times, and of their growth.
    fn names_of_cpu_time(self) -> [String; 4] {
        let [few, twice, many] = OBJECTS.map(|objects| format!("{}, CPU time", self.name(objects)));
        let what = if matches!(self, Collected::Tree) { "tree" } else { "namespace" };
        [few, twice, many, format!("{what}: the same of {}, of that of {}", OBJECTS[1], OBJECTS[0])]
    }

    /// Makes so many objects. The path of the one that goes last is returned.
    async fn made(self, connection: &mut Connection, objects: usize) -> anyhow::Result<String> {
        match self {
            Collected::Namespace => namespace(connection, objects).await,
            Collected::Tree => tree(connection, objects).await,
        }
    }
}

impl Bench<'_> {
    /// Measures the end of namespaces, and clusters that live: our own ones, each anew, and the control plane of another server.
    pub(super) async fn living(&mut self, programs: &Programs) -> anyhow::Result<()> {
        self.namespaces(programs).await?;
        for what in [Collected::Namespace, Collected::Tree] {
            self.collections(programs, what).await?;
        }
        self.deployment(programs).await
    }

    async fn collections(&mut self, programs: &Programs, what: Collected) -> anyhow::Result<()> {
        let (name, names) = (what.name(OBJECTS[2]), what.names_of_cpu_time());
        if !names.iter().chain([&name]).any(|name| self.wants(name)) {
            return Ok(());
        }
        let (mut samples, mut walls) = ([(); 4].map(|()| self.no_samples()), self.no_samples());
        for _ in 0..RUNS {
            let mut times = [Duration::ZERO; 3];
            let mut wall = Duration::ZERO;
            for (time, objects) in times.iter_mut().zip(OBJECTS) {
                (wall, *time) = collected(programs, what, objects).await?;
            }
            for (samples, time) in samples.iter_mut().zip(times) {
                samples[OWN].push(milliseconds(time));
            }
            samples[3][OWN].push(times[1].as_secs_f64() / times[0].as_secs_f64());
            walls[OWN].push(milliseconds(wall));
        }
        if let Some(other) = self.servers.get(OTHER) {
            let mut connection = other.target.connect().await?;
            let root = what.made(&mut connection, OBJECTS[2]).await?;
            walls[OTHER].push(milliseconds(removal(&mut connection, &root).await?));
        }
        self.add(&name, Unit::Milliseconds, walls);
        let units = [Unit::Milliseconds, Unit::Milliseconds, Unit::Milliseconds, Unit::Times];
        for ((name, unit), samples) in names.iter().zip(units).zip(samples) {
            self.add(name, unit, samples);
        }
        Ok(())
    }

    async fn deployment(&mut self, programs: &Programs) -> anyhow::Result<()> {
        if !self.wants(AVAILABLE) {
            return Ok(());
        }
        let mut samples = self.no_samples();
        for _ in 0..RUNS {
            let process = start(programs)?;
            let mut connection = Target::new(process.url(), TOKEN, None)?.connect().await?;
            samples[OWN].push(milliseconds(available(&mut connection).await?));
        }
        if let Some(other) = self.servers.get(OTHER) {
            let (mut connection, mut node) = (other.target.connect().await?, Node::start(&other.target).await?);
            for _ in 0..RUNS {
                let time = tokio::select! {
                    time = available(&mut connection) => time?,
                    failed = node.failed() => return Err(failed),
                };
                samples[OTHER].push(milliseconds(time));
                removal(&mut connection, DEPLOYMENT).await?;
            }
            node.remove().await?;
        }
        self.add(AVAILABLE, Unit::Milliseconds, samples);
        Ok(())
    }
}

/// A cluster that lives.
fn start(programs: &Programs) -> anyhow::Result<Process> {
    Process::start(programs.own().arg("--like-a-cluster"))
}

/// The time, and the processor time, that it takes to collect so many objects.
async fn collected(programs: &Programs, what: Collected, objects: usize) -> anyhow::Result<(Duration, Duration)> {
    let process = start(programs)?;
    let mut connection = Target::new(process.url(), TOKEN, None)?.connect().await?;
    let root = what.made(&mut connection, objects).await?;
    let used = || process.cpu_time().context("the processor time is known on Linux only");
    let before = used()?;
    let wall = removal(&mut connection, &root).await?;
    Ok((wall, used()? - before))
}

/// The time that it takes to delete an object in the foreground.
async fn removal(connection: &mut Connection, path: &str) -> anyhow::Result<Duration> {
    let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Foreground"});
    let begun = Instant::now();
    connection.exchange(Call::new(Method::DELETE, path, options.to_string())).await?;
    while connection.answer(Call::get(path)).await? != StatusCode::NOT_FOUND {
        ensure!(begun.elapsed() < DEADLINE, "{path} is still there");
        tokio::time::sleep(LOOK).await;
    }
    Ok(begun.elapsed())
}

/// A namespace with so many objects, and its path.
async fn namespace(connection: &mut Connection, objects: usize) -> anyhow::Result<String> {
    let body = json!({"metadata": {"name": "many"}}).to_string();
    connection.exchange(Call::new(Method::POST, "/api/v1/namespaces", body)).await?;
    for number in 0..objects {
        let body = json!({"metadata": {"name": format!("object-{number}")}, "data": {"key": "value"}}).to_string();
        connection.exchange(Call::new(Method::POST, "/api/v1/namespaces/many/configmaps", body)).await?;
    }
    Ok("/api/v1/namespaces/many".to_owned())
}

/// An owner of so many objects, each of the first of which owns a hundred, and its path.
async fn tree(connection: &mut Connection, objects: usize) -> anyhow::Result<String> {
    const PATH: &str = "/api/v1/namespaces/default/configmaps";
    let mut uids: Vec<String> = Vec::new();
    for number in 0..objects {
        let mut metadata = json!({"name": format!("object-{number}")});
        if let Some(parent) = number.checked_sub(1).map(|others| others / CHILDREN) {
            metadata["ownerReferences"] = json!([{
                "apiVersion": "v1", "kind": "ConfigMap", "name": format!("object-{parent}"), "uid": uids[parent],
                "blockOwnerDeletion": true,
            }]);
        }
        let body = json!({"metadata": metadata}).to_string();
        let made: Value = serde_json::from_slice(&connection.fetch(Call::new(Method::POST, PATH, body)).await?)?;
        uids.push(made["metadata"]["uid"].as_str().unwrap_or_default().to_owned());
    }
    Ok(format!("{PATH}/object-0"))
}

/// The time until a new deployment is available.
async fn available(connection: &mut Connection) -> anyhow::Result<Duration> {
    // A pod without a grace period goes without its kubelet.
    let pod = json!({"containers": [{"name": "c", "image": "i"}], "terminationGracePeriodSeconds": 0});
    let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": pod});
    let spec = json!({"replicas": REPLICAS, "selector": {"matchLabels": {"app": "web"}}, "template": template});
    let body = json!({"metadata": {"name": "web"}, "spec": spec}).to_string();
    let begun = Instant::now();
    connection.exchange(Call::new(Method::POST, DEPLOYMENTS, body)).await?;
    loop {
        let web: Value = serde_json::from_slice(&connection.fetch(Call::get(DEPLOYMENT)).await?)?;
        if web["status"]["availableReplicas"] == REPLICAS {
            return Ok(begun.elapsed());
        }
        ensure!(begun.elapsed() < DEADLINE, "{web}");
        tokio::time::sleep(LOOK).await;
    }
}
