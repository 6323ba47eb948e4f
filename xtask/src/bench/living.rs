//! Measurements of a cluster that lives: namespaces and trees of owners that are collected, and a deployment that becomes available. If what
//! is left were looked at again with each object that goes, twice as many would take four times as long.

use super::client::{Call, Connection, Target};
use super::process::Process;
use super::report::{Unit, milliseconds};
use super::{Bench, OWN, Programs, TOKEN};
use anyhow::{Context as _, ensure};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

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
            Collected::Namespace => format!("namespace of {objects} objects collected, CPU time"),
            Collected::Tree => format!("tree of {objects} owners deleted in the foreground, CPU time"),
        }
    }
}

impl Bench<'_> {
    /// Measures the end of namespaces, and clusters that live, each time anew.
    pub(super) async fn living(&mut self, programs: &Programs) -> anyhow::Result<()> {
        self.namespaces(programs).await?;
        for what in [Collected::Namespace, Collected::Tree] {
            let names = OBJECTS.map(|objects| what.name(objects));
            let growth = format!("the same of {}, of that of {}", OBJECTS[1], OBJECTS[0]);
            let growth = format!("{}: {growth}", if matches!(what, Collected::Tree) { "tree" } else { "namespace" });
            if !names.iter().chain([&growth]).any(|name| self.wants(name)) {
                continue;
            }
            let mut samples = [(); 4].map(|()| self.no_samples());
            for _ in 0..RUNS {
                let mut times = [Duration::ZERO; 3];
                for (time, objects) in times.iter_mut().zip(OBJECTS) {
                    *time = collected(programs, what, objects).await?;
                }
                for (samples, time) in samples.iter_mut().zip(times) {
                    samples[OWN].push(milliseconds(time));
                }
                samples[3][OWN].push(times[1].as_secs_f64() / times[0].as_secs_f64());
            }
            let units = [Unit::Milliseconds, Unit::Milliseconds, Unit::Milliseconds, Unit::Times];
            for ((name, unit), samples) in names.iter().chain([&growth]).zip(units).zip(samples) {
                self.add(name, unit, samples);
            }
        }
        self.deployment(programs).await
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
        self.add(AVAILABLE, Unit::Milliseconds, samples);
        Ok(())
    }
}

/// A cluster that lives.
fn start(programs: &Programs) -> anyhow::Result<Process> {
    Process::start(programs.own().arg("--like-a-cluster"))
}

/// The processor time that it takes to collect so many objects.
async fn collected(programs: &Programs, what: Collected, objects: usize) -> anyhow::Result<Duration> {
    let process = start(programs)?;
    let mut connection = Target::new(process.url(), TOKEN, None)?.connect().await?;
    let root = match what {
        Collected::Namespace => namespace(&mut connection, objects).await?,
        Collected::Tree => tree(&mut connection, objects).await?,
    };
    let used = || process.cpu_time().context("the processor time is known on Linux only");
    let before = used()?;
    let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Foreground"});
    connection.exchange(Call::new(Method::DELETE, &root, options.to_string())).await?;
    let begun = Instant::now();
    while connection.answer(Call::get(&root)).await? != StatusCode::NOT_FOUND {
        ensure!(begun.elapsed() < DEADLINE, "{root} is still there");
        tokio::time::sleep(LOOK).await;
    }
    Ok(used()? - before)
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
    const PATH: &str = "/apis/apps/v1/namespaces/default/deployments";
    let template =
        json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let spec = json!({"replicas": REPLICAS, "selector": {"matchLabels": {"app": "web"}}, "template": template});
    let body = json!({"metadata": {"name": "web"}, "spec": spec}).to_string();
    let begun = Instant::now();
    connection.exchange(Call::new(Method::POST, PATH, body)).await?;
    loop {
        let web: Value = serde_json::from_slice(&connection.fetch(Call::get(format!("{PATH}/web"))).await?)?;
        if web["status"]["availableReplicas"] == REPLICAS {
            return Ok(begun.elapsed());
        }
        ensure!(begun.elapsed() < DEADLINE, "{web}");
        tokio::time::sleep(LOOK).await;
    }
}
