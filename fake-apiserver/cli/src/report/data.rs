//! The data of the page of a recorded run, as its scripts read it.

use fake_apiserver::control::recording::{ChangeType, Line, Missed, Recording, Sent, What};
use fake_apiserver::control::{Finding, Order, Request};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::path::Path;

/// The longest body or object that the page has, in bytes.
const LONGEST: usize = 16 * 1024;

/// The page of a recorded run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Page<'r> {
    /// The name of the file.
    file: String,
    kubernetes: &'r str,
    started: String,
    replicas: usize,
    /// Why it does not reach to the end, if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<&'r str>,
    /// The time of the last line, in microseconds.
    end: u64,
    findings: Vec<Finding>,
    requests: Vec<Asked<'r>>,
    changes: Vec<Changed<'r>>,
    marks: Vec<Mark>,
    watches: Vec<Watched<'r>>,
}

/// A request, with the end of it.
#[derive(Serialize)]
struct Asked<'r> {
    at: u64,
    /// The newest revision then.
    seen: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<&'r str>,
    #[serde(flatten)]
    request: Cow<'r, Request>,
}

/// A change of an object.
#[derive(Serialize)]
struct Changed<'r> {
    at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<&'r str>,
    revision: u64,
    #[serde(rename = "type")]
    change: ChangeType,
    resource: &'r str,
    path: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<Cow<'r, str>>,
}

/// Something that a test did to the server, or that is missing.
#[derive(Serialize)]
struct Mark {
    at: u64,
    kind: &'static str,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<Value>,
}

/// The end of a watch.
#[derive(Serialize)]
struct Watched<'r> {
    at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<&'r str>,
    request: u64,
    events: u64,
    sent: &'r [Sent],
}

/// Whether a replica was added to the first cluster there.
fn adds_replica(line: &Line) -> bool {
    line.cluster.is_none() && matches!(&line.what, What::Order(order) if matches!(**order, Order::AddReplica { .. }))
}

impl<'r> Page<'r> {
    pub(super) fn of(recording: &'r Recording, file: &Path) -> Page<'r> {
        let Recording { header, lines, cut } = recording;
        let mut page = Page {
            file: file.display().to_string(),
            kubernetes: &header.kubernetes,
            started: header.started.to_string(),
            replicas: header.replicas.saturating_add(lines.iter().filter(|line| adds_replica(line)).count()),
            cut: cut.as_deref(),
            end: lines.iter().map(|line| line.at).max().unwrap_or_default(),
            findings: recording.findings(),
            requests: Vec::new(),
            changes: Vec::new(),
            marks: Vec::new(),
            watches: Vec::new(),
        };
        lines.iter().for_each(|line| page.add(line));
        page
    }

    fn add(&mut self, line: &'r Line) {
        let (at, cluster) = (line.at, line.cluster.as_deref());
        match &line.what {
            What::Request(request) => {
                self.requests.push(Asked { at, seen: line.revision, cluster, request: shortened(request) });
            }
            What::Change(stored) => self.changes.push(Changed {
                at,
                cluster,
                revision: stored.revision,
                change: stored.change.unwrap_or(ChangeType::Modified),
                resource: &stored.resource,
                path: &stored.path,
                object: line.object.as_deref().map(|object| short(object.get())),
            }),
            What::WatchEnded(ended) => {
                let (request, events, sent) = (ended.request, ended.events, ended.sent.as_slice());
                self.watches.push(Watched { at, cluster, request, events, sent });
            }
            What::Present(_) => {}
            what => {
                if let Some((kind, text, words)) = mark(what, line) {
                    self.marks.push(Mark { at, kind, text, cluster: line.cluster.clone(), words });
                }
            }
        }
    }
}

/// A request whose body is not too long for the page.
fn shortened(request: &Request) -> Cow<'_, Request> {
    let text = request.body.as_ref().map(Value::to_string).filter(|text| text.len() > LONGEST);
    match text {
        Some(text) => Cow::Owned(Request { body: Some(short(&text).into()), ..request.clone() }),
        None => Cow::Borrowed(request),
    }
}

/// A text, or its beginning.
fn short(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST {
        return text.into();
    }
    format!("{}... ({} bytes)", machinery::text::beginning(text, LONGEST), text.len()).into()
}

/// The mark of a line: its kind, a sentence, and the words.
fn mark(what: &What, line: &Line) -> Option<(&'static str, String, Option<Value>)> {
    Some(match what {
        What::Clock { frozen: true } => ("clock", format!("the clock stands still at {}", line.time), None),
        What::Clock { frozen: false } => ("clock", format!("the clock runs from {}", line.time), None),
        What::FaultAdded { id, rule } => {
            let name = rule.name.as_deref().map(|name| format!(" {name}")).unwrap_or_default();
            ("fault", format!("fault {id}{name} is added"), serde_json::to_value(rule).ok())
        }
        What::FaultsRemoved { ids } => ("fault", format!("fault {} is removed", ids.join(", ")), None),
        What::Order(order) => ("order", told(order), serde_json::to_value(order).ok()),
        What::Missed(missed) => ("missed", missing(missed), None),
        What::Ended {} => ("order", "the server stops".to_owned(), None),
        What::Base { objects } => {
            ("order", format!("there are {objects} objects, at revision {}", line.revision), None)
        }
        What::Begun { from } => {
            let from = from.as_deref().unwrap_or("the first cluster");
            ("order", format!("it begins with the objects of {from}, at revision {}", line.revision), None)
        }
        What::Present(_) | What::Change(_) | What::Request(_) | What::WatchEnded(_) => return None,
    })
}

fn missing(missed: &Missed) -> String {
    match (&missed.revisions, &missed.change) {
        (Some((first, last)), _) => format!("the changes of revisions {first} to {last} were not recorded"),
        (None, Some(change)) => format!("the change of {change} was not recorded"),
        (None, None) => format!("{} lines were not recorded", missed.lines),
    }
}

/// The order in a few words: `compact revision=12`.
fn told(order: &Order) -> String {
    let value = serde_json::to_value(order).unwrap_or_default();
    let mut text = value["order"].as_str().unwrap_or_default().to_owned();
    for (name, value) in value.as_object().into_iter().flatten().filter(|(name, _)| *name != "order") {
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text += &format!(" {name}={shown}");
    }
    text
}
