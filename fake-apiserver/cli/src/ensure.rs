//! `fake-apiserver ensure`: a cluster of its own for each test process, of a server that all of them share.
//!
//! ```text
//!   --seed S ──▶ is there one? ──┬─ yes, or another process fills it: waits ──┐
//!                                └─ no: the command behind `--` fills it ─────┴──▶ a cluster that begins with it ──▶ its kubeconfig
//! ```
//! It says nothing that the control port does not: what it finds by [`around`](crate::around)'s variables, or the file of `--write-control`.

use crate::around::{CONTROL_TOKEN, CONTROL_URL, KUBECONFIG};
use crate::check::{ended, refused};
use anyhow::{Context as _, bail, ensure};
use bytes::Bytes;
use clap::{Parser, ValueEnum};
use fake_apiserver::control::{ClusterAnswer, Endpoint, From, NewCluster, Refusal, SeedAnswer};
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use tokio::net::TcpStream;
use tokio::runtime;

/// Print the kubeconfig of a cluster of a server with --control, which is made if there is none: each test process gets its own, and all share
/// the server. The server is found by FAKE_APISERVER_CONTROL_URL and FAKE_APISERVER_CONTROL_TOKEN, which `fake-apiserver run --control` sets,
/// or by --control.
#[derive(Debug, Parser)]
#[command(name = "fake-apiserver ensure", max_term_width = 100)]
struct Arguments {
    /// Name of the cluster: all who ask for the same one share it. By default it is a new one
    #[arg(long)]
    name: Option<String>,
    /// Seed that the cluster begins with. If there is none, the command behind -- fills it, once for all who ask at the same time
    #[arg(long)]
    seed: Option<String>,
    /// The way by which it is reached: a path behind the server's URL, a port of its own, or the name that a client asks TLS for
    #[arg(long, value_enum, default_value_t = Way::Path)]
    endpoint: Way,
    /// Remove it when there was no request for so many seconds, and no watch is open; 0 for never
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    idle: u32,
    /// Form of what is printed about the cluster
    #[arg(long, short, value_enum, default_value_t = Output::Kubeconfig)]
    output: Output,
    /// File of --write-control
    #[arg(long, value_name = "FILE")]
    control: Option<PathBuf>,
    /// Command that fills the seed: it finds the cluster to fill by KUBECONFIG
    #[arg(last = true, requires = "seed")]
    command: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Way {
    Path,
    Port,
    Sni,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Output {
    /// The kubeconfig, for a file
    Kubeconfig,
    /// The URL
    Url,
    /// All that the control port says of the cluster
    Json,
}

/// A control port, as its file has it.
#[derive(Deserialize)]
struct Door {
    url: String,
    token: String,
}

/// Makes sure that there is the cluster of the arguments, and prints it.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    match Arguments::try_parse_from(std::iter::once("fake-apiserver ensure".into()).chain(arguments)) {
        Ok(arguments) => ended(run(&arguments).map(|()| ExitCode::SUCCESS)),
        Err(error) => refused(&error),
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let door = door(arguments)?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build().context("unable to start threads")?;
    if let Some(seed) = &arguments.seed {
        runtime.block_on(door.seeded(seed, &arguments.command))?;
    }
    let endpoint = match arguments.endpoint {
        Way::Path => Endpoint::Path,
        Way::Port => Endpoint::Port,
        Way::Sni => Endpoint::Sni,
    };
    let from = arguments.seed.clone().map(|seed| From { seed: Some(seed), ..From::default() });
    let idle_seconds = Some(arguments.idle).filter(|seconds| *seconds > 0);
    let wanted = NewCluster { from, endpoint, idle_seconds, ..NewCluster::default() };
    let (method, path) = match &arguments.name {
        Some(name) => (Method::PUT, format!("/clusters/{}", escaped(name))),
        None => (Method::POST, "/clusters".to_owned()),
    };
    let cluster: ClusterAnswer = runtime.block_on(door.ask(method, &path, &wanted))?;
    let text = match arguments.output {
        Output::Kubeconfig => cluster.kubeconfig,
        Output::Url => format!("{}\n", cluster.server),
        Output::Json => format!("{}\n", serde_json::to_string(&cluster)?),
    };
    io::stdout().write_all(text.as_bytes()).context("unable to print the cluster")
}

/// The control port that the arguments or the environment name.
fn door(arguments: &Arguments) -> anyhow::Result<Door> {
    if let Some(path) = &arguments.control {
        let failed = || format!("unable to read --control {}", path.display());
        return serde_json::from_slice(&std::fs::read(path).with_context(failed)?).with_context(failed);
    }
    match (std::env::var(CONTROL_URL), std::env::var(CONTROL_TOKEN)) {
        (Ok(url), Ok(token)) => Ok(Door { url, token }),
        _ => bail!("neither --control nor {CONTROL_URL} and {CONTROL_TOKEN} say where a server's control port is"),
    }
}

fn escaped(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

impl Door {
    /// Makes sure that there is a seed: the command fills it, if no other process does.
    async fn seeded(&self, seed: &str, command: &[OsString]) -> anyhow::Result<()> {
        let path = format!("/seeds/{}", escaped(seed));
        let answer: SeedAnswer = self.ask(Method::PUT, &path, &serde_json::json!({})).await?;
        let Some(cluster) = answer.fill else { return Ok(()) };
        if let Err(error) = fill(&cluster.kubeconfig, command) {
            // The next one who asks fills it.
            let cluster = format!("/clusters/{}", escaped(&cluster.name));
            self.ask::<serde_json::Value>(Method::DELETE, &cluster, &()).await.ok();
            return Err(error.context(format!("the seed {seed:?} is not filled")));
        }
        self.ask::<SeedAnswer>(Method::POST, &format!("{path}/ready"), &()).await?;
        Ok(())
    }

    /// The answer of the control port.
    ///
    /// # Errors
    /// If it refuses, or there is none.
    async fn ask<T: DeserializeOwned>(&self, method: Method, path: &str, words: &impl Serialize) -> anyhow::Result<T> {
        let failed = || format!("unable to ask the control port at {}", self.url);
        let host = self.url.strip_prefix("http://").context("only plain HTTP").with_context(failed)?;
        let stream = TcpStream::connect(host).await.with_context(failed)?;
        let (mut sender, connection) = handshake(TokioIo::new(stream)).await.with_context(failed)?;
        tokio::spawn(connection);
        let words = serde_json::to_vec(words)?;
        let body = if words == b"null" { Bytes::new() } else { words.into() };
        let request = Request::builder().method(method).uri(format!("/_fake/v1{path}")).header("Host", host);
        let request = request.header("Authorization", format!("Bearer {}", self.token)).body(Full::new(body))?;
        let response = sender.send_request(request).await.with_context(failed)?;
        let status = response.status();
        let body = response.into_body().collect().await.with_context(failed)?.to_bytes();
        if !status.is_success() {
            let refusal: Result<Refusal, _> = serde_json::from_slice(&body);
            bail!(refusal.map_or_else(|_| format!("the control port answers {status}"), |refusal| refusal.message));
        }
        serde_json::from_slice(&body).with_context(failed)
    }
}

/// Lets a command fill a cluster.
fn fill(kubeconfig: &str, command: &[OsString]) -> anyhow::Result<()> {
    let [program, arguments @ ..] = command else { bail!("there is no command behind -- that fills it") };
    let mut file = tempfile::NamedTempFile::new().context("unable to write a kubeconfig")?;
    file.write_all(kubeconfig.as_bytes()).context("unable to write a kubeconfig")?;
    // Standard output is for the cluster alone.
    let command = Command::new(program).args(arguments).env(KUBECONFIG, file.path()).stdout(io::stderr()).status();
    let status = command.with_context(|| format!("unable to run {}", program.display()))?;
    ensure!(status.success(), "{} ends with {status}", program.display());
    Ok(())
}
