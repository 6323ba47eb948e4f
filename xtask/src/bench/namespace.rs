//! Measurement of the deletion of a namespace with pods, each of which a kubelet ends. If the end of a pod looked at all
//! remaining ones, twice as many pods would take four times as long.

use super::client::{Call, Target};
use anyhow::ensure;
use http::Method;
use serde_json::json;
use std::time::{Duration, Instant};

/// Numbers of pods in the namespace.
pub(super) const PODS: [usize; 2] = [500, 1000];

/// The time from the deletion of a namespace with that many pods to the end of the last pod, and of the namespace.
pub(super) async fn removal(target: &Target, pods: usize) -> anyhow::Result<Duration> {
    let mut connection = target.connect().await?;
    let namespace = format!("/api/v1/namespaces/bench-{pods}");
    let body = json!({"metadata": {"name": format!("bench-{pods}")}}).to_string();
    connection.exchange(Call::new(Method::POST, "/api/v1/namespaces", body)).await?;
    let container = json!({"name": "c", "image": "i"});
    for number in 0..pods {
        let spec = json!({"nodeName": "node", "containers": [container]});
        let pod = json!({"metadata": {"name": format!("pod-{number}")}, "spec": spec}).to_string();
        connection.exchange(Call::new(Method::POST, format!("{namespace}/pods"), pod)).await?;
    }
    let start = Instant::now();
    connection.exchange(Call::new(Method::DELETE, &namespace, "")).await?;
    for number in 0..pods {
        let path = format!("{namespace}/pods/pod-{number}?gracePeriodSeconds=0");
        connection.exchange(Call::new(Method::DELETE, path, "")).await?;
    }
    let duration = start.elapsed();
    ensure!(connection.fetch(Call::get(&namespace)).await.is_err(), "{namespace} is still there");
    Ok(duration)
}
