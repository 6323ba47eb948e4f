//! A node of a control plane whose kubelet says of each pod that is bound to it that it is ready, and runs none.

use super::super::client::{Call, Connection, Target};
use anyhow::Context as _;
use http::Method;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::time::Duration;
use tokio::task::JoinHandle;

const NODES: &str = "/api/v1/nodes";
const NAME: &str = "bench";
const PODS: &str = "/api/v1/namespaces/default/pods";
const MERGE: &str = "application/merge-patch+json";
/// The time between two looks at the pods.
const LOOK: Duration = Duration::from_millis(10);

/// A node, until it is removed.
pub(super) struct Node {
    connection: Connection,
    kubelet: JoinHandle<anyhow::Result<Infallible>>,
}

impl Node {
    /// A ready node.
    pub(super) async fn start(target: &Target) -> anyhow::Result<Self> {
        let mut connection = target.connect().await?;
        let body = json!({"metadata": {"name": NAME}}).to_string();
        connection.exchange(Call::new(Method::POST, NODES, body)).await?;
        let room = json!({"cpu": "64", "memory": "64Gi", "pods": "1000"});
        let ready = json!({"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""});
        let status = json!({"status": {"capacity": room, "allocatable": room, "conditions": [ready]}}).to_string();
        connection.exchange(Call::patch(format!("{NODES}/{NAME}/status"), MERGE, status)).await?;
        let kubelet = tokio::spawn(run(target.connect().await?));
        Ok(Node { connection, kubelet })
    }

    /// Completes when its kubelet has failed, with the reason.
    pub(super) async fn failed(&mut self) -> anyhow::Error {
        match (&mut self.kubelet).await {
            Ok(Err(error)) => error.context("the node's kubelet"),
            Ok(Ok(never)) => match never {},
            Err(ended) => ended.into(),
        }
    }

    /// Removes the node and what is left of its pods.
    pub(super) async fn remove(mut self) -> anyhow::Result<()> {
        self.kubelet.abort();
        let of_node = format!("{PODS}?fieldSelector=spec.nodeName={NAME}&gracePeriodSeconds=0");
        for path in [of_node, format!("{NODES}/{NAME}")] {
            self.connection.exchange(Call::new(Method::DELETE, path, "")).await?;
        }
        Ok(())
    }
}

/// Says of each pod that is bound to the node that it is ready.
async fn run(mut connection: Connection) -> anyhow::Result<Infallible> {
    let of_node = format!("{PODS}?fieldSelector=spec.nodeName={NAME},status.phase=Pending");
    let conditions = ["PodScheduled", "Initialized", "ContainersReady", "Ready"];
    let conditions = conditions.map(|name| json!({"type": name, "status": "True"}));
    let status = json!({"status": {"phase": "Running", "conditions": conditions}}).to_string();
    loop {
        let pods: Value = serde_json::from_slice(&connection.fetch(Call::get(&of_node)).await?)?;
        for pod in pods["items"].as_array().into_iter().flatten() {
            let name = pod["metadata"]["name"].as_str().context("a pod without a name")?;
            connection.answer(Call::patch(format!("{PODS}/{name}/status"), MERGE, status.clone())).await?;
        }
        tokio::time::sleep(LOOK).await;
    }
}
