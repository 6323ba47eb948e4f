//! The answers of an admission webhook, as a scenario scripts them for each of its paths, and the reviews that it was sent.

use super::server::Reaction;
use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use conformance_judge::observation::Item;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http_body_util::Full;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// A kind of answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Admitted.
    Allow,
    /// Denied, without a word.
    Deny,
    /// Admitted, with the body as JSON patch.
    Patch,
    /// A review whose `response` is the body; the uid is added unless the body has one.
    Response,
    /// The body, as a whole review; `<uid>` in it stands for the uid of the request.
    Review,
    /// That HTTP status, with the headers and the body given.
    Status(u16),
    /// No answer, and the connection stays open.
    Silence,
    /// No answer, and the connection is closed.
    HangUp,
    /// No answer, and the stream is reset.
    Reset,
}

/// The kinds with a name; a status is written as a number.
const KINDS: [(&str, Kind); 8] = [
    ("allow", Kind::Allow),
    ("deny", Kind::Deny),
    ("patch", Kind::Patch),
    ("response", Kind::Response),
    ("review", Kind::Review),
    ("silence", Kind::Silence),
    ("hang-up", Kind::HangUp),
    ("reset", Kind::Reset),
];

impl Kind {
    /// The kind of that name.
    pub fn parse(name: &str) -> Option<Kind> {
        let named = KINDS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
        named.or_else(|| name.parse().ok().map(Kind::Status))
    }

    /// All names.
    pub fn names() -> String {
        KINDS.map(|(name, _)| name).join(", ")
    }
}

/// An answer that a scenario scripted.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The kind.
    pub kind: Kind,
    /// Headers, lower case.
    pub headers: BTreeMap<String, String>,
    /// JSON, or a text as it is sent.
    pub body: Value,
    /// The time that goes by before it is sent.
    pub delay: Duration,
}

/// The script of a webhook, and the reviews that it was sent.
#[derive(Default)]
pub(super) struct Script {
    /// By path; "" is for those without answers of their own.
    paths: BTreeMap<String, Answers>,
    reviews: Vec<(String, Item)>,
    seen: bool,
}

#[derive(Default)]
struct Answers {
    /// Each is given once, before the others.
    once: VecDeque<Reply>,
    always: Option<Reply>,
}

impl Script {
    /// Answers at `path` like that from now on, or only to the next request; without a path at all of them.
    pub(super) fn set(&mut self, path: &str, once: bool, reply: Reply) {
        if path.is_empty() && !once {
            self.paths.clear();
        }
        let answers = self.paths.entry(path.to_owned()).or_default();
        if once {
            answers.once.push_back(reply);
        } else {
            answers.always = Some(reply);
        }
    }

    /// Whether there was a review.
    pub(super) fn has_seen_any(&self) -> bool {
        self.seen
    }

    /// Whether there are reviews at that path which were not taken.
    pub(super) fn was_called(&self, path: &str) -> bool {
        self.reviews.iter().any(|(called, _)| called == path)
    }

    /// Takes the reviews at that path, or all of them, in the order in which they came.
    pub(super) fn take(&mut self, path: Option<&str>) -> Vec<Item> {
        let wanted = |(called, _): &mut (String, Item)| path.is_none_or(|path| path == called);
        self.reviews.extract_if(.., wanted).map(|(_, item)| item).collect()
    }

    /// Notes a review, and says what is done with it, and after which time.
    pub(super) fn react(&mut self, parts: &Parts, review: Value) -> Result<(Duration, Reaction)> {
        let path = parts.uri.path();
        let reply = self.reply(path);
        let reaction = match &reply {
            Some(reply) => (reply.delay, reply.reaction(&review)?),
            None => (Duration::ZERO, Reaction::Answer(answer(&review, usual(&review))?)),
        };
        self.seen |= is_of_write(&review);
        self.reviews.push((path.to_owned(), item(parts, review)));
        Ok(reaction)
    }

    /// The reaction to a GET, if one was scripted for its path.
    pub(super) fn fetched(&mut self, path: &str) -> Result<Option<(Duration, Reaction)>> {
        let own =
            self.paths.get_mut(path).and_then(|answers| answers.once.pop_front().or_else(|| answers.always.clone()));
        own.map(|reply| Ok((reply.delay, reply.reaction(&Value::Null)?))).transpose()
    }

    fn reply(&mut self, path: &str) -> Option<Reply> {
        for path in [path, ""] {
            if let Some(Answers { once, always }) = self.paths.get_mut(path)
                && let Some(reply) = once.pop_front().or_else(|| always.clone())
            {
                return Some(reply);
            }
        }
        None
    }
}

impl Reply {
    fn reaction(&self, review: &Value) -> Result<Reaction> {
        let answer = match self.kind {
            Kind::Silence => return Ok(Reaction::Silence),
            Kind::HangUp => return Ok(Reaction::HangUp),
            Kind::Reset => return Ok(Reaction::Reset),
            Kind::Status(status) => {
                let response = http::Response::builder().status(status);
                let response =
                    self.headers.iter().fold(response, |response, (name, value)| response.header(name, value));
                response.body(Full::new(self.bytes()?.into()))?
            }
            Kind::Review => {
                let uid = review["request"]["uid"].as_str().unwrap_or_default();
                let body = String::from_utf8(self.bytes()?)?.replace("<uid>", uid);
                json_response(body.into_bytes())?
            }
            Kind::Allow => answer(review, json!({"allowed": true}))?,
            Kind::Deny if is_of_write(review) => answer(review, json!({"allowed": false}))?,
            Kind::Deny => answer(review, json!({"allowed": false, "denied": true}))?,
            Kind::Patch => {
                let patch = BASE64.encode(self.bytes()?);
                answer(review, json!({"allowed": true, "patchType": "JSONPatch", "patch": patch}))?
            }
            Kind::Response => answer(review, self.body.clone())?,
        };
        Ok(Reaction::Answer(answer))
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        Ok(match &self.body {
            Value::Null => Vec::new(),
            Value::String(text) => text.clone().into_bytes(),
            json => serde_json::to_vec(json)?,
        })
    }
}

fn is_of_write(review: &Value) -> bool {
    review["kind"] == "AdmissionReview"
}

/// The answer that nobody has scripted: writes are admitted; about access there is no opinion, and no user is known.
fn usual(review: &Value) -> Value {
    match review["kind"].as_str() {
        Some("SubjectAccessReview") => json!({"allowed": false}),
        Some("TokenReview") => json!({"authenticated": false}),
        _ => json!({"allowed": true}),
    }
}

/// The answer to a review, in its version: of a write, its `response`; else, its `status`.
///
/// # Errors
/// If the response is not JSON.
pub fn answer(review: &Value, mut response: Value) -> Result<http::Response<Full<Bytes>>> {
    if !is_of_write(review) {
        let answer = json!({"kind": review["kind"], "apiVersion": review["apiVersion"], "status": response});
        return json_response(serde_json::to_vec(&answer)?);
    }
    if let Some(fields) = response.as_object_mut() {
        fields.entry("uid").or_insert_with(|| review["request"]["uid"].clone());
    }
    let answer = json!({"kind": review["kind"], "apiVersion": review["apiVersion"], "response": response});
    json_response(serde_json::to_vec(&answer)?)
}

fn json_response(body: Vec<u8>) -> Result<http::Response<Full<Bytes>>> {
    Ok(http::Response::builder().header(CONTENT_TYPE, "application/json").body(Full::new(body.into()))?)
}

/// Headers that say how a request came, not what it asks.
const TRANSPORT: [&str; 2] = ["content-length", "host"];

/// A review as an item: its operation, or its kind if it is about a user, and its path; among the headers the method and the target, by their names in HTTP/2.
fn item(parts: &Parts, review: Value) -> Item {
    let target = parts.uri.path_and_query().map_or("", |target| target.as_str());
    let pseudo = [(":method", parts.method.as_str()), (":path", target)];
    let named = parts.headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap_or("?")));
    let named = named.filter(|(name, _)| !TRANSPORT.contains(name));
    let headers = pseudo.into_iter().chain(named).map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let operation = match is_of_write(&review) {
        true => review["request"]["operation"].as_str().unwrap_or("?").to_owned(),
        false => review["kind"].as_str().unwrap_or("?").to_owned(),
    };
    Item { head: format!("{operation} {}", parts.uri.path()), document: review, headers, text: None }
}
