//! Attacks with orders that are good, too many at once, in turn, or about what is gone: each in a cluster of its own.

use super::control::{Port, attack};
use crate::attack::catalogue::Coded;
use crate::attack::ground::Ground;
use crate::client::Endpoint;
use anyhow::{Context as _, Result, ensure};
use futures::future::{join_all, try_join_all};
use http_body_util::Full;
use hyper::body::Incoming;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The time within which what was held goes on.
const SOON: Duration = Duration::from_secs(30);
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// The attacks by orders and questions, in the order in which they are listed.
pub(super) const ATTACKS: &[Coded] = &[
    attack(
        "rewinds-while-many-write",
        "Twenty rewinds to a snapshot, while 50 clients write and watch; afterwards the objects are those of the snapshot.",
        "20x 200 1 object",
        |ground| Box::pin(rewinds(ground)),
    ),
    attack(
        "clusters-from-what-is-gone",
        "Clusters from snapshots that never were, are forgotten, or are another cluster's, and one from a snapshot that is there.",
        "404 404 404 201",
        |ground| Box::pin(gone(ground)),
    ),
    attack(
        "questions-about-the-past",
        "Changes since revisions that are none, are forgotten, or never come; histories of what never was; streams that are not read.",
        "400 400 410 200 404 422 200",
        |ground| Box::pin(past(ground)),
    ),
    attack(
        "seeds-that-are-not-filled",
        "200 who want a seed at once, of whom one has to fill it and does not; its cluster is removed, and the next one has to.",
        "1 of 200 again 1 of 200",
        |ground| Box::pin(seeds(ground)),
    ),
    attack(
        "bookmarks-for-those-who-do-not-read",
        "500 watches that are not read, and 50 orders for bookmarks at a time, also to thaw and to end them.",
        "50x 200 200 200",
        |ground| Box::pin(bookmarks(ground)),
    ),
    attack(
        "connections-that-hang-before-they-are-read",
        "300 connections that a rule holds, to a cluster with a port of its own, until the rule is removed.",
        "300 held 300 closed 200",
        |ground| Box::pin(held(ground)),
    ),
];

/// A cluster that is removed at the end of an attack.
struct Own<'p> {
    port: &'p Port,
    name: &'static str,
    endpoint: Endpoint,
    token: String,
    path: String,
}

impl<'p> Own<'p> {
    async fn new(ground: &Ground, port: &'p Port, name: &'static str) -> Result<Own<'p>> {
        let (code, made) = port.ask("POST", "/clusters", json!({"name": name}).to_string()).await?;
        ensure!(code == 201, "{code} {made}");
        let endpoint = ground.cluster().endpoints().first().context("a server")?.clone();
        let token = made["token"].as_str().context("a token")?.to_owned();
        Ok(Own { port, name, endpoint, token, path: format!("/clusters/{name}") })
    }

    /// Tells or asks the control port about it.
    async fn control(&self, method: &str, path: &str, body: impl Into<Vec<u8>>) -> Result<(u16, Value)> {
        self.port.ask(method, &format!("{}{path}", self.path), body).await
    }

    /// A request of a client, whose answer is not read.
    async fn send(&self, method: &str, path: &str, body: &Value) -> Result<http::Response<Incoming>> {
        let request = http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.path))
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", "application/json");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.endpoint.send(request.body(Full::new(body.into()))?).await
    }

    async fn create(&self, name: &str) -> Result<u16> {
        let object = json!({"metadata": {"name": name}});
        Ok(self.send("POST", CONFIG_MAPS, &object).await?.status().as_u16())
    }

    async fn gone(self) -> Result<()> {
        let (code, answer) = self.port.ask("DELETE", &format!("/clusters/{}", self.name), "").await?;
        ensure!(code == 200, "{code} {answer}");
        Ok(())
    }
}

fn names(changes: &Value) -> usize {
    changes["items"].as_array().map_or(0, Vec::len)
}

async fn rewinds(ground: &Ground) -> Result<String> {
    let port = Port::of(ground)?;
    let own = Own::new(ground, &port, "rewound").await?;
    ensure!(own.create("kept").await? == 201, "it is made");
    let (code, answer) = own.control("POST", "/snapshots", r#"{"snapshot": "s"}"#).await?;
    ensure!(code == 201, "{code} {answer}");
    let watches = try_join_all((0..50).map(|_| async {
        let path = format!("{CONFIG_MAPS}?watch=true");
        own.send("GET", &path, &Value::Null).await
    }))
    .await?;
    let writing = join_all((0..50).map(|number| {
        let own = &own;
        async move {
            for turn in 0..20 {
                // Some are refused: what they are about is gone.
                own.create(&format!("w{number}-{turn}")).await.ok();
            }
        }
    }));
    let rewinding = async {
        let mut done = 0;
        for _ in 0..20 {
            let (code, answer) = own.control("POST", "/snapshots/s/restore", r#"{"revisions": "rewind"}"#).await?;
            ensure!(code == 200, "{code} {answer}");
            done += 1;
        }
        anyhow::Ok(done)
    };
    let (_, done) = tokio::join!(writing, rewinding);
    let done = done?;
    drop(watches);
    own.control("POST", "/snapshots/s/restore", r#"{"revisions": "rewind"}"#).await?;
    let (_, history) = own.control("GET", "/objects/configmaps/default/kept/history", "").await?;
    let objects = names(&history);
    own.gone().await?;
    Ok(format!("{done}x 200 {objects} object"))
}

async fn gone(ground: &Ground) -> Result<String> {
    let port = Port::of(ground)?;
    let own = Own::new(ground, &port, "source").await?;
    for name in ["theirs", "forgotten"] {
        own.control("POST", "/snapshots", json!({"snapshot": name}).to_string()).await?;
    }
    own.control("DELETE", "/snapshots/forgotten", "").await?;
    let from = |cluster: &str, snapshot: &str| {
        json!({"name": "copy", "from": {"cluster": cluster, "snapshot": snapshot}}).to_string()
    };
    let mut codes = Vec::new();
    for (cluster, snapshot) in
        [("source", "never"), ("source", "forgotten"), ("default", "theirs"), ("source", "theirs")]
    {
        codes.push(port.ask("POST", "/clusters", from(cluster, snapshot)).await?.0);
    }
    port.ask("DELETE", "/clusters/copy", "").await?;
    own.gone().await?;
    Ok(codes.iter().map(u16::to_string).collect::<Vec<_>>().join(" "))
}

async fn past(ground: &Ground) -> Result<String> {
    let port = Port::of(ground)?;
    let own = Own::new(ground, &port, "past").await?;
    let mut streams = Vec::new();
    for (path, many) in [("/events/stream?objects=true", 50), ("/findings/stream", 10), ("/requests/stream", 50)] {
        for _ in 0..many {
            streams.push(port.open(&format!("/clusters/past{path}")).await?);
        }
    }
    for number in 0..200 {
        own.create(&format!("c{number}")).await?;
    }
    own.control("POST", "/history/compact", "").await?;
    let mut codes = Vec::new();
    for path in [
        "/events?since=-1".to_owned(),
        format!("/events?since={}0", u64::MAX),
        "/events?since=1".into(),
        format!("/events?since={}&limit=0", u64::MAX),
        "/objects/configmaps/default/never/history".into(),
        "/objects/nothings/default/a/history".into(),
        "/findings".into(),
    ] {
        codes.push(own.control("GET", &path, "").await?.0.to_string());
    }
    drop(streams);
    own.gone().await?;
    Ok(codes.join(" "))
}

async fn seeds(ground: &Ground) -> Result<String> {
    let port = Port::of(ground)?;
    let mut told = Vec::new();
    for _ in 0..2 {
        let ask = || port.ask("PUT", "/seeds/never-filled", r#"{"timeoutSeconds": 0}"#);
        let answers = try_join_all((0..200).map(|_| ask())).await?;
        let fillers: Vec<&str> = answers.iter().filter_map(|(_, answer)| answer["fill"]["name"].as_str()).collect();
        told.push(format!("{} of {}", fillers.len(), answers.len()));
        for name in fillers {
            port.ask("DELETE", &format!("/clusters/{name}"), "").await?;
        }
    }
    Ok(told.join(" again "))
}

async fn bookmarks(ground: &Ground) -> Result<String> {
    let port = Port::of(ground)?;
    let own = Own::new(ground, &port, "bookmarked").await?;
    let path = format!("{CONFIG_MAPS}?watch=true&allowWatchBookmarks=true");
    let watches = try_join_all((0..500).map(|_| own.send("GET", &path, &Value::Null))).await?;
    let orders = (0..50).map(|_| own.control("POST", "/watches/bookmark", "{}"));
    let answers = try_join_all(orders).await?;
    let good = answers.iter().filter(|(code, _)| *code == 200).count();
    let (thawed, _) = own.control("POST", "/watches/thaw", "{}").await?;
    let (ended, _) = own.control("POST", "/watches/end", r#"{"match": {}, "how": "410"}"#).await?;
    drop(watches);
    own.gone().await?;
    Ok(format!("{good}x 200 {thawed} {ended}"))
}

async fn held(ground: &Ground) -> Result<String> {
    const MANY: usize = 300;
    let port = Port::of(ground)?;
    let wanted = json!({"name": "held", "endpoint": "port"}).to_string();
    let (code, made) = port.ask("POST", "/clusters", wanted).await?;
    ensure!(code == 201, "{code} {made}");
    let url = made["server"].as_str().context("a URL")?;
    let address = url.rsplit('/').next().context("an address")?.to_owned();
    let rule = json!({"actions": [{"connection": {"do": "hang", "when": "beforeRead"}}]}).to_string();
    let (code, answer) = port.ask("POST", "/clusters/held/faults", rule).await?;
    ensure!(code == 201, "{code} {answer}");
    let mut streams = try_join_all((0..MANY).map(|_| TcpStream::connect(&address))).await?;
    let struck = async {
        loop {
            let (_, faults) = port.ask("GET", "/clusters/held/faults", "").await?;
            match faults["items"][0]["status"]["struck"].as_u64() {
                Some(struck) if struck as usize >= MANY => return anyhow::Ok(struck),
                _ => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    };
    let struck = timeout(SOON, struck).await.context("they are not held")??;
    port.ask("DELETE", "/clusters/held/faults", "").await?;
    let mut byte = [0; 1];
    let mut closed = 0;
    for stream in &mut streams {
        let read = timeout(SOON, stream.read(&mut byte)).await.context("it hangs for ever")?;
        closed += usize::from(matches!(read, Ok(0) | Err(_)));
    }
    let (code, _) = port.ask("GET", "/clusters/held/clock", "").await?;
    port.ask("DELETE", "/clusters/held", "").await?;
    Ok(format!("{struck} held {closed} closed {code}"))
}
