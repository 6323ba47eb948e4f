//! The webhook that a scenario starts, for conversion and for admission: a server of this process, over TLS, that API servers on
//! this machine reach.

mod admission;
mod answers;
mod certificates;
mod issuer;
mod server;

pub use admission::{Kind, Reply, answer};
pub use answers::Answer;
pub use certificates::Manner;
pub use server::{Asked, Door, Reaction, Server};

use admission::Script;
use anyhow::Result;
use conformance_judge::observation::Item;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http_body_util::Full;
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// The kinds of reviews that are answered by path: of writes, and of users.
const REVIEWS: [&str; 3] = ["AdmissionReview", "SubjectAccessReview", "TokenReview"];

/// A running webhook, which ends when this is dropped.
pub struct Webhook {
    server: Server,
    state: Arc<State>,
}

struct State {
    /// The answer to conversions.
    conversion: Mutex<Answer>,
    admission: Mutex<Script>,
}

impl State {
    fn admission(&self) -> MutexGuard<'_, Script> {
        self.admission.lock().expect("no code that runs under this lock panics")
    }

    /// The reaction to a request, and the time after which it comes.
    fn react(&self, asked: &Asked) -> Result<(Duration, Reaction)> {
        if asked.parts.method == http::Method::GET {
            let path = asked.parts.uri.path();
            if let Some(scripted) = self.admission().fetched(path)? {
                return Ok(scripted);
            }
            let authority = asked.parts.uri.authority().map(|authority| authority.as_str());
            let host = asked.parts.headers.get(http::header::HOST).and_then(|host| host.to_str().ok());
            return Ok((
                Duration::ZERO,
                Reaction::Answer(issuer::answer(authority.or(host).unwrap_or_default(), path)?),
            ));
        }
        let review: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        if REVIEWS.iter().any(|kind| review["kind"] == *kind) {
            return self.admission().react(&asked.parts, review);
        }
        let answer = *self.conversion.lock().expect("no code that runs under this lock panics");
        let sent = answer.to(asked)?;
        let mut response = http::Response::builder().status(sent.status).header(CONTENT_TYPE, sent.content_type);
        if !sent.encoding.is_empty() {
            response = response.header(CONTENT_ENCODING, sent.encoding);
        }
        Ok((Duration::ZERO, Reaction::Answer(response.body(Full::new(sent.body.into()))?)))
    }
}

impl Webhook {
    /// Starts a webhook that converts and admits, with a certificate of that manner.
    ///
    /// # Errors
    /// If no port is free, or the system has no random numbers for keys.
    pub async fn start(manner: Manner) -> Result<Webhook> {
        let state = Arc::new(State { conversion: Mutex::new(Answer::CONVERTED), admission: Mutex::default() });
        let shared = Arc::clone(&state);
        let react = move |asked: Asked| {
            let shared = Arc::clone(&shared);
            async move {
                let (delay, reaction) = shared.react(&asked)?;
                if !delay.is_zero() {
                    tokio::time::sleep(delay).await;
                }
                Ok(reaction)
            }
        };
        Ok(Webhook { server: Server::start(manner, react).await?, state })
    }

    /// Ends it; connections to it are refused from then on.
    pub async fn stop(self) {
        self.server.stop().await;
    }

    /// The host and port of its URL.
    pub fn host(&self) -> String {
        self.server.address.to_string()
    }

    /// The certificates that vouch for it, as a `caBundle`: PEM in base64.
    pub fn ca_bundle(&self) -> String {
        self.server.ca_bundle.clone()
    }

    /// Answers conversions like that from now on.
    pub fn set(&self, answer: Answer) {
        *self.state.conversion.lock().expect("no code that runs under this lock panics") = answer;
    }

    /// Answers reviews of admission at `path` like that from now on, or only the next one; without a path at all of them.
    pub fn script(&self, path: &str, once: bool, reply: Reply) {
        self.state.admission().set(path, once, reply);
    }

    /// Takes the reviews of admission at that path, or all of them, in the order in which they came.
    pub fn take_reviews(&self, path: Option<&str>) -> Vec<Item> {
        self.state.admission().take(path)
    }

    /// Whether there are reviews of admission at that path which were not taken.
    pub fn was_called(&self, path: &str) -> bool {
        self.state.admission().was_called(path)
    }

    /// Whether there was a review of admission.
    pub fn admits(&self) -> bool {
        self.state.admission().has_seen_any()
    }
}
