//! Measurement of clusters that tests make over the control port: the time that each takes, and its memory.

use crate::bench::process::Process;
use crate::bench::report::{Unit, quantile};
use crate::bench::{Bench, OWN, Programs};
use anyhow::{Context, ensure};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Instant;

const TIME: &str = "cluster of 1,000 objects over HTTP, p99";
const MEMORY: &str = "memory of such a cluster";
/// The number of clusters.
const CLUSTERS: usize = 1_000;
/// The number of objects of the seed.
const OBJECTS: usize = 1_000;

impl Bench<'_> {
    /// Measures clusters, on a server of their own.
    pub(super) fn clusters(&mut self, programs: &Programs) -> anyhow::Result<()> {
        if ![TIME, MEMORY].iter().any(|name| self.wants(name)) {
            return Ok(());
        }
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("control");
        let server = Process::start(programs.own().arg("--write-control").arg(&file))?;
        let mut port = Port::open(&file)?;
        let seed: String = (0..OBJECTS).map(|number| object(number) + "\n---\n").collect();
        let fill = port.ask("PUT", "/seeds/s", "")?;
        let fill = fill["fill"]["name"].as_str().context("a cluster to fill")?;
        port.ask("POST", &format!("/clusters/{fill}/seed"), &seed)?;
        port.ask("POST", "/seeds/s/ready", "")?;
        let before = server.resident_memory();
        let mut times = Vec::new();
        for number in 0..CLUSTERS {
            let new = json!({"name": format!("c{number}"), "from": {"seed": "s"}}).to_string();
            let begun = Instant::now();
            port.ask("POST", "/clusters", &new)?;
            times.push(begun.elapsed().as_secs_f64() * 1e6);
        }
        let after = server.resident_memory();
        let each = before.zip(after).map(|(before, after)| after.saturating_sub(before) as f64 / CLUSTERS as f64 / 1e3);
        for (name, unit, figure) in
            [(TIME, Unit::Microseconds, quantile(&times, 0.99)), (MEMORY, Unit::Kilobytes, each)]
        {
            let mut samples = self.no_samples();
            samples[OWN].extend(figure);
            self.add(name, unit, samples);
        }
        Ok(())
    }
}

fn object(number: usize) -> String {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("m{number}"), "namespace": "default"}})
        .to_string()
}

/// A connection to a control port.
struct Port {
    stream: BufReader<TcpStream>,
    token: String,
}

impl Port {
    /// A connection to the port that the file names.
    fn open(file: &Path) -> anyhow::Result<Port> {
        let told: Value = serde_json::from_slice(&std::fs::read(file)?)?;
        let text = |field: &str| told[field].as_str().map(str::to_owned).context("the file of the control port");
        let stream = TcpStream::connect(text("url")?.trim_start_matches("http://"))?;
        stream.set_nodelay(true)?;
        Ok(Port { stream: BufReader::new(stream), token: text("token")? })
    }

    /// Sends a request, which succeeds, and reads its answer.
    fn ask(&mut self, method: &str, path: &str, body: &str) -> anyhow::Result<Value> {
        let head = format!(
            "{method} /_fake/v1{path} HTTP/1.1\r\nHost: fake\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n{body}",
            self.token,
            body.len()
        );
        self.stream.get_mut().write_all(head.as_bytes())?;
        let (mut status, mut length, mut line) = (String::new(), 0, String::new());
        self.stream.read_line(&mut status)?;
        while line != "\r\n" {
            line.clear();
            ensure!(self.stream.read_line(&mut line)? > 0, "{method} {path}: the answer breaks off");
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        ensure!(status.contains(" 20"), "{method} {path}: {status}{}", String::from_utf8_lossy(&body));
        Ok(serde_json::from_slice(&body)?)
    }
}
