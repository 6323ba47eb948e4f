//! The facts that a history proves: exchanges, watches, and objects by revision.

use super::selector_syntax::Selector;
use crate::history::{Event, History, Reply, Request};
use percent_encoding::percent_decode_str;
use serde_json::Value;
use std::collections::BTreeMap;

/// The facts of one history.
pub struct Facts<'a> {
    /// Requests with their answers, in the order they were sent.
    pub exchanges: Vec<Exchange<'a>>,
    /// Watches, in the order they were asked for.
    pub watches: Vec<Watch<'a>>,
    /// Every object shown to some client, by key and revision.
    pub changes: BTreeMap<(Key, u64), &'a Value>,
}

/// The identity of an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The collection's path without a namespace: `/api/v1/configmaps`.
    pub collection: String,
    /// The namespace; empty outside of any.
    pub namespace: String,
    /// The object's name.
    pub name: String,
}

/// A request with its answer.
pub struct Exchange<'a> {
    /// The index in the history of the request.
    pub sent: usize,
    /// The index in the history of the answer.
    pub answered: usize,
    /// The request.
    pub request: &'a Request,
    /// The answer.
    pub reply: &'a Reply,
    /// The resource or object that the request addresses.
    pub place: Place,
}

/// The resource or object that a path addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The collection's path without a namespace.
    pub collection: String,
    /// The namespace; `None` is all of them.
    pub namespace: Option<String>,
    /// The object's name.
    pub name: Option<String>,
    /// The subresource.
    pub subresource: Option<String>,
}

/// A watch and its events.
pub struct Watch<'a> {
    /// The request.
    pub request: &'a Request,
    /// The collection or object that is watched.
    pub place: Place,
    /// The revision it continues after; `None` if it begins with the current state.
    pub after: Option<u64>,
    /// The frames delivered.
    pub events: Vec<WatchEvent<'a>>,
    /// The selectors; `None` if this module does not understand them.
    pub selector: Option<Selector>,
}

/// A frame of a watch.
pub struct WatchEvent<'a> {
    /// `ADDED`, `MODIFIED`, `DELETED` or `BOOKMARK`.
    pub kind: &'a str,
    /// The object.
    pub object: &'a Value,
    /// The object's revision.
    pub revision: u64,
}

impl<'a> Facts<'a> {
    /// The facts of `history`.
    pub fn of(history: &'a History) -> Facts<'a> {
        let mut facts = Facts { exchanges: Vec::new(), watches: Vec::new(), changes: BTreeMap::new() };
        let mut open = BTreeMap::new();
        for (index, event) in history.events().enumerate() {
            match event {
                Event::Request(request) if request.is_watch() && takes_another_form(request) => {}
                Event::Request(request) if request.is_watch() => facts.watches.push(Watch::of(request)),
                Event::Request(request) => {
                    open.insert(request.request, (index, request));
                }
                Event::Reply(reply) => {
                    if let Some((sent, request)) = open.remove(&reply.request) {
                        facts.exchange(sent, index, request, reply);
                    }
                }
                Event::Frame { request, frame } => {
                    let watch = facts.watches.iter_mut().find(|watch| watch.request.request == *request);
                    if let Some((watch, event)) = watch.zip(WatchEvent::of(frame)) {
                        if event.kind != "BOOKMARK" {
                            facts.changes.insert((watch.place.key(event.object), event.revision), event.object);
                        }
                        watch.events.push(event);
                    }
                }
                _ => {}
            }
        }
        facts.exchanges.sort_by_key(|exchange| exchange.sent);
        facts
    }

    fn exchange(&mut self, sent: usize, answered: usize, request: &'a Request, reply: &'a Reply) {
        let exchange = Exchange { sent, answered, request, reply, place: Place::of(&request.path) };
        let listed = reply.body["items"].as_array().into_iter().flatten();
        for object in exchange.object().into_iter().chain(listed.filter(|_| exchange.shows_objects())) {
            if let Some(revision) = revision(object) {
                self.changes.insert((exchange.place.key(object), revision), object);
            }
        }
        self.exchanges.push(exchange);
    }

    /// The changes in `after..=until` that `watch` has to deliver but did not.
    pub fn missing(&self, watch: &Watch<'_>, after: u64, until: u64) -> Vec<String> {
        let Some(selector) = &watch.selector else { return Vec::new() };
        let selected = self.changes.iter().filter(|((key, revision), object)| {
            (after + 1..=until).contains(revision) && watch.place.covers(key) && selector.selects(object)
        });
        selected
            .filter(|((_, revision), _)| !watch.events.iter().any(|event| event.revision == *revision))
            .map(|((key, revision), _)| format!("{key} changed at {revision}"))
            .collect()
    }
}

impl<'a> Exchange<'a> {
    /// Whether it is a write that succeeded.
    pub fn wrote(&self) -> bool {
        self.reply.succeeded() && self.request.method != "GET" && self.shows_objects()
    }

    /// Whether the response shows objects as they are stored.
    fn shows_objects(&self) -> bool {
        let part = matches!(self.place.subresource.as_deref(), None | Some("status"));
        let whole = self.request.method != "GET" || !takes_another_form(self.request);
        part && whole
            && self.reply.succeeded()
            && self.request.parameter("dryRun").is_none()
            && self.request.method != "DELETE"
    }

    /// The stored object it shows.
    pub fn object(&self) -> Option<&'a Value> {
        let object = &self.reply.body;
        let single = self.shows_objects() && object["items"].is_null() && object["metadata"]["name"].is_string();
        single.then_some(object)
    }

    /// The key and revision of the stored object it shows.
    pub fn shown(&self) -> Option<(Key, u64)> {
        let object = self.object()?;
        Some((self.place.key(object), revision(object)?))
    }
}

impl<'a> Watch<'a> {
    fn of(request: &'a Request) -> Watch<'a> {
        let after = request.parameter("resourceVersion").and_then(|revision| revision.parse().ok());
        let initial = request.parameter("sendInitialEvents") == Some("true");
        Watch {
            request,
            place: Place::of(&request.path),
            after: after.filter(|after| *after > 0 && !initial),
            events: Vec::new(),
            selector: Selector::of(request),
        }
    }

    /// The events that are changes, without those that describe the state at the start.
    pub fn changes(&self) -> impl Iterator<Item = &WatchEvent<'a>> {
        let initial =
            if self.after.is_some() { 0 } else { self.events.iter().take_while(|e| e.kind == "ADDED").count() };
        self.events[initial..].iter().filter(|event| event.kind != "BOOKMARK")
    }

    /// The watch's name in findings.
    pub fn title(&self) -> String {
        format!("watch {} of {}", self.request.request, self.request.path)
    }
}

impl<'a> WatchEvent<'a> {
    fn of(frame: &'a Value) -> Option<WatchEvent<'a>> {
        let kind = frame["type"].as_str().filter(|kind| *kind != "ERROR")?;
        let object = &frame["object"];
        Some(WatchEvent { kind, object, revision: revision(object)? })
    }
}

impl Place {
    /// The place that `path` addresses: `/api/v1/namespaces/x/pods/a/status`, `/apis/apps/v1/deployments`, …
    pub fn of(path: &str) -> Place {
        let path = percent_decode_str(path).decode_utf8_lossy();
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let version_parts = if parts.first() == Some(&"apis") { 3 } else { 2 };
        let (root, rest) = parts.split_at(version_parts.min(parts.len()));
        let (namespace, rest) = match rest {
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() && !["status", "finalize"].contains(&rest[0]) => {
                (Some((*namespace).to_owned()).filter(|namespace| !namespace.is_empty()), rest)
            }
            rest => (None, rest),
        };
        let part = |index: usize| rest.get(index).filter(|part| !part.is_empty()).map(|part| (*part).to_owned());
        let collection = format!("/{}/{}", root.join("/"), part(0).unwrap_or_default());
        Place { collection, namespace, name: part(1), subresource: part(2) }
    }

    /// The key of `object`, which was found here.
    pub fn key(&self, object: &Value) -> Key {
        let part = |name: &str| object["metadata"][name].as_str().unwrap_or_default().to_owned();
        Key { collection: self.collection.clone(), namespace: part("namespace"), name: part("name") }
    }

    fn covers(&self, key: &Key) -> bool {
        self.collection == key.collection
            && self.namespace.as_ref().is_none_or(|namespace| *namespace == key.namespace)
            && self.name.as_ref().is_none_or(|name| *name == key.name)
    }
}

impl Key {
    /// The resource without group and version: one object may be served by several.
    pub fn resource(&self) -> &str {
        self.collection.rsplit('/').next().unwrap_or_default()
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let resource = self.resource();
        match self.namespace.as_str() {
            "" => write!(f, "{resource}/{}", self.name),
            namespace => write!(f, "{resource}/{} in {namespace}", self.name),
        }
    }
}

/// Whether the response is a table or metadata only, which show too little of the objects.
fn takes_another_form(request: &Request) -> bool {
    request.headers.get("accept").is_some_and(|accept| accept.contains(";as="))
}

/// The revision of `object`.
pub fn revision(object: &Value) -> Option<u64> {
    object["metadata"]["resourceVersion"].as_str()?.parse().ok()
}
