//! The answers of a kube-apiserver that fails: one whose etcd stands still or has lost its quorum, that stops, or whose cache is not filled yet.
//! No scenario can ask such a server; these are recorded one after the other, as lines of a recording.

use super::plan::Options;
use super::{cache, detached};
use crate::client::Endpoint;
use crate::credentials::{ADMINISTRATOR, static_token};
use anyhow::{Context as _, Result, bail, ensure};
use bytes::Bytes;
use conformance_judge::exchange::{self, Exchange};
use conformance_judge::observation::Item;
use http::Request;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::{Child, Command};

/// The headers that are recorded.
const HEADERS: [&str; 5] = ["cache-control", "connection", "content-type", "retry-after", "x-content-type-options"];
/// The pause between two tries, and their number.
const PAUSE: Duration = Duration::from_millis(250);
const TRIES: usize = 120;
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// Provokes all of them, and writes what the servers answer.
///
/// # Errors
/// If a server does not start, or does not fail so.
pub(super) async fn record(into: &Path) -> Result<()> {
    let mut lines = Vec::new();
    let server = Server::up(&["--shutdown-delay-duration=5s", "--shutdown-send-retry-after=true"]).await?;
    let recorded = server.failures(&mut lines).await;
    server.down().await?;
    recorded?;
    lines.push(("etcd-timeout", without_quorum().await?));
    let line = |(index, (command, item)): (usize, (&str, Item))| Exchange {
        step: index + 1,
        command: command.into(),
        items: vec![item],
    };
    exchange::save(&lines.into_iter().enumerate().map(line).collect::<Vec<_>>(), into)
}

/// A control plane whose programs get signals.
struct Server {
    folder: TempDir,
    endpoint: Endpoint,
}

impl Server {
    async fn up(flags: &[&str]) -> Result<Server> {
        let folder = tempfile::tempdir()?;
        let [port] = ports()?;
        let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let options = Options { secure_port: Some(port), flags, ..Options::default() };
        detached::up(folder.path(), options).await?;
        let ca = std::fs::read_to_string(folder.path().join("certificates/apiserver.crt"))?;
        let endpoint = Endpoint::new(&format!("https://127.0.0.1:{port}"), Some(&ca))?;
        Ok(Server { folder, endpoint })
    }

    async fn failures(&self, lines: &mut Vec<(&'static str, Item)>) -> Result<()> {
        lines.push(("storage-initializing", self.first_watch().await?));
        self.signal("etcd", "STOP").await?;
        lines.push(("timeout", self.ask("GET", &format!("{CONFIG_MAPS}/a?timeout=2s"), &Value::Null).await?));
        self.signal("etcd", "CONT").await?;
        lines.push(("shutting-down", self.shutting_down().await?));
        Ok(())
    }

    async fn down(self) -> Result<()> {
        detached::down(self.folder.path()).await.map(|_| ())
    }

    async fn signal(&self, program: &str, name: &str) -> Result<()> {
        let file = self.folder.path().join(format!("{program}.pid"));
        signal(std::fs::read_to_string(file)?.trim(), name).await
    }

    async fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Item> {
        answer(&self.endpoint, method, path, body).await
    }

    /// The answer to the first request for a resource: a watch, for which the cache is not filled yet.
    async fn first_watch(&self) -> Result<Item> {
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "lamps.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "lamps", "kind": "Lamp"}, "versions": [
                {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]},
        });
        let made = self.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition).await?;
        ensure!(made.is_success(), "{made:?}");
        self.until("/apis/example.com/v1", |item| item.document["resources"][0]["name"] == "lamps").await?;
        self.ask("GET", "/apis/example.com/v1/namespaces/default/lamps?watch=true", &Value::Null).await
    }

    /// The answer of a server that stops, and waits for a request that has not ended: its etcd stands still.
    async fn shutting_down(&self) -> Result<Item> {
        self.signal("kube-apiserver", "TERM").await?;
        self.signal("etcd", "STOP").await?;
        let endpoint = self.endpoint.clone();
        let path = format!("{CONFIG_MAPS}/a");
        let waits = tokio::spawn(async move { answer(&endpoint, "GET", &path, &Value::Null).await });
        let item = self.until("/version", |item| item.head == "429").await;
        waits.abort();
        item
    }

    /// The first answer that is so.
    async fn until(&self, path: &str, is: impl Fn(&Item) -> bool) -> Result<Item> {
        for _ in 0..TRIES {
            // A server that stops closes connections.
            match self.ask("GET", path, &Value::Null).await {
                Ok(item) if is(&item) => return Ok(item),
                _ => {}
            }
            tokio::time::sleep(PAUSE).await;
        }
        bail!("{path} is as it was")
    }
}

/// The answer to a write in the second after an etcd with two members has lost one of them: its leader does not know that yet.
async fn without_quorum() -> Result<Item> {
    let folder = tempfile::tempdir()?;
    let ports: [u16; 4] = ports()?;
    let members = ports.chunks(2).enumerate().map(|(index, of)| (format!("m{index}"), url(of[0]), url(of[1])));
    let members: Vec<(String, String, String)> = members.collect();
    let cluster = members.iter().map(|(name, _, peers)| format!("{name}={peers}")).collect::<Vec<_>>().join(",");
    let mut programs = Vec::new();
    for (name, clients, peers) in &members {
        programs.push(member(&folder.path().join(name), [name, clients, peers, &cluster])?);
    }
    let mut leader = None;
    for _ in 0..TRIES {
        tokio::time::sleep(PAUSE).await;
        let status = answer(&Endpoint::new(&members[0].1, None)?, "POST", "/v3/maintenance/status", &json!({})).await;
        let Ok(status) = status else { continue };
        let (of, own) = (&status.document["leader"], &status.document["header"]["member_id"]);
        if of.as_str().is_some_and(|id| id != "0") {
            leader = Some(usize::from(of != own));
            break;
        }
    }
    let leader = leader.context("etcd has no leader")?;
    let server = Server::up(&[&format!("--etcd-servers={}", members[leader].1)]).await?;
    let follower = programs[1 - leader].id().context("etcd is gone")?.to_string();
    signal(&follower, "STOP").await?;
    let item = server.ask("POST", CONFIG_MAPS, &json!({"metadata": {"name": "a"}})).await;
    signal(&follower, "CONT").await?;
    server.down().await?;
    item
}

fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

fn member(folder: &Path, [name, clients, peers, cluster]: [&String; 4]) -> Result<Child> {
    let flags = [
        format!("--name={name}"),
        format!("--data-dir={}", folder.display()),
        "--unsafe-no-fsync".into(),
        format!("--listen-client-urls={clients}"),
        format!("--advertise-client-urls={clients}"),
        format!("--listen-peer-urls={peers}"),
        format!("--initial-advertise-peer-urls={peers}"),
        format!("--initial-cluster={cluster}"),
        "--log-level=error".into(),
    ];
    let program = cache::program(cache::VERSION, "etcd")?;
    Ok(Command::new(program).args(flags).kill_on_drop(true).spawn()?)
}

/// Ports that are free at this moment.
fn ports<const N: usize>() -> Result<[u16; N]> {
    let listeners = (0..N).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<Vec<_>, _>>()?;
    let mut ports = [0; N];
    for (port, listener) in ports.iter_mut().zip(&listeners) {
        *port = listener.local_addr()?.port();
    }
    Ok(ports)
}

async fn signal(process: &str, name: &str) -> Result<()> {
    let status = Command::new("kill").args([&format!("-{name}"), process]).status().await?;
    ensure!(status.success(), "kill -{name} {process}: {status}");
    Ok(())
}

/// The answer as recordings have it.
async fn answer(endpoint: &Endpoint, method: &str, path: &str, body: &Value) -> Result<Item> {
    let token = static_token(ADMINISTRATOR);
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(AUTHORIZATION, format!("Bearer {token}"))
        .header(CONTENT_TYPE, "application/json");
    let content = if body.is_null() { Bytes::new() } else { body.to_string().into() };
    let answer = endpoint.send(request.body(Full::new(content))?).await?;
    let mut item = Item { head: answer.status().as_u16().to_string(), ..Item::default() };
    for name in HEADERS {
        if let Some(value) = answer.headers().get(name) {
            item.headers.insert(name.into(), value.to_str()?.into());
        }
    }
    let body = answer.into_body().collect().await?.to_bytes();
    let is_json = item.headers.get("content-type").is_some_and(|form| form == "application/json");
    match is_json {
        true => item.document = serde_json::from_slice(&body)?,
        false => item.text = Some(String::from_utf8(body.to_vec())?),
    }
    Ok(item)
}
