//! Measurements of watches: delay of events, and cost for writers.
//!
//! Watches share HTTP/2 connections, as those of client-go do.

use super::client::{Call, Connection};
use super::load::{CREATES, Session};
use super::server::Server;
use anyhow::Context;
use bytes::Bytes;
use futures::future::try_join_all;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

/// Watchers of the same events.
pub(super) struct Audience {
    pub(super) name: &'static str,
    watchers: usize,
    per_connection: usize,
    /// Number of events in a turn.
    events: usize,
}

pub(super) const ONE: Audience = Audience { name: "one watcher", watchers: 1, per_connection: 1, events: 200 };
pub(super) const THOUSAND: Audience =
    Audience { name: "1,000 watchers", watchers: 1000, per_connection: 10, events: 10 };

/// Number of watches of one object each, none of which ever changes.
const SINGLE_OBJECT_WATCHES: usize = 10_000;
/// Watches per connection: the limit of real servers.
const MAX_STREAMS: usize = 100;
/// Number of measurements of creates without and with watches.
const ROUNDS: usize = 3;

/// Open watches, and the writer of their events.
pub(super) struct Deliveries<'a> {
    server: &'a Server,
    audience: &'a Audience,
    writer: Connection,
    arrivals: UnboundedReceiver<Instant>,
    _watchers: JoinSet<anyhow::Result<()>>,
}

impl<'a> Deliveries<'a> {
    /// Opens the watches, after that revision.
    pub(super) async fn open(server: &'a Server, audience: &'a Audience, revision: &str) -> anyhow::Result<Self> {
        let calls: Vec<Call> = (0..audience.watchers).map(|_| server.watch(revision, None)).collect();
        let (sender, arrivals) = unbounded_channel();
        let mut watchers = JoinSet::new();
        for body in open(server, calls, audience.per_connection).await? {
            watchers.spawn(report_lines(body, sender.clone()));
        }
        Ok(Deliveries { server, audience, writer: server.target.connect().await?, arrivals, _watchers: watchers })
    }

    /// The time from the sending of a write to the arrival of its event, for every event of a turn and every watcher.
    pub(super) async fn turn(&mut self) -> anyhow::Result<Vec<Duration>> {
        let mut durations = Vec::with_capacity(self.audience.watchers * self.audience.events);
        for _ in 0..self.audience.events {
            let start = Instant::now();
            self.writer.exchange(self.server.update(0)).await?;
            for _ in 0..self.audience.watchers {
                let arrival = self.arrivals.recv().await.context("all watches have ended")?;
                durations.push(arrival.duration_since(start));
            }
        }
        Ok(durations)
    }
}

/// The frame of an event.
pub(super) async fn frame(server: &Server) -> anyhow::Result<Bytes> {
    let call = server.watch(&server.revision().await?, None);
    let mut body = server.target.connect_http2().await?.open(call).await?;
    server.target.connect().await?.exchange(server.update(0)).await?;
    let frame = body.frame().await.context("the watch has ended")??;
    frame.into_data().ok().context("trailers in place of an event")
}

/// Creates per second with [`SINGLE_OBJECT_WATCHES`] open, in percent of those without.
pub(super) async fn creates_while_watched(server: &Arc<Server>) -> anyhow::Result<Vec<f64>> {
    let mut creates = Session::open(&CREATES, server).await?;
    let mut kept = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        // One right after the other, so that other load on the machine affects both alike.
        let without = creates.round().await?.rate;
        let revision = server.revision().await?;
        let names = (0..SINGLE_OBJECT_WATCHES).map(|number| format!("watched-{number}"));
        let calls = names.map(|name| server.watch(&revision, Some(&name))).collect();
        let watches = open(server, calls, MAX_STREAMS).await?;
        let with = creates.round().await?.rate;
        drop(watches);
        kept.push(with / without * 100.0);
    }
    Ok(kept)
}

/// Opens watches, `per_connection` on each connection.
async fn open(server: &Server, calls: Vec<Call>, per_connection: usize) -> anyhow::Result<Vec<Incoming>> {
    let mut bodies = Vec::with_capacity(calls.len());
    let mut calls = calls.into_iter().peekable();
    while calls.peek().is_some() {
        let connection = server.target.connect_http2().await?;
        let opened = calls.by_ref().take(per_connection).map(|call| connection.clone().open(call));
        bodies.extend(try_join_all(opened).await?);
    }
    Ok(bodies)
}

/// Reports the arrival of each line, which is an event.
async fn report_lines(mut body: Incoming, arrivals: UnboundedSender<Instant>) -> anyhow::Result<()> {
    while let Some(frame) = body.frame().await {
        let frame = frame?;
        let now = Instant::now();
        let bytes = frame.data_ref().map_or(&[][..], Bytes::as_ref);
        for _ in bytes.iter().filter(|byte| **byte == b'\n') {
            arrivals.send(now)?;
        }
    }
    Ok(())
}
