//! Controllers: ordinary clients that act on their own. They are ours, unless the target has its own.
//!
//! ```text
//! controller start tokens                         the tokens controller, as the user `tokens`
//! controller start tokens as tokens-b auto-generate=false max-retries=2
//! controller start service-accounts               also: root-ca, legacy-token-cleaner
//! calls of tokens until quiet                     what the server saw of that user since the last look
//! ----
//! GET serviceaccounts/builder 200
//! POST secrets 201 name=$new
//! PUT serviceaccounts/builder 200 secrets=[{"name": "$new"}]
//!
//! calls of tokens                                 the same at once, of a controller that is paused
//!
//! tally of tokens until quiet                     the same, counted
//! ----
//! 100 times POST secrets 201
//!
//! controller pause tokens                         begins nothing new
//! controller step tokens                          does one thing, and says which
//! ----
//! namespace-a
//! controller resume tokens
//!
//! controller stop tokens                          once what it is doing is done
//! ```
//!
//! A call is an item: method, object, status; its fields are those of the body that was sent. Lists and watches are
//! left out, and what is in other namespaces than the scenario's. A controller is quiet when it knows all there is to know
//! and has nothing left to do.

use super::requests::tally;
use crate::controllers::{Kind, Ours, Running, Settings};
use crate::history::{Call, Event};
use crate::observation::{Item, Observation};
use crate::scenario::command::Written;
use crate::stage::{DEADLINE, Stage};
use anyhow::{Context as _, Result, anyhow, ensure};
use serde_json::Value;

/// One of the verbs above.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Controller {
    /// `controller start KIND …`.
    Start {
        /// Its user.
        user: String,
        /// What it is to do.
        kind: Kind,
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
        /// Its user.
        user: String,
        /// Whether to wait.
        until_quiet: bool,
        /// Whether to count instead of showing each.
        tally: bool,
    },
}

impl Controller {
    /// Reads the command.
    pub fn parse(written: &Written<'_>) -> Result<Controller, String> {
        match (written.verb, &written.words()[..]) {
            ("controller", ["start", name, "as", user, settings @ ..]) => start(name, user, settings),
            ("controller", ["start", name, settings @ ..]) => start(name, name, settings),
            ("controller", ["pause", user]) => Ok(Controller::Pause((*user).to_owned())),
            ("controller", ["resume", user]) => Ok(Controller::Resume((*user).to_owned())),
            ("controller", ["step", user]) => Ok(Controller::Step((*user).to_owned())),
            ("controller", ["stop", user]) => Ok(Controller::Stop((*user).to_owned())),
            (verb @ ("calls" | "tally"), ["of", user, "until", "quiet"]) => {
                Ok(Controller::Calls { user: (*user).to_owned(), until_quiet: true, tally: verb == "tally" })
            }
            ("calls", ["of", user]) => {
                Ok(Controller::Calls { user: (*user).to_owned(), until_quiet: false, tally: false })
            }
            ("controller", _) => {
                Err(written.usage("controller start NAME [as USER] … | controller pause|resume|step|stop USER"))
            }
            (verb, _) => Err(written.usage(&format!("{verb} of USER until quiet"))),
        }
    }

    /// Carries it out.
    pub async fn play(&self, stage: &mut Stage<'_>) -> Result<Observation> {
        match self {
            Controller::Start { user, kind } => {
                ensure!(!stage.controllers.contains_key(user), "a controller runs as {user:?} already");
                let running: Box<dyn Running> = match stage.cluster.controller(user, *kind).await? {
                    Some(theirs) => theirs,
                    None => Box::new(Ours::start(stage.cluster, user, *kind)?),
                };
                stage.controllers.insert(user.clone(), running);
            }
            Controller::Stop(user) => {
                running(stage, user)?;
                if let Some(running) = stage.controllers.remove(user) {
                    running.stop().await?;
                }
            }
            Controller::Pause(user) => running(stage, user)?.pause().await?,
            Controller::Resume(user) => running(stage, user)?.resume()?,
            Controller::Step(user) => {
                let step = tokio::time::timeout(DEADLINE, running(stage, user)?.step());
                let key = step.await.map_err(|_| anyhow!("no step within {DEADLINE:?}"))??;
                return Ok(key.map(|key| Item::new(key, Value::Null)).into_iter().collect::<Vec<_>>().into());
            }
            Controller::Calls { user, until_quiet, tally: counted } => {
                if let Some(running) = stage.controllers.get(user).filter(|_| *until_quiet) {
                    let quiet = running.quiet(stage.cluster);
                    tokio::time::timeout(DEADLINE, quiet)
                        .await
                        .map_err(|_| anyhow!("not quiet after {DEADLINE:?}"))??;
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

fn running<'s>(stage: &'s Stage<'_>, user: &str) -> Result<&'s dyn Running> {
    stage.controllers.get(user).map(|running| &**running).with_context(|| format!("no controller runs as {user:?}"))
}

fn start(name: &str, user: &str, settings: &[&str]) -> Result<Controller, String> {
    let kind = match name {
        "legacy-token-cleaner" => Kind::LegacyTokenCleaner,
        "root-ca" => Kind::RootCa,
        "service-accounts" => Kind::ServiceAccounts,
        "tokens" => Kind::Tokens(token_settings(settings)?),
        _ => return Err(format!("{name:?} is none of legacy-token-cleaner, root-ca, service-accounts, tokens")),
    };
    match (kind, settings) {
        (Kind::Tokens(_), _) | (_, []) => Ok(Controller::Start { user: user.to_owned(), kind }),
        (_, [setting, ..]) => Err(format!("{name} has no settings, and {setting:?} is one")),
    }
}

fn token_settings(settings: &[&str]) -> Result<Settings, String> {
    let mut read = Settings::default();
    for setting in settings {
        match setting.split_once('=') {
            Some(("auto-generate", value)) => read.auto_generate = value.parse().map_err(|_| format!("{setting:?}"))?,
            Some(("max-retries", value)) => read.max_retries = Some(value.parse().map_err(|_| format!("{setting:?}"))?),
            _ => return Err(format!("{setting:?} is none of auto-generate=BOOL, max-retries=N")),
        }
    }
    Ok(read)
}

/// The calls of `user` since the last look; they become part of the history.
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
    // The target tells the type; whether a client says it too, and how an audit log words it, is no matter.
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
