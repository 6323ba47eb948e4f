//! The costs of forks: the time to make one, and the memory of many.

use crate::COUNTED;
use crate::cases::TOKEN;
use anyhow::ensure;
use bytes::Bytes;
use fake_apiserver::{FakeApiServer, Fork, Seed};
use http::Request;
use std::time::{Duration, Instant};

/// The costs of forks of one seed.
#[derive(Debug, Clone, Copy)]
pub struct Forks {
    /// The mean time to make one.
    pub each: Duration,
    /// The bytes of a fork, after its writes.
    pub bytes: u64,
    /// The bytes of all of them that were left when they were gone.
    pub left: u64,
}

/// Forks a cluster with that many objects, and writes to each fork: half of the writes create objects, the others change some of its seed.
///
/// # Errors
/// If the server does not start, or refuses a request.
pub fn forks(objects: usize, forks: usize, writes: usize) -> anyhow::Result<Forks> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        let server = FakeApiServer::builder().seed(1).add_static_token(TOKEN, "costs", &["system:masters"]);
        let server = server.insecure().start().await?;
        let seed = seed(&server, objects).await?;
        // What all have in common, such as documents, is made before.
        write(&seed.fork("warm"), writes).await?;
        let before = held();
        let begun = Instant::now();
        let all: Vec<Fork> = (0..forks).map(|number| seed.fork(&number.to_string())).collect();
        let each = begun.elapsed() / u32::try_from(forks)?;
        for fork in &all {
            write(fork, writes).await?;
        }
        let bytes = held().saturating_sub(before) / forks as u64;
        drop(all);
        let left = held().saturating_sub(before);
        drop(seed);
        server.shutdown().await;
        Ok(Forks { each, bytes, left })
    })
}

/// The bytes that the process has allocated and not freed.
fn held() -> u64 {
    let stats = COUNTED.stats();
    stats.bytes_allocated.saturating_sub(stats.bytes_deallocated) as u64
}

async fn seed(server: &FakeApiServer, objects: usize) -> anyhow::Result<Seed> {
    let first = server.freeze().await.fork("first");
    for number in 0..objects {
        send(&first, "POST", "", &config_map(number, "seed")).await?;
    }
    Ok(first.freeze().await)
}

async fn write(fork: &Fork, writes: usize) -> anyhow::Result<()> {
    for number in 0..writes {
        match number % 2 {
            0 => send(fork, "POST", "", &config_map(1_000_000 + number, "own")).await?,
            _ => send(fork, "PUT", &format!("/m{number}"), &config_map(number, "own")).await?,
        }
    }
    Ok(())
}

fn config_map(number: usize, value: &str) -> String {
    let metadata = format!(r#"{{"name":"m{number}","labels":{{"app":"costs"}}}}"#);
    format!(r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{metadata},"data":{{"key":"{value}"}}}}"#)
}

async fn send(fork: &Fork, method: &str, path: &str, body: &str) -> anyhow::Result<()> {
    let path = format!("/api/v1/namespaces/default/configmaps{path}");
    let request = Request::builder().method(method).uri(path).header("authorization", format!("Bearer {TOKEN}"));
    let request = request.header("content-type", "application/json").body(Bytes::copy_from_slice(body.as_bytes()))?;
    let response = fork.call(request).await?;
    ensure!(response.status().is_success(), "{}", String::from_utf8_lossy(response.body()));
    Ok(())
}
