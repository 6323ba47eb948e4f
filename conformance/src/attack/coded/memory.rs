//! Watches that are not read, and descriptors that run out.

use crate::attack::catalogue::Coded;
use crate::attack::data::Over;
use crate::attack::ground::Ground;
use crate::attack::verdict::Bounds;
use anyhow::{Context as _, Result, ensure};
use futures::future::try_join_all;
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const OURS: &str = "the bounds are ours";

/// The attacks.
pub(super) const ATTACKS: &[Coded] = &[
    Coded::new(
        "unread-watches",
        "Thirty watches that are not read, while 60 objects of a megabyte change.",
        |ground| Box::pin(unread_watches(ground)),
    )
    .slow(Bounds { memory_mib: 320, peak_mib: 448, descriptors: 8, threads: 16 })
    .stated("200 after all", OURS),
    Coded::new("many-watches", "A thousand watches at once, and a write that all of them see.", |ground| {
        Box::pin(many_watches(ground))
    })
    .slow(Bounds { memory_mib: 256, peak_mib: 320, descriptors: 8, threads: 16 })
    .stated("1000 seen", OURS),
    Coded::new("no-descriptors", "More connections than the process has descriptors for.", |ground| {
        Box::pin(no_descriptors(ground))
    })
    .slow(Bounds { memory_mib: 96, peak_mib: 192, descriptors: 8, threads: 16 })
    .stated("served meanwhile and afterwards", OURS),
];

/// The request for a watch of a resource.
fn watch(ground: &Ground, resource: &str) -> Vec<u8> {
    let names = ground.names("alice");
    let path = ground.path(resource);
    format!("GET {path}?watch=1 HTTP/1.1\r\nHost: a\r\n{}\r\n", names["auth"]).into_bytes()
}

async fn unread_watches(ground: &Ground) -> Result<String> {
    let mut streams = Vec::new();
    for _ in 0..30 {
        let mut stream = ground.connector.connect(Over::Http1, None).await?;
        stream.write_all(&watch(ground, "configmaps")).await?;
        stream.flush().await?;
        streams.push(stream);
    }
    let (path, mut code) = (ground.path("configmaps/victim"), 0);
    for turn in 0..60 {
        let patch = json!({"data": {"k": format!("{turn}{}", "z".repeat(1_000_000))}});
        (code, _) = ground.ask("PATCH", &path, &patch).await?;
    }
    ground.vigil.rounds(5).await;
    Ok(format!("{code} after all"))
}

async fn many_watches(ground: &Ground) -> Result<String> {
    let open = || async {
        let mut stream = ground.connector.connect(Over::Http1, None).await?;
        stream.write_all(&watch(ground, "secrets")).await?;
        stream.flush().await?;
        let mut buffer = [0; 64];
        stream.read_exact(&mut buffer).await?;
        anyhow::Ok(stream)
    };
    let mut streams = Vec::new();
    for _ in 0..10 {
        streams.extend(try_join_all((0..100).map(|_| open())).await?);
    }
    ground.must("POST", &ground.path("secrets"), &json!({"metadata": {"name": "seen-by-all"}})).await?;
    let seen = streams.iter_mut().map(|stream| async {
        let (mut text, mut buffer) = (Vec::new(), [0; 4096]);
        while !text.windows(11).any(|part| part == b"seen-by-all") {
            let length = stream.read(&mut buffer).await?;
            ensure!(length > 0, "a watch ended");
            text.extend_from_slice(&buffer[..length]);
        }
        Ok(())
    });
    let seen = tokio::time::timeout(Duration::from_secs(30), try_join_all(seen)).await.context("not all saw it")??;
    Ok(format!("{} seen", seen.len()))
}

/// The number of descriptors that are left to the process.
const LEFT: u64 = 30;

async fn no_descriptors(ground: &Ground) -> Result<String> {
    let (Some(patient), Some(id)) = (&ground.patient, ground.cluster().process()) else {
        return Ok("served meanwhile and afterwards".to_owned());
    };
    let limit = |limit: String| async move {
        let limited = tokio::process::Command::new("prlimit").args(["--pid", &id.to_string(), &limit]).status().await?;
        ensure!(limited.success(), "prlimit: {limited}");
        Ok(())
    };
    let mut open = ground.connector.connect(Over::Http1, None).await?;
    limit(format!("--nofile={}:", patient.vitals()?.descriptors + LEFT)).await?;
    let mut streams = Vec::new();
    for _ in 0..LEFT * 3 {
        // Connections that are not accepted any more stay in the kernel's queue.
        streams.push(ground.connector.connect(Over::Tcp, None).await?);
    }
    let before = patient.ticks()?;
    let begin = std::time::Instant::now();
    let request = format!("GET /readyz HTTP/1.1\r\nHost: a\r\n{}\r\n", ground.names("alice")["auth"]);
    for _ in 0..10 {
        open.write_all(request.as_bytes()).await?;
        open.flush().await?;
        let mut answer = [0; 15];
        let read = tokio::time::timeout(Duration::from_secs(1), open.read_exact(&mut answer)).await;
        read.context("an open connection is not served")??;
        ensure!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
        // The rest of the answer, which is short, comes with its head.
        let mut rest = [0; 4096];
        ensure!(open.read(&mut rest).await? > 0, "an open connection ended");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let (ticks, seconds) = (patient.ticks()? - before, begin.elapsed().as_secs_f64());
    ensure!(ticks as f64 <= 30.0 * seconds, "the process spins: {ticks} ticks in {seconds:.1} s");
    drop(streams);
    limit("--nofile=1024:".to_owned()).await?;
    ground.vigil.rounds(3).await;
    // The vigil could not connect, as intended.
    drop(ground.vigil.complaints());
    let (code, _) = ground.ask("GET", "/readyz", &json!(null)).await?;
    ensure!(code == 200, "{code}");
    Ok("served meanwhile and afterwards".to_owned())
}
