//! Recorded requests as server-sent events: each as it is answered, under its cursor, so that who comes back misses none.

use bytes::Bytes;
use control::{Count, Obeys, Question, Refusal, Requests, Wait};
use hyper::body::{Body, Frame};
use serde_json::Value;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// The most events that wait for their reader.
const WAITING: usize = 256;
/// The most requests that are asked for at a time.
const PAGE: usize = 100;
/// The time after which a comment says that nothing has happened, in seconds.
const PING_SECONDS: u32 = 10;

/// The body of a stream of events.
pub(super) struct Events(mpsc::Receiver<Bytes>);

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.get_mut().0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// The requests that are wanted, from now on and from the cursor on.
///
/// # Errors
/// If they cannot be asked for.
pub(super) async fn events(server: Arc<dyn Obeys>, wanted: Requests) -> Result<Events, Refusal> {
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
        let cursor = answer["cursor"].as_str().and_then(|cursor| cursor.parse().ok());
        wanted.since = cursor.unwrap_or(wanted.since);
        if items.is_empty() {
            let count = Count { min: Some(1), max: None };
            let on = wanted.on.clone();
            let wait = Wait { on, since: wanted.since, count, timeout_seconds: Some(PING_SECONDS), for_seconds: None };
            let waited = server.ask(Question::Wait(wait)).await;
            let is_quiet = waited.is_ok_and(|waited| waited["satisfied"] == false);
            if is_quiet && sender.send(Bytes::from_static(b": nothing new\n\n")).await.is_err() {
                return;
            }
        }
        match server.ask(Question::Requests(wanted.clone())).await {
            Ok(more) => answer = more,
            Err(_) => return,
        }
    }
}
