//! Attacks that are data: the lists in `fixtures/attacks/<class>.toml`. [fixtures/README.md] is the manual.
//!
//! [fixtures/README.md]: ../../../fixtures/README.md

use super::frames::Frame;
use super::pieces::Text;
use super::verdict::Bounds;
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use std::path::Path;
use std::time::Duration;

/// The attacks of a class.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Class {
    attack: Vec<Attack>,
}

/// An attack: the connections, the bytes or requests that are sent, and the end of reading.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Attack {
    /// The name within its class.
    pub name: String,
    /// A sentence about its attempt.
    pub about: String,
    /// The user who attacks; `""` is a client without credentials.
    #[serde(default = "attacker", rename = "as")]
    pub user: String,
    /// The kind of connection.
    #[serde(default)]
    pub over: Over,
    /// The client's certificate.
    #[serde(default)]
    pub certificate: Option<Certificate>,
    /// Number of connections, all at the same time.
    #[serde(default = "one")]
    pub connections: usize,
    /// Requests of the administrator before the attack; all must succeed, and gets are repeated until they do.
    #[serde(default)]
    pub before: Vec<Request>,
    /// Requests, one after the other on each connection.
    #[serde(default)]
    pub requests: Vec<Request>,
    /// Bytes to send.
    #[serde(default)]
    pub send: Option<Text>,
    /// HTTP/2 frames to send after the preface.
    #[serde(default)]
    pub frames: Vec<Frame>,
    /// The condition that ends the wait.
    #[serde(default)]
    pub until: Until,
    /// The number of answers to wait for; later ones are not read. `None` for all, up to the end of the connection.
    #[serde(default)]
    pub answers: Option<usize>,
    /// Seconds to wait for the end.
    #[serde(default = "patience")]
    pub patience: u64,
    /// Whether it takes longer than half a second.
    #[serde(default)]
    pub slow: bool,
    /// Whether it waits for a limit of the server, and so runs beside others that do.
    #[serde(default)]
    pub waits: bool,
    /// The allowed answers, if no real server judges them; each `*` stands for any text.
    #[serde(default)]
    pub expect: Vec<String>,
    /// The reason why no real server judges it.
    #[serde(default)]
    pub unjudged: Option<String>,
    /// The bounds for the process, if not the usual ones.
    #[serde(default)]
    pub bounds: Bounds,
}

/// The kind of a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Over {
    /// TLS, and HTTP/1.1 by ALPN.
    #[default]
    Http1,
    /// TLS, and HTTP/2 by ALPN.
    Http2,
    /// TLS without ALPN.
    Tls,
    /// No TLS.
    Tcp,
}

/// A client certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certificate {
    /// Of the user `cert-user`, signed by the authority that the server trusts.
    Trusted,
    /// The same, but expired.
    Expired,
    /// The same, but not valid yet.
    Future,
    /// For a server, not for a client.
    ForServers,
    /// Signed by another authority of the same name.
    Foreign,
    /// Signed by itself.
    SelfSigned,
    /// With a name of hundreds of kilobytes.
    Huge,
    /// With a chain of a hundred others.
    LongChain,
    /// Of the group `system:masters`, signed by itself.
    SelfSignedMaster,
}

/// The condition that ends the wait for answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Until {
    /// All answers have come, or the server has closed the connection.
    #[default]
    Answered,
    /// A last HTTP/2 ping was answered, or the server has closed the connection.
    Ping,
    /// Nothing is read, and the vigil has found the server well for some rounds.
    Unread,
    /// All bytes are sent; then the client closes the connection.
    Sent,
}

/// An HTTP/1.1 or HTTP/2 request.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Request {
    /// The method and the target: `GET /api`.
    pub line: Text,
    /// Headers besides the usual ones.
    #[serde(default)]
    pub headers: Vec<(Text, Text)>,
    /// The content type of the body.
    #[serde(default = "json", rename = "type")]
    pub content_type: String,
    /// The body.
    #[serde(default)]
    pub body: Option<Text>,
    /// The number of times that it is sent; `$n` counts them.
    #[serde(default = "one")]
    pub times: usize,
}

impl Attack {
    /// The time to wait for the end.
    pub fn patience(&self) -> Duration {
        Duration::from_secs(self.patience)
    }
}

/// Reads the attacks of `class`, below the folder of attacks.
///
/// # Errors
/// If the file cannot be read, or an attack is malformed.
pub fn load(folder: &Path, class: &str) -> Result<Vec<Attack>> {
    let path = folder.join(class).with_extension("toml");
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let Class { attack: attacks } = toml::from_str(&text).with_context(|| path.display().to_string())?;
    for Attack { name, requests, send, frames, unjudged, expect, .. } in &attacks {
        let ways = [!requests.is_empty(), send.is_some(), !frames.is_empty()];
        ensure!(ways.iter().filter(|way| **way).count() == 1, "{class}/{name}: requests, bytes or frames");
        ensure!(unjudged.is_some() != expect.is_empty(), "{class}/{name}: what is unjudged has an expectation");
    }
    Ok(attacks)
}

fn attacker() -> String {
    "alice".to_owned()
}

fn json() -> String {
    "application/json".to_owned()
}

fn one() -> usize {
    1
}

fn patience() -> u64 {
    10
}
