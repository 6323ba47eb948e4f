//! The verbs about the webhook of a scenario, which API servers call.
//!
//! ```text
//! webhook start as $hook                          binds $hook to its host and port, $hook_ca to its `caBundle`
//! webhook start as $hook with expired             with a certificate of that manner: `conformance/src/webhook/certificates.rs` lists them
//! webhook stop                                    from now on connections to it are refused
//! ```
//!
//! It converts, and admits everything. Conversions are answered otherwise by `webhook answers wrong-uid`:
//! `conformance/src/webhook/answers.rs` lists the answers. Reviews of admission are answered by their path:
//!
//! ```text
//! webhook answers deny                            at all paths from now on: also `allow`, `silence`, `hang-up`, `reset`
//! webhook answers deny at /a                      at that path
//! webhook answers patch at /a                     admits, with that JSON patch
//!   [{"op": "add", "path": "/data/k", "value": "v"}]
//! webhook answers response at /a allowed=false status.code=403      `response` is that, with the uid of the request
//! webhook answers review at /a                    the whole answer; `<uid>` in it is the uid of the request
//!   {"kind": "AdmissionReview", "response": {"uid": "<uid>", "allowed": true}}
//! webhook answers deny after 300ms at /a          the same, but late
//! webhook answers 503 once at /a                  only the next request; that HTTP status, headers and body
//!   Retry-After: 1
//!   | overloaded
//! webhook reviews                                 the reviews since the last look, in the order in which they came
//! ----
//! CREATE /a request.name=x
//!
//! webhook reviews of /a                           those at that path
//! ```
//!
//! A line `webhook $hook` before the first command starts it before the servers, so that files can name it, which flags of the servers name in turn
//! (`file`, `conformance/src/verbs/files.rs`). Then it is asked about users, too: `allow`, `deny`, `response` and `review` are about the
//! `status` of a `SubjectAccessReview` or a `TokenReview`.
//!
//! It is an issuer of tokens, too: below any path it describes itself, `https://$hook/a/.well-known/openid-configuration`, and has the key with
//! which `sign claims` signs; what is at `/a` describes itself also below `/of/a`. `webhook answers 200 at /a/keys` answers a GET otherwise.
//!
//! A review is an item: its operation, or its kind if it is about a user, and the path. Its headers have the method (`:method`) and the target (`:path`), too. Once there was
//! a review, requests about existing objects wait until the watch cache has them as they are: with a stale one, admission runs twice.

use super::requests::{Arguments, Headers};
use crate::props::names_of;
use crate::stage::{Stage, unbound};
use crate::webhook::{Answer, Kind, Manner, Reply, Webhook};
use anyhow::{Context as _, Result};
use conformance_judge::observation::Observation;
use conformance_judge::scenario::command::RawCommand;
use serde_json::Value;
use std::time::Duration;

/// A verb about the webhook.
#[derive(Debug, Clone, PartialEq)]
pub enum WebhookVerb {
    /// `webhook start as $NAME [with MANNER]`.
    Start(String, Manner),
    /// `webhook answers KIND`, to conversions.
    Converts(Answer),
    /// `webhook answers KIND [once] [after DELAY] [at PATH] [BODY]`, to reviews of admission.
    Admits(Box<Admits>),
    /// `webhook reviews [of PATH]`.
    Reviews(Option<String>),
    /// `webhook stop`.
    Stop,
}

/// A scripted answer to reviews of admission.
#[derive(Debug, Clone, PartialEq)]
pub struct Admits {
    kind: Kind,
    once: bool,
    delay: Duration,
    path: String,
    headers: Headers,
    body: Value,
}

const USAGE: &str = "webhook start as $NAME [with MANNER] | webhook answers KIND [once] [after DELAY] [at PATH] | webhook reviews [of PATH] | webhook stop";

impl WebhookVerb {
    /// Reads the command.
    pub fn parse(command: &RawCommand) -> Result<WebhookVerb, String> {
        match &command.words()[..] {
            ["start", "as", name] if name.starts_with('$') => {
                Ok(WebhookVerb::Start(name[1..].to_owned(), Manner::Signed))
            }
            ["start", "as", name, "with", manner] if name.starts_with('$') => match Manner::parse(manner) {
                Some(manner) => Ok(WebhookVerb::Start(name[1..].to_owned(), manner)),
                None => Err(format!("{manner:?} is none of {}", Manner::names())),
            },
            ["answers", kind, rest @ ..] => match (Kind::parse(kind), Answer::parse(kind), rest) {
                (Some(kind), _, rest) => Admits::parse(kind, rest, &command.details).map(WebhookVerb::admits),
                (None, Some(answer), []) => Ok(WebhookVerb::Converts(answer)),
                _ => Err(format!("{kind:?} is none of {}, nor of {}", Kind::names(), Answer::names())),
            },
            ["reviews"] => Ok(WebhookVerb::Reviews(None)),
            ["reviews", "of", path] => Ok(WebhookVerb::Reviews(Some((*path).to_owned()))),
            ["stop"] => Ok(WebhookVerb::Stop),
            _ => Err(command.usage(USAGE)),
        }
    }

    fn admits(admits: Admits) -> WebhookVerb {
        WebhookVerb::Admits(Box::new(admits))
    }

    /// Carries it out.
    pub async fn play(&self, stage: &mut Stage<'_>) -> Result<Observation> {
        if let WebhookVerb::Start(name, manner) = self {
            stage.has_started_webhook = true;
            let webhook = stage.webhook.insert(Webhook::start(*manner).await?);
            return Ok(Observation { bound: names_of(name, webhook)?, ..Observation::default() });
        }
        if *self == WebhookVerb::Stop {
            if let Some(webhook) = stage.webhook.take() {
                webhook.stop().await;
            }
            return Ok(Observation::default());
        }
        let webhook = stage.webhook.as_ref().context("no webhook was started")?;
        match self {
            WebhookVerb::Start(..) | WebhookVerb::Stop => {}
            WebhookVerb::Converts(answer) => webhook.set(*answer),
            WebhookVerb::Admits(admits) => {
                let body = stage.dialogue.names.fill(&admits.body).map_err(unbound)?;
                let reply = Reply { kind: admits.kind, headers: admits.headers.clone(), body, delay: admits.delay };
                webhook.script(&admits.path, admits.once, reply);
            }
            WebhookVerb::Reviews(path) => return Ok(webhook.take_reviews(path.as_deref()).into()),
        }
        Ok(Observation::default())
    }
}

impl Admits {
    fn parse(kind: Kind, words: &[&str], details: &[String]) -> Result<Admits, String> {
        let (once, words) = match words {
            ["once", rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let (delay, words) = match words {
            ["after", delay, rest @ ..] => (milliseconds(delay)?, rest),
            rest => (Duration::ZERO, rest),
        };
        let (path, words) = match words {
            ["at", path, rest @ ..] => (*path, rest),
            rest => ("", rest),
        };
        let (headers, body) = Arguments::parse(words, details)?.answer()?;
        Ok(Admits { kind, once, delay, path: path.to_owned(), headers, body })
    }
}

/// A delay, as `300ms`.
fn milliseconds(text: &str) -> Result<Duration, String> {
    let number = text.strip_suffix("ms").and_then(|number| number.parse().ok());
    number.map(Duration::from_millis).ok_or_else(|| format!("{text:?} is no number of milliseconds, such as 300ms"))
}
