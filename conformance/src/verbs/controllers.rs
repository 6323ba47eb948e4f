//! The verbs about controllers: clients that act on their own. They are ports, unless the target has the real ones.
//!
//! ```text
//! controller start tokens                         the tokens controller, as the user `tokens`
//! controller start tokens as tokens-b auto-generate=false max-retries=2
//! controller start service-accounts               also: root-ca, legacy-token-cleaner
//! calls of tokens until quiet                     the user's requests since the last look
//! ----
//! GET serviceaccounts/builder 200
//! POST secrets 201 name=$new
//! PUT serviceaccounts/builder 200 secrets=[{"name": "$new"}]
//!
//! calls of tokens                                 the same without waiting, for a paused controller
//!
//! tally of tokens until quiet                     the same, counted
//! ----
//! 100 times POST secrets 201
//!
//! controller pause tokens                         finishes the items in progress
//! controller step tokens                          processes one item and shows its key
//! ----
//! namespace-a
//! controller resume tokens
//!
//! controller stop tokens                          after the item in progress
//! ```
//!
//! A call is an item: method, object, status; its fields are those of the request body. Lists, watches and calls in other
//! namespaces than the scenario's are left out. A controller is quiet when it has caught up with the API server and has
//! nothing left to do.

use super::requests::tally;
use crate::stage::Stage;
use crate::subject::controller::{Controller, ControllerKind, TokenSettings};
use crate::subject::controllers::Ported;
use anyhow::{Context as _, Result, anyhow, ensure};
use conformance_judge::history::{Call, Event};
use conformance_judge::observation::{Item, Observation};
use conformance_judge::scenario::command::RawCommand;
use serde_json::Value;

/// A verb of controllers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ControllerVerb {
    /// `controller start KIND …`.
    Start {
        /// The user that it authenticates as.
        user: String,
        /// The controller to start.
        kind: ControllerKind,
    },
    /// `controller pause USER`.
    Pause(String),
    /// `controller resume USER`.
    Resume(String),
    /// `controller step USER`.
    Step(String),
    /// `controller stop USER`.
    Stop(String),
    /// `calls of USER until quiet`, `tally of USER until quiet`.
    Calls {
        /// The controller's user.
        user: String,
        /// Whether to wait until the controller is quiet.
        until_quiet: bool,
        /// Whether to count equal calls instead of showing each.
        tally: bool,
    },
}

impl ControllerVerb {
    /// Reads the command.
    pub fn parse(command: &RawCommand) -> Result<ControllerVerb, String> {
        match (command.verb.as_str(), &command.words()[..]) {
            ("controller", ["start", name, "as", user, settings @ ..]) => start(name, user, settings),
            ("controller", ["start", name, settings @ ..]) => start(name, name, settings),
            ("controller", ["pause", user]) => Ok(ControllerVerb::Pause((*user).to_owned())),
            ("controller", ["resume", user]) => Ok(ControllerVerb::Resume((*user).to_owned())),
            ("controller", ["step", user]) => Ok(ControllerVerb::Step((*user).to_owned())),
            ("controller", ["stop", user]) => Ok(ControllerVerb::Stop((*user).to_owned())),
            (verb @ ("calls" | "tally"), ["of", user, "until", "quiet"]) => {
                Ok(ControllerVerb::Calls { user: (*user).to_owned(), until_quiet: true, tally: verb == "tally" })
            }
            ("calls", ["of", user]) => {
                Ok(ControllerVerb::Calls { user: (*user).to_owned(), until_quiet: false, tally: false })
            }
            ("controller", _) => {
                Err(command.usage("controller start NAME [as USER] … | controller pause|resume|step|stop USER"))
            }
            (verb, _) => Err(command.usage(&format!("{verb} of USER until quiet"))),
        }
    }

    /// Carries it out.
    pub async fn play(&self, stage: &mut Stage<'_>) -> Result<Observation> {
        match self {
            ControllerVerb::Start { user, kind } => {
                ensure!(!stage.controllers.contains_key(user), "a controller runs as {user:?} already");
                let running: Box<dyn Controller> = match stage.cluster.controller(user, *kind).await? {
                    Some(controller) => controller,
                    None => Box::new(Ported::start(stage.cluster, user, *kind)?),
                };
                stage.controllers.insert(user.clone(), running);
            }
            ControllerVerb::Stop(user) => {
                running(stage, user)?;
                if let Some(running) = stage.controllers.remove(user) {
                    running.stop().await?;
                }
            }
            ControllerVerb::Pause(user) => running(stage, user)?.pause().await?,
            ControllerVerb::Resume(user) => running(stage, user)?.resume()?,
            ControllerVerb::Step(user) => {
                let patience = stage.patience;
                let step = tokio::time::timeout(patience, running(stage, user)?.step());
                let key = step.await.map_err(|_| anyhow!("no step within {patience:?}"))??;
                return Ok(key.map(|key| Item::new(key, Value::Null)).into_iter().collect::<Vec<_>>().into());
            }
            ControllerVerb::Calls { user, until_quiet, tally: counted } => {
                if let Some(running) = stage.controllers.get(user).filter(|_| *until_quiet) {
                    let quiet = running.quiet(stage.cluster);
                    let patience = stage.patience;
                    tokio::time::timeout(patience, quiet)
                        .await
                        .map_err(|_| anyhow!("not quiet after {patience:?}"))??;
                }
                let calls = new_calls(user, stage).await?;
                return Ok(if *counted {
                    tally(calls.iter().map(summary))
                } else {
                    calls.into_iter().map(item).collect()
                }
                .into());
            }
        }
        Ok(Observation::default())
    }
}

fn running<'s>(stage: &'s Stage<'_>, user: &str) -> Result<&'s dyn Controller> {
    stage.controllers.get(user).map(|running| &**running).with_context(|| format!("no controller runs as {user:?}"))
}

fn start(name: &str, user: &str, settings: &[&str]) -> Result<ControllerVerb, String> {
    let kind = match name {
        "legacy-token-cleaner" => ControllerKind::LegacyTokenCleaner,
        "root-ca" => ControllerKind::RootCa,
        "service-accounts" => ControllerKind::ServiceAccounts,
        "tokens" => ControllerKind::Tokens(token_settings(settings)?),
        _ => return Err(format!("{name:?} is none of legacy-token-cleaner, root-ca, service-accounts, tokens")),
    };
    match (kind, settings) {
        (ControllerKind::Tokens(_), _) | (_, []) => Ok(ControllerVerb::Start { user: user.to_owned(), kind }),
        (_, [setting, ..]) => Err(format!("{name} has no settings, and {setting:?} is one")),
    }
}

fn token_settings(settings: &[&str]) -> Result<TokenSettings, String> {
    let mut read = TokenSettings::default();
    for setting in settings {
        match setting.split_once('=') {
            Some(("auto-generate", value)) => read.auto_generate = value.parse().map_err(|_| format!("{setting:?}"))?,
            Some(("max-retries", value)) => read.max_retries = Some(value.parse().map_err(|_| format!("{setting:?}"))?),
            _ => return Err(format!("{setting:?} is none of auto-generate=BOOL, max-retries=N")),
        }
    }
    Ok(read)
}

/// The calls of `user` since the last look; they are added to the history.
async fn new_calls(user: &str, stage: &mut Stage<'_>) -> Result<Vec<Call>> {
    let calls = stage.cluster.calls(user).await?;
    let read = stage.calls_read.insert(user.to_owned(), calls.len()).unwrap_or_default();
    let calls: Vec<Call> = calls.into_iter().skip(read).collect();
    for call in &calls {
        stage.recorder.record(Event::Call(call.clone()));
    }
    Ok(calls)
}

fn item(mut call: Call) -> Item {
    // The call's target implies the type; recorded bodies have it or not, depending on the server.
    if let Some(fields) = call.body.as_object_mut() {
        fields.retain(|field, _| field != "apiVersion" && field != "kind");
    }
    Item::new(format!("{} {} {}", call.method, call.target, call.status), call.body)
}

/// A call without the object's name.
fn summary(call: &Call) -> String {
    let resource = call.target.split('/').next().unwrap_or_default();
    format!("{} {resource} {}", call.method, call.status)
}
