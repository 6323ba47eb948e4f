//! Attacks that are data: `fixtures/attacks/<class>.toml`, a list of what is sent. [fixtures/README.md] is the manual.
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

/// An attack: what is sent, over how many connections of what kind, and how what comes back is read.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Attack {
    /// The name within its class.
    pub name: String,
    /// The sentence that says what it tries.
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
    /// Requests of the administrator before the attack; all must succeed.
    #[serde(default)]
    pub before: Vec<Request>,
    /// Requests, one after the other on each connection.
    #[serde(default)]
    pub requests: Vec<Request>,
    /// Bytes.
    #[serde(default)]
    pub send: Option<Text>,
    /// Frames of HTTP/2, after its preface.
    #[serde(default)]
    pub frames: Vec<Frame>,
    /// When there is nothing more to wait for.
    #[serde(default)]
    pub until: Until,
    /// How many answers are waited for; those that come later are not read. `None` is all, up to the connection's end.
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
    /// What is allowed to come back, where a real server is not asked; one `*` stands for any text.
    #[serde(default)]
    pub expect: Vec<String>,
    /// Why a real server is not asked.
    #[serde(default)]
    pub unjudged: Option<String>,
    /// How the process has to be afterwards, if not as usual.
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
    /// The same, and no more valid.
    Expired,
    /// The same, and not valid yet.
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

/// When there is nothing more to wait for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Until {
    /// All answers are here, or the server closed the connection.
    #[default]
    Answered,
    /// An HTTP/2 ping that is sent last was answered, or the server closed the connection.
    Ping,
    /// Nothing is read; the server was well for a while.
    Unread,
    /// What was sent is sent; the client closes.
    Sent,
}

/// A request of HTTP/1.1 or HTTP/2.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Request {
    /// The method and the target: `GET /api`.
    pub line: Text,
    /// Headers, beside those that every request has.
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
/// If the file is not there, or an attack is not one.
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
