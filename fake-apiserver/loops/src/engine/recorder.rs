//! The recorder of a loop's events.
//!
//! Follows `tools/record/{event,events_cache}.go` of `k8s.io/client-go` (v0.37.1): an event that recurs is counted by a patch, the tenth
//! different one of a reason about an object within ten minutes stands for all later ones, and an object has 25 events, and one more every
//! five minutes. Other than there, no cache forgets, but for what is older than those ten minutes and is not written any more.
//!
//! Events with an action follow `tools/events/{event_recorder,event_broadcaster}.go`: one that recurs is a series, whatever it says, and is written
//! once more as such.

use super::request::{Request, path};
use crate::act::PatchType;
use crate::resource::{Key, Resource};
use jiff::Timestamp;
use machinery::object::meta;
use std::collections::{BTreeSet, HashMap};
use tree::{Value, json};

const EVENTS: Resource = Resource::new("", "v1", "events");
const EVENTS_WITH_ACTIONS: Resource = Resource::new("events.k8s.io", "v1", "events");
/// The number of different messages from which on they are combined.
const MOST_MESSAGES: usize = 10;
/// The seconds within which they are.
const INTERVAL: i64 = 600;
/// The events that an object may have at once.
const BURST: f64 = 25.0;
/// The events that it may have in addition, a second.
const RATE: f64 = 1.0 / 300.0;

/// The recorder of a component.
pub(super) struct Recorder {
    component: &'static str,
    /// The messages by reason and object, and when the last one came.
    messages: HashMap<String, (BTreeSet<String>, Timestamp)>,
    /// The events as they were written, by what they say.
    written: HashMap<String, Written>,
    /// The events that an object may still have, and since when.
    left: HashMap<String, (f64, Timestamp)>,
}

/// An event that was written.
#[derive(Clone)]
struct Written {
    name: String,
    count: i64,
    first: Timestamp,
}

/// A request that writes an event.
pub(super) struct Recording {
    pub(super) request: Request,
    /// The request if the event that is to be counted is gone.
    pub(super) anew: Request,
}

/// An event as a loop has it.
pub(super) struct Occurrence<'a> {
    pub(super) about: &'a Value,
    pub(super) warning: bool,
    pub(super) reason: &'a str,
    /// The action, or nothing.
    pub(super) action: &'a str,
    pub(super) message: &'a str,
}

impl Recorder {
    /// The recorder of a component.
    pub(super) fn new(component: &'static str) -> Recorder {
        let (messages, written, left) = Default::default();
        Recorder { component, messages, written, left }
    }

    /// The requests for an event; `None` if the object has too many. `last` is the time in the last name, in nanoseconds: a clock may stand still,
    /// and names differ, also those of other recorders.
    pub(super) fn record(&mut self, event: &Occurrence<'_>, now: Timestamp, last: &mut i128) -> Option<Recording> {
        let kind = if event.warning { "Warning" } else { "Normal" };
        if !event.action.is_empty() {
            return self.record_action(event, kind, now, last);
        }
        let spam = format!("{}{kind}", reference(event.about, false));
        let reasoned = format!("{spam}{}", event.reason);
        let (message, key) = match self.combines(&reasoned, event.message, now) {
            true => (format!("(combined from similar events): {}", event.message), reasoned),
            false => (event.message.to_owned(), format!("{reasoned}{}", event.message)),
        };
        let written = self.count(key, event.about, now, last);
        if !self.may(spam, now) {
            return None;
        }
        let object = self.event(event, kind, &message, &written, now);
        let collection = Key { namespace: namespace_of(event.about).to_owned(), name: String::new() };
        let anew = Request::json("POST", path(&EVENTS, &collection, ""), object);
        if written.count == 1 {
            return Some(Recording { request: anew.clone(), anew });
        }
        let at = path(&EVENTS, &Key { name: written.name, ..collection }, "");
        let patch = json!({"count": written.count, "lastTimestamp": seconds(now), "message": message});
        let content_type = PatchType::Strategic.media_type();
        let request = Request { content_type, ..Request::json("PATCH", at, patch) };
        Some(Recording { request, anew })
    }

    /// The requests for an event with an action; `None` if it recurs, and was written as a series already.
    fn record_action(
        &mut self,
        event: &Occurrence<'_>,
        kind: &str,
        now: Timestamp,
        last: &mut i128,
    ) -> Option<Recording> {
        let regarding = reference(event.about, true);
        let key = format!("{regarding}{kind}{}{}", event.reason, event.action);
        let written = self.count(key, event.about, now, last);
        let mut object = json!({
            "kind": "Event",
            "apiVersion": "events.k8s.io/v1",
            "metadata": {"name": written.name.as_str(), "namespace": namespace_of(event.about)},
            "eventTime": microseconds(now),
            "reportingController": self.component,
            "reportingInstance": format!("{}-localhost", self.component),
            "action": event.action,
            "reason": event.reason,
            "regarding": regarding,
            "note": event.message,
            "type": kind,
        });
        let collection = Key { namespace: namespace_of(event.about).to_owned(), name: String::new() };
        let all = path(&EVENTS_WITH_ACTIONS, &collection, "");
        match written.count {
            1 => {
                let anew = Request::json("POST", all, object);
                Some(Recording { request: anew.clone(), anew })
            }
            2 => {
                let series = json!({"count": 2, "lastObservedTime": microseconds(now)});
                let patch = json!({"series": series.clone()});
                object["series"] = series;
                let at = path(&EVENTS_WITH_ACTIONS, &Key { name: written.name, ..collection }, "");
                let content_type = PatchType::Strategic.media_type();
                let request = Request { content_type, ..Request::json("PATCH", at, patch) };
                Some(Recording { request, anew: Request::json("POST", all, object) })
            }
            _ => None,
        }
    }

    /// Counts an event, which gets a name if it is a new one.
    fn count(&mut self, key: String, about: &Value, now: Timestamp, last: &mut i128) -> Written {
        *last = now.as_nanosecond().max(*last + 1);
        let fresh = Written { name: format!("{}.{:x}", meta::name(about), *last), count: 0, first: now };
        let written = self.written.entry(key).or_insert(fresh);
        written.count += 1;
        written.clone()
    }

    /// Whether the message joins so many others that they are combined.
    fn combines(&mut self, reasoned: &str, message: &str, now: Timestamp) -> bool {
        let (messages, last) = self.messages.entry(reasoned.to_owned()).or_insert_with(|| (BTreeSet::new(), now));
        if now.as_second() - last.as_second() > INTERVAL {
            messages.clear();
        }
        *last = now;
        messages.insert(message.to_owned());
        let many = messages.len() >= MOST_MESSAGES;
        if many {
            messages.pop_first();
        }
        many
    }

    /// Whether the object may have one more event.
    fn may(&mut self, spam: String, now: Timestamp) -> bool {
        let (left, since) = self.left.entry(spam).or_insert((BURST, now));
        let passed = now.duration_since(*since).as_secs_f64().max(0.0);
        *left = (*left + passed * RATE).min(BURST);
        *since = now;
        let may = *left >= 1.0;
        if may {
            *left -= 1.0;
        }
        may
    }

    fn event(&self, event: &Occurrence<'_>, kind: &str, message: &str, written: &Written, now: Timestamp) -> Value {
        json!({
            "kind": "Event",
            "apiVersion": "v1",
            "metadata": {"name": written.name.as_str(), "namespace": namespace_of(event.about)},
            "involvedObject": reference(event.about, true),
            "reason": event.reason,
            "message": message,
            "source": {"component": self.component},
            "firstTimestamp": seconds(written.first),
            "lastTimestamp": seconds(now),
            "count": written.count,
            "type": kind,
            "eventTime": Value::Null,
            "reportingComponent": self.component,
            "reportingInstance": "",
        })
    }
}

/// A time in whole seconds.
fn seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A time in microseconds.
fn microseconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

/// The namespace of events about an object.
fn namespace_of(about: &Value) -> &str {
    Some(meta::namespace(about)).filter(|namespace| !namespace.is_empty()).unwrap_or("default")
}

/// The reference to an object, with its revision or without.
fn reference(about: &Value, revised: bool) -> Value {
    let mut reference = json!({});
    for (field, text) in [
        ("kind", about.get("kind").and_then(Value::as_str).unwrap_or_default()),
        ("namespace", meta::namespace(about)),
        ("name", meta::name(about)),
        ("uid", meta::uid(about)),
        ("apiVersion", about.get("apiVersion").and_then(Value::as_str).unwrap_or_default()),
        ("resourceVersion", if revised { meta::resource_version(about) } else { "" }),
    ] {
        if !text.is_empty() {
            reference[field] = text.into();
        }
    }
    reference
}
