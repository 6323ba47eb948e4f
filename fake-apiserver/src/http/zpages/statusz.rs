//! `/statusz`: when the server was started, its versions, and its other pages.
//!
//! Follows `statusz.go` and `textserializer.go` of `k8s.io/apiserver/pkg/server/statusz` (v0.37.1). There is no version of Go, as at `/version`.

use super::super::replica::Replica;
use super::super::version::compatibility;
use super::page::{Head, Page, SEPARATORS};
use crate::clock::format_seconds;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

/// The pages that are the same on every server, by the first elements of their paths.
const PATHS: [&str; 5] = ["/healthz", "/livez", "/metrics", "/readyz", "/version"];
const GO_VERSION: &str = "";

/// `Statusz` of `config.k8s.io`, in the key order of the wire.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Statusz {
    #[serde(flatten)]
    head: Head,
    start_time: String,
    uptime_seconds: i64,
    go_version: &'static str,
    binary_version: String,
    emulation_version: String,
    paths: Vec<&'static str>,
}

pub(super) fn object(version: &str, replica: &Replica, now: Timestamp) -> Statusz {
    let [binary_version, emulation_version] = versions();
    Statusz {
        head: Page::Statusz.head(version),
        start_time: format_seconds(replica.started()),
        uptime_seconds: uptime(replica, now),
        go_version: GO_VERSION,
        binary_version,
        emulation_version,
        paths: paths(replica),
    }
}

/// The status, a line each.
pub(super) fn text(replica: &Replica, now: Timestamp) -> String {
    let separator = replica.dice.one_of(&SEPARATORS);
    let started = replica.started().to_zoned(TimeZone::UTC).strftime("%a %b %e %H:%M:%S UTC %Y").to_string();
    let seconds = uptime(replica, now);
    let up = format!("{} hr {:02} min {:02} sec", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let [binary, emulation] = versions();
    let facts = [
        ("Started", started),
        ("Up", up),
        ("Go version", GO_VERSION.to_owned()),
        ("Binary version", binary),
        ("Emulation version", emulation),
        ("Paths", paths(replica).join(" ")),
    ];
    let lines = facts.iter().map(|(name, value)| format!("{name}{separator} {value}\n"));
    Page::Statusz.heading() + "\n" + &lines.collect::<String>()
}

/// The time since the start, in seconds.
fn uptime(replica: &Replica, now: Timestamp) -> i64 {
    now.duration_since(replica.started()).as_secs().max(0)
}

/// The version of the program, and the emulated one.
fn versions() -> [String; 2] {
    let facts = compatibility();
    ["binary", "emulation"].map(|wanted| {
        facts.iter().find(|(name, _)| *name == wanted).map(|(_, version)| version.clone()).unwrap_or_default()
    })
}

/// The pages, sorted; this one is among them, as upstream's servers behind each other have it.
fn paths(replica: &Replica) -> Vec<&'static str> {
    let mut paths: Vec<&'static str> = replica.pages.paths().chain(PATHS).collect();
    paths.sort_unstable();
    paths
}
