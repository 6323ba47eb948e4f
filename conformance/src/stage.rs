//! The stage of a scenario: a running cluster, the dialogue so far, open watches and running clients, and the history.

use crate::answers::{decoded, document, next_frame};
use crate::client::Endpoint;
use crate::credentials::ADMINISTRATOR;
use crate::deadline::DEADLINE;
use crate::kubelets::Kubelet;
use crate::props::Props;
use crate::recorder::Recorder;
use crate::subject::Cluster;
use crate::subject::controller::Controller;
use crate::webhook::Webhook;
use anyhow::{Context as _, Result, anyhow};
use bytes::Bytes;
use conformance_judge::dialogue::Dialogue;
use conformance_judge::history::{Event, Reply, Request};
use conformance_judge::scenario::prefixes::{Credential, Prefixes, Route};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::{mpsc, watch};
use tokio_util::task::AbortOnDropHandle;

/// They have no namespace, and would go on to call the webhook of a scenario that has ended.
const WEBHOOK_CONFIGURATIONS: [&str; 2] = [
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
];

/// The state of one run.
pub struct Stage<'a> {
    /// The cluster.
    pub cluster: &'a dyn Cluster,
    /// The time after which a wait has failed.
    pub patience: Duration,
    /// The dialogue so far, with the names it has bound.
    pub dialogue: Dialogue,
    /// The history.
    pub recorder: Arc<Recorder>,
    /// Open watches by the name the scenario gave them.
    pub watches: BTreeMap<String, Stream>,
    /// Running controllers by name.
    pub controllers: BTreeMap<String, Box<dyn Controller>>,
    /// The nodes that kubelets were started for.
    pub nodes: BTreeSet<String>,
    /// Running kubelets by node.
    pub kubelets: BTreeMap<String, Kubelet>,
    /// The webhook that runs.
    pub webhook: Option<Webhook>,
    /// Whether one was started.
    pub has_started_webhook: bool,
    /// The folder of the scenario's files, if it has some.
    pub folder: Option<TempDir>,
    /// Signals kubelets that the cluster's clock was moved.
    pub clock_moved: watch::Sender<()>,
    /// The uids of pods whose files were read, by name.
    pub pod_uids: BTreeMap<String, String>,
    /// The number of calls of each user that the scenario has read.
    pub calls_read: BTreeMap<String, usize>,
    /// The number of lines of each replica's log that the scenario has read.
    pub log_lines_read: BTreeMap<usize, usize>,
    requests: u64,
    round_robin: usize,
}

/// A request, ready to be sent.
pub struct Outgoing {
    endpoint: Endpoint,
    token: Option<String>,
    body: Bytes,
    request: Request,
}

/// The frames of an open watch.
pub struct Stream {
    frames: mpsc::UnboundedReceiver<Value>,
    _reader: AbortOnDropHandle<()>,
}

impl Stream {
    /// The next frame; `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<Value> {
        self.frames.recv().await
    }
}

impl<'a> Stage<'a> {
    /// A fresh stage on `cluster`.
    pub fn new(cluster: &'a dyn Cluster, recorder: Arc<Recorder>, patience: Duration, props: Props) -> Stage<'a> {
        Stage {
            cluster,
            patience,
            dialogue: Dialogue::begin(cluster.namespace(), &props.names),
            recorder,
            watches: BTreeMap::new(),
            controllers: BTreeMap::new(),
            nodes: BTreeSet::new(),
            kubelets: BTreeMap::new(),
            has_started_webhook: props.webhook.is_some(),
            webhook: props.webhook,
            folder: props.folder,
            clock_moved: watch::Sender::new(()),
            pod_uids: BTreeMap::new(),
            calls_read: BTreeMap::new(),
            log_lines_read: BTreeMap::new(),
            requests: 0,
            round_robin: 0,
        }
    }

    /// `template` with its names replaced by their values.
    pub fn fill(&self, template: &str) -> Result<String> {
        self.dialogue.names.fill_text(template).map_err(unbound)
    }

    /// `query` with its names replaced by their values.
    pub fn fill_query(&self, query: &[(String, String)]) -> Result<Vec<(String, String)>> {
        query.iter().map(|(key, value)| Ok((key.clone(), self.fill(value)?))).collect()
    }

    /// The namespace that `prefixes` ask for; `None` is all of them.
    pub fn namespace(&self, prefixes: &Prefixes) -> Result<Option<String>> {
        Ok(match prefixes.namespace.as_deref() {
            None => Some(self.cluster.namespace().to_owned()),
            Some("all") => None,
            Some(namespace) => Some(self.fill(namespace)?),
        })
    }

    /// Completes a request with its number, sender and API server.
    pub fn address(&mut self, prefixes: &Prefixes, mut request: Request, body: Vec<u8>) -> Result<Outgoing> {
        let endpoints = self.cluster.endpoints();
        let index = match prefixes.route {
            Route::Replica(replica) => replica - 1,
            Route::RoundRobin => {
                self.round_robin += 1;
                (self.round_robin - 1) % endpoints.len()
            }
        };
        let endpoint = endpoints.get(index).with_context(|| format!("there is no replica {}", index + 1))?.clone();
        let user = |name: &str| self.cluster.token(name).with_context(|| format!("this target knows no user {name:?}"));
        let (name, token) = match &prefixes.credential {
            Credential::Administrator => (ADMINISTRATOR, Some(user(ADMINISTRATOR)?)),
            Credential::Anonymous => ("anonymous", None),
            Credential::Token(token) => ("token", Some(self.fill(token)?)),
            Credential::User(name) => (name.as_str(), Some(user(name)?)),
        };
        self.requests += 1;
        request.request = self.requests;
        request.replica = index + 1;
        request.user = name.to_owned();
        Ok(Outgoing { endpoint, token, body: body.into(), request })
    }

    /// Sends a request and waits for the whole response.
    pub async fn exchange(&self, outgoing: Outgoing) -> Result<Reply> {
        let number = outgoing.request.request;
        let response = self.send(outgoing).await?;
        let reply = read(number, response).await?;
        self.recorder.record(Event::Reply(reply.clone()));
        Ok(reply)
    }

    /// Sends a watch request; if it succeeds, the frames come as a stream.
    pub async fn watch(&self, outgoing: Outgoing) -> Result<(Reply, Option<Stream>)> {
        let number = outgoing.request.request;
        let response = self.send(outgoing).await?;
        if !response.status().is_success() {
            let reply = read(number, response).await?;
            self.recorder.record(Event::Reply(reply.clone()));
            return Ok((reply, None));
        }
        let reply = head(number, &response);
        self.recorder.record(Event::Reply(reply.clone()));
        let (sender, frames) = mpsc::unbounded_channel();
        let reader = tokio::spawn(read_frames(reply.clone(), response.into_body(), sender, Arc::clone(&self.recorder)));
        Ok((reply, Some(Stream { frames, _reader: AbortOnDropHandle::new(reader) })))
    }

    /// Stops controllers and kubelets, and deletes the nodes that kubelets were started for and the configurations of webhooks.
    pub async fn close(self) -> Result<()> {
        for running in self.controllers.into_values() {
            running.stop().await?;
        }
        for kubelet in self.kubelets.into_values() {
            kubelet.stop().await?;
        }
        for node in self.nodes {
            // Nodes have no namespace, and other scenarios may share the server.
            let path = format!("/api/v1/nodes?fieldSelector=metadata.name%3D{node}");
            let token = self.cluster.token(ADMINISTRATOR);
            self.cluster.endpoints()[0].ask(token.as_deref(), "DELETE", &path, &Value::Null).await?;
        }
        if self.has_started_webhook {
            for resource in WEBHOOK_CONFIGURATIONS {
                own_deleted(self.cluster, resource).await?;
            }
        }
        Ok(())
    }

    async fn send(&self, outgoing: Outgoing) -> Result<http::Response<Incoming>> {
        let Outgoing { endpoint, token, body, request } = outgoing;
        let mut builder = http::Request::builder().method(request.method.as_str()).uri(target(&request));
        for (name, values) in &request.headers {
            builder = values.split('\n').fold(builder, |builder, value| builder.header(name, value));
        }
        if let Some(token) = token {
            builder = builder.header(http::header::AUTHORIZATION, format!("Bearer {token}"));
        }
        self.recorder.record(Event::Request(request));
        let exchange = endpoint.send(builder.body(Full::new(body))?);
        tokio::time::timeout(DEADLINE, exchange).await.map_err(|_| anyhow!("no answer for {DEADLINE:?}"))?
    }
}

/// Deletes the objects of a resource without namespaces whose names begin with the scenario's.
async fn own_deleted(cluster: &dyn Cluster, path: &str) -> Result<()> {
    let (endpoint, token) = (&cluster.endpoints()[0], cluster.token(ADMINISTRATOR));
    let list = endpoint.ask(token.as_deref(), "GET", path, &Value::Null).await?;
    let names = list["items"].as_array().into_iter().flatten().filter_map(|object| object["metadata"]["name"].as_str());
    for name in names.filter(|name| name.starts_with(cluster.namespace())) {
        endpoint.ask(token.as_deref(), "DELETE", &format!("{path}/{name}"), &Value::Null).await?;
    }
    Ok(())
}

/// The error for an unbound name.
pub fn unbound(name: String) -> anyhow::Error {
    anyhow!("${name} has no value yet")
}

fn head<B>(number: u64, response: &http::Response<B>) -> Reply {
    let mut reply = Reply { request: number, status: response.status().as_u16(), ..Reply::default() };
    for (name, value) in response.headers() {
        let value = String::from_utf8_lossy(value.as_bytes());
        // The values of a repeated header, one a line.
        let values = reply.headers.entry(name.as_str().to_owned()).or_default();
        *values = if values.is_empty() { value.into_owned() } else { format!("{values}, {value}") };
    }
    reply
}

async fn read(number: u64, response: http::Response<Incoming>) -> Result<Reply> {
    let mut reply = head(number, &response);
    let body = tokio::time::timeout(DEADLINE, response.into_body().collect());
    let body = body.await.map_err(|_| anyhow!("the body did not end within {DEADLINE:?}"))??.to_bytes();
    let body = decoded(reply.headers.get("content-encoding").map(String::as_str), body)?;
    match document(content_type(&reply), &body) {
        Ok(json) => reply.body = json,
        Err(text) => reply.text = Some(text),
    }
    Ok(reply)
}

fn content_type(reply: &Reply) -> &str {
    reply.headers.get("content-type").map(String::as_str).unwrap_or_default()
}

async fn read_frames(reply: Reply, mut body: Incoming, frames: mpsc::UnboundedSender<Value>, recorder: Arc<Recorder>) {
    let number = reply.request;
    let mut unread = Vec::new();
    let error = loop {
        match body.frame().await {
            None => break None,
            Some(Err(error)) => break Some(error.to_string()),
            Some(Ok(frame)) => unread.extend_from_slice(frame.data_ref().map(|data| &data[..]).unwrap_or_default()),
        }
        while let Some(frame) = next_frame(content_type(&reply), &mut unread) {
            recorder.record(Event::Frame { request: number, frame: frame.clone() });
            if frames.send(frame).is_err() {
                return;
            }
        }
    };
    recorder.record(Event::Closed { request: number, error });
}

/// The request target: path and encoded query.
fn target(request: &Request) -> String {
    let mut target = request.path.clone();
    for (index, (key, value)) in request.query.iter().enumerate() {
        target.push(if index == 0 && !target.contains('?') { '?' } else { '&' });
        target.push_str(&encoded(key));
        target.push('=');
        target.push_str(&encoded(value));
    }
    target
}

fn encoded(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => (byte as char).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}
