//! The webhooks of a soak of admission: one time in ten they fail, in one way or another. What they are shown and do is noted.

use super::history::{Hook, Reaction, Review, data, field};
use super::world::{LABEL, TIMEOUT};
use crate::webhook::{self, Asked, Manner, Server};
use anyhow::{Context as _, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http_body_util::Full;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Of so many reviews one is failed, in each of the four ways.
const ONE_IN: u32 = 40;

/// The running webhooks.
pub(super) struct Hooks {
    server: Server,
    notes: Arc<Notes>,
}

#[derive(Default)]
struct Notes(Mutex<(u64, BTreeMap<String, Vec<Review>>)>);

impl Hooks {
    /// Starts them.
    ///
    /// # Errors
    /// If no port is free.
    pub(super) async fn start() -> Result<Hooks> {
        let notes = Arc::<Notes>::default();
        let shared = notes.clone();
        let react = move |asked: Asked| {
            let shared = shared.clone();
            async move { shared.react(&asked) }
        };
        Ok(Hooks { server: Server::start(Manner::Signed, react).await?, notes })
    }

    /// The reviews so far, by request.
    pub(super) fn reviews(&self) -> BTreeMap<String, Vec<Review>> {
        self.notes.0.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }

    /// The configurations, with the resources that they belong to: of the mutating webhooks, and of the validating ones.
    pub(super) fn configurations(&self, name: &str) -> [(&'static str, Value); 2] {
        let webhook = |hook: &Hook| {
            json!({
                "name": format!("{}.{name}.example.com", hook.name()),
                "clientConfig": {"url": format!("https://{}/{}", self.server.address, hook.name()), "caBundle": self.server.ca_bundle},
                "rules": [super::world::rule()], "namespaceSelector": {"matchLabels": {LABEL: name}},
                "failurePolicy": if hook.is_optional() { "Ignore" } else { "Fail" }, "timeoutSeconds": TIMEOUT.as_secs(),
                "sideEffects": "None", "admissionReviewVersions": ["v1"],
            })
        };
        [("mutatingwebhookconfigurations", true), ("validatingwebhookconfigurations", false)].map(
            |(resource, mutating)| {
                let webhooks: Vec<Value> =
                    Hook::ALL.iter().filter(|hook| hook.mutates() == mutating).map(webhook).collect();
                (resource, json!({"metadata": {"name": name}, "webhooks": webhooks}))
            },
        )
    }
}

impl Notes {
    fn react(&self, asked: &Asked) -> Result<webhook::Reaction> {
        let review: Value = serde_json::from_slice(&asked.body)?;
        let path = asked.parts.uri.path().trim_start_matches('/');
        let hook = Hook::ALL.into_iter().find(|hook| hook.name() == path).context("a webhook of that name")?;
        let shown = data(&review["request"]["object"]);
        let request = shown.get(field::REQUEST).cloned().unwrap_or_default();
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let reaction = match fastrand::u32(..ONE_IN) {
            // What is created before the clients begin is not failed.
            _ if request.is_empty() => Reaction::Admitted(None),
            0 => Reaction::Denied,
            1 => Reaction::Error,
            2 => Reaction::Silent,
            3 if hook.mutates() => Reaction::Wrong,
            3 => Reaction::Denied,
            _ if hook.mutates() => {
                notes.0 += 1;
                Reaction::Admitted(Some(notes.0.to_string()))
            }
            _ => Reaction::Admitted(None),
        };
        notes.1.entry(request).or_default().push(Review { hook, shown, reaction: reaction.clone() });
        drop(notes);
        carry_out(&review, hook, reaction)
    }
}

fn carry_out(review: &Value, hook: Hook, reaction: Reaction) -> Result<webhook::Reaction> {
    let patched =
        |patch: Value| json!({"allowed": true, "patchType": "JSONPatch", "patch": BASE64.encode(patch.to_string())});
    let response = match reaction {
        Reaction::Admitted(None) => json!({"allowed": true}),
        Reaction::Admitted(Some(token)) => {
            patched(json!([{"op": "add", "path": format!("/data/{}", hook.name()), "value": token}]))
        }
        Reaction::Denied => json!({"allowed": false}),
        Reaction::Wrong => patched(json!([{"op": "remove", "path": "/data/none"}])),
        Reaction::Error => {
            let response = http::Response::builder().status(500);
            return Ok(webhook::Reaction::Answer(response.body(Full::new("so it was decided".into()))?));
        }
        Reaction::Silent => return Ok(webhook::Reaction::Silence),
    };
    Ok(webhook::Reaction::Answer(webhook::answer(review, response)?))
}
