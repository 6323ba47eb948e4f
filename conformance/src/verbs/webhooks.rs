//! The verbs about the conversion webhook of a scenario, which API servers call.
//!
//! ```text
//! webhook start as $hook                          binds $hook to its host and port, $hook_ca to its `caBundle`; it converts
//! webhook start as $hook with expired             with a certificate of that manner: `conformance/src/webhook/certificates.rs` lists them
//! webhook answers wrong-uid                       answers like that from now on: `conformance/src/webhook/answers.rs` lists them
//! webhook stop                                    from now on connections to it are refused
//! ```

use crate::stage::Stage;
use crate::webhook::{Answer, Manner, Webhook};
use anyhow::{Context as _, Result};
use conformance_judge::observation::Observation;
use conformance_judge::scenario::command::RawCommand;

/// A verb about the webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookVerb {
    /// `webhook start as $NAME [with MANNER]`.
    Start(String, Manner),
    /// `webhook answers KIND`.
    Answers(Answer),
    /// `webhook stop`.
    Stop,
}

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
            ["answers", kind] => match Answer::parse(kind) {
                Some(answer) => Ok(WebhookVerb::Answers(answer)),
                None => Err(format!("{kind:?} is none of {}", Answer::names())),
            },
            ["stop"] => Ok(WebhookVerb::Stop),
            _ => Err(command.usage("webhook start as $NAME [with MANNER] | webhook answers KIND | webhook stop")),
        }
    }

    /// Carries it out.
    pub async fn play(&self, stage: &mut Stage<'_>) -> Result<Observation> {
        match self {
            WebhookVerb::Start(name, manner) => {
                let webhook = stage.webhook.insert(Webhook::start(*manner).await?);
                let bound = [(name.clone(), webhook.host().into()), (format!("{name}_ca"), webhook.ca_bundle().into())];
                return Ok(Observation { bound: bound.into(), ..Observation::default() });
            }
            WebhookVerb::Answers(answer) => stage.webhook.as_ref().context("no webhook was started")?.set(*answer),
            WebhookVerb::Stop => stage.webhook = None,
        }
        Ok(Observation::default())
    }
}
