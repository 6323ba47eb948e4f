//! Recorded requests, changes of objects and findings as server-sent events, each as it comes. A request has its cursor as its id, and a change its
//! revision, so that a client that comes back misses none. A finding is told once, when it has been true for some time: one who was refused may
//! still try again.

use bytes::Bytes;
use control::{Changes, Count, Finding, Obeys, Question, Refusal, Requests, Wait};
use hyper::body::{Body, Frame};
use serde_json::Value;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

/// The most events that wait for their reader.
const WAITING: usize = 256;
/// The most requests that are asked for at a time.
const PAGE: usize = 100;
/// The time after which a comment says that nothing has happened, in seconds.
const PING_SECONDS: u32 = 10;

/// The time for which a finding has to be true until it is told.
const TRUE_FOR: Duration = Duration::from_secs(5);
/// The time between two looks for findings.
const LOOK: Duration = Duration::from_millis(500);

/// The comment that nothing has happened.
const QUIET: Bytes = Bytes::from_static(b": nothing new\n\n");

/// The body of a stream of events.
pub(super) struct Events(mpsc::Receiver<Bytes>);

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.get_mut().0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// The changes that are wanted, from a revision on.
///
/// # Errors
/// If they cannot be asked for.
pub(super) async fn changes(server: Arc<dyn Obeys>, wanted: Changes) -> Result<Events, Refusal> {
    let wanted = Changes { limit: Some(PAGE), ..wanted };
    let first = server.ask(Question::Changes(Box::new(Changes { timeout_seconds: Some(0), ..wanted.clone() }))).await?;
    let (sender, events) = mpsc::channel(WAITING);
    let wanted = Changes { timeout_seconds: Some(PING_SECONDS), ..wanted };
    tokio::spawn(follow_changes(server, wanted, first, sender));
    Ok(Events(events))
}

/// Sends the changes until the client closes the connection, or the history in between is forgotten.
async fn follow_changes(server: Arc<dyn Obeys>, mut wanted: Changes, mut answer: Value, sender: mpsc::Sender<Bytes>) {
    loop {
        let items = answer["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        for change in items {
            let event = format!("id: {}\nevent: change\ndata: {change}\n\n", change["revision"]);
            if sender.send(event.into()).await.is_err() {
                return;
            }
        }
        if items.is_empty() && sender.send(QUIET).await.is_err() {
            return;
        }
        wanted.since = answer["revision"].as_str().and_then(|revision| revision.parse().ok()).or(wanted.since);
        let waiting = server.ask(Question::Changes(Box::new(wanted.clone())));
        let more = tokio::select! {
            () = sender.closed() => return,
            more = waiting => more,
        };
        match more {
            Ok(more) => answer = more,
            Err(refusal) => return last(&sender, &refusal).await,
        }
    }
}

/// The findings about requests behind a cursor.
///
/// # Errors
/// If they cannot be asked for.
pub(super) async fn findings(server: Arc<dyn Obeys>, since: u64) -> Result<Events, Refusal> {
    server.ask(Question::Findings { since }).await?;
    let (sender, events) = mpsc::channel(WAITING);
    tokio::spawn(follow_findings(server, since, sender));
    Ok(Events(events))
}

/// Sends the findings until the client closes the connection.
async fn follow_findings(server: Arc<dyn Obeys>, since: u64, sender: mpsc::Sender<Bytes>) {
    // When each was first seen; none once it is told.
    let mut seen: BTreeMap<(String, String, Option<u64>), Option<Instant>> = BTreeMap::new();
    let (mut looked_at, mut last_ping) = (None, Instant::now());
    loop {
        let newest = server.ask(Question::Requests(Requests { limit: Some(0), ..Requests::default() })).await;
        let newest = newest.ok().map(|answer| answer["cursor"].clone());
        let is_due = seen.values().flatten().any(|since| since.elapsed() >= TRUE_FOR);
        if newest != looked_at || is_due {
            let answer = match server.ask(Question::Findings { since }).await {
                Ok(answer) => answer,
                Err(refusal) => return last(&sender, &refusal).await,
            };
            looked_at = newest;
            let found: Vec<Finding> = serde_json::from_value(answer["items"].clone()).unwrap_or_default();
            let key = |one: &Finding| (one.id.clone(), one.user.clone(), one.requests.first().copied());
            seen.retain(|known, since| since.is_none() || found.iter().any(|one| key(one) == *known));
            for one in &found {
                let since = seen.entry(key(one)).or_insert_with(|| Some(Instant::now()));
                if since.is_some_and(|since| since.elapsed() >= TRUE_FOR) {
                    *since = None;
                    let data = serde_json::to_string(one).unwrap_or_default();
                    if sender.send(format!("event: finding\ndata: {data}\n\n").into()).await.is_err() {
                        return;
                    }
                }
            }
        }
        if last_ping.elapsed() >= Duration::from_secs(PING_SECONDS.into()) {
            last_ping = Instant::now();
            if sender.send(QUIET).await.is_err() {
                return;
            }
        }
        tokio::select! {
            () = sender.closed() => return,
            () = sleep(LOOK) => {}
        }
    }
}

/// The refusal with which a stream ends.
async fn last(sender: &mpsc::Sender<Bytes>, refusal: &Refusal) {
    let data = serde_json::to_string(refusal).unwrap_or_default();
    // The client may be gone.
    let _ = sender.send(format!("event: error\ndata: {data}\n\n").into()).await;
}

/// The requests that are wanted, from now on and from the cursor on.
///
/// # Errors
/// If they cannot be asked for.
pub(super) async fn requests(server: Arc<dyn Obeys>, wanted: Requests) -> Result<Events, Refusal> {
    let wanted = Requests { limit: Some(PAGE), ..wanted };
    let first = server.ask(Question::Requests(wanted.clone())).await?;
    let (sender, events) = mpsc::channel(WAITING);
    tokio::spawn(follow(server, wanted, first, sender));
    Ok(Events(events))
}

/// Sends the requests until the client closes the connection.
async fn follow(server: Arc<dyn Obeys>, mut wanted: Requests, mut answer: Value, sender: mpsc::Sender<Bytes>) {
    loop {
        let items = answer["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        for request in items {
            let event = format!("id: {}\nevent: request\ndata: {request}\n\n", request["cursor"]);
            if sender.send(event.into()).await.is_err() {
                return;
            }
        }
        wanted.since = answer["cursor"].as_u64().unwrap_or(wanted.since);
        if items.is_empty() {
            let count = Count { min: Some(1), max: None };
            let on = wanted.on.clone();
            let wait = Wait { on, since: wanted.since, count, timeout_seconds: Some(PING_SECONDS), for_seconds: None };
            let waited = server.ask(Question::Wait(wait)).await;
            let is_quiet = waited.is_ok_and(|waited| waited["satisfied"] == false);
            if is_quiet && sender.send(QUIET).await.is_err() {
                return;
            }
        }
        match server.ask(Question::Requests(wanted.clone())).await {
            Ok(more) => answer = more,
            Err(refusal) => return last(&sender, &refusal).await,
        }
    }
}
