//! The requests of loops, through the one pipeline.

use crate::auth::User;
use crate::auth::modes::SYSTEM_PRIVILEGED_GROUP;
use crate::http::{Peer, Replica, Wire, serve};
use crate::version::{git_version, platform};
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, USER_AGENT};
use http_body_util::{BodyExt as _, Full};
use loops::{Profile, Refusal, Request};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use std::sync::Arc;
use tree::Value;

/// The characters of names that do not stand in a path as they are.
const ESCAPED: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'?').add(b'`').add(b'{').add(b'}');
/// The commit of builds that are not stamped, as user agents have it.
const COMMIT: &str = "$Format";

/// A step of a loop.
#[derive(Debug, Clone)]
pub(crate) struct Stepped {
    /// The key that it dealt with.
    pub(crate) key: String,
    /// Its requests, with the status codes of the answers.
    pub(crate) requests: Vec<(String, u16)>,
}

/// A loop as a client.
pub(super) struct Sender {
    peer: Arc<Peer>,
    agent: String,
}

impl Sender {
    /// The client that the loop is.
    pub(super) fn of(profile: &Profile) -> Sender {
        let user = User::of_control_plane(profile.user);
        let mut agent = format!("{}/{} ({}) kubernetes/{COMMIT}", profile.program, git_version(), platform());
        if is_service_account(&user.name) {
            agent = format!("{agent}/{}", user.name);
        }
        Sender { peer: Arc::new(Peer { user: Some(Arc::new(user)), ..Peer::default() }), agent }
    }

    /// The same client, who may do everything.
    pub(super) fn of_masters(self) -> Sender {
        let mut user = self.peer.user.as_deref().cloned().unwrap_or_default();
        user.groups.insert(0, SYSTEM_PRIVILEGED_GROUP.to_owned());
        Sender { peer: Arc::new(Peer { user: Some(Arc::new(user)), ..Peer::default() }), ..self }
    }

    /// Creates an object at that path.
    ///
    /// # Errors
    /// The refusal.
    pub(super) async fn create(&self, replica: &Arc<Replica>, path: &str, object: Value) -> Result<(), Refusal> {
        self.send(replica, &Request::post(path.to_owned(), object)).await.map(drop)
    }

    /// Sends a request, and returns the answer if the loop is told it.
    ///
    /// # Errors
    /// The refusal; with code 0, if there was no answer.
    pub(super) async fn send(&self, replica: &Arc<Replica>, request: &Request) -> Result<Value, Refusal> {
        let mut path = utf8_percent_encode(&request.path, ESCAPED).to_string();
        for (index, (name, value)) in request.query.iter().enumerate() {
            let value = utf8_percent_encode(value, NON_ALPHANUMERIC);
            path = format!("{path}{}{name}={value}", if index == 0 { '?' } else { '&' });
        }
        let content = if request.body.is_null() { String::new() } else { request.body.to_string() };
        let asked = http::Request::builder()
            .method(request.method)
            .uri(path)
            .header(HOST, &replica.address)
            .header(USER_AGENT, &self.agent)
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, request.content_type)
            .body(Wire::Given(Full::new(Bytes::from(content))));
        let broken = |message: String| Refusal { code: 0, reason: String::new(), message };
        let asked = asked.map_err(|error| broken(error.to_string()))?;
        let response = serve(replica.clone(), self.peer.clone(), asked).await;
        let (head, body) = response.into_parts();
        let body = body.collect().await.map_err(|error| broken(error.to_string()))?.to_bytes();
        if head.status.is_success() && !request.is_asked {
            return Ok(Value::Null);
        }
        if head.status.is_success() {
            return serde_json::from_slice(&body).map_err(|error| broken(error.to_string()));
        }
        let status: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let text = |field: &str| status.get(field).and_then(Value::as_str).map(str::to_owned);
        Err(Refusal {
            code: head.status.as_u16(),
            reason: text("reason").unwrap_or_default(),
            message: text("message").unwrap_or_else(|| String::from_utf8_lossy(&body).into_owned()),
        })
    }
}

fn is_service_account(name: &str) -> bool {
    name.starts_with("system:serviceaccount:")
}
