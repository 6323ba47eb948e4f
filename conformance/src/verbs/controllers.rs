//! Controllers: ordinary clients that act on their own. They are ours, unless the target has its own.
//!
//! ```text
//! controller start tokens                         the tokens controller, as the user `tokens`
//! controller start tokens as tokens-b auto-generate=false max-retries=2
//! calls of tokens until quiet                     what the server saw of that user since the last look
//! ----
//! GET serviceaccounts/builder 200
//! POST secrets 201 name=$new
//! PUT serviceaccounts/builder 200 secrets=[{"name": "$new"}]
//!
//! tally of tokens until quiet                     the same, counted
//! ----
//! 100 times POST secrets 201
//!
//! controller stop tokens                          once what it is doing is done
//! ```
//!
//! A call is an item: method, object, status; its fields are those of the body that was sent. Lists and watches are
//! left out, and what is in other namespaces than the scenario's. A controller is quiet when it knows all there is to know
//! and has nothing left to do.

use super::requests::tally;
use crate::controllers::{Ours, Settings, TokensController};
use crate::history::{Call, Event};
use crate::observation::{Item, Observation};
use crate::scenario::command::Written;
use crate::stage::{DEADLINE, Stage};
use anyhow::{Context as _, Result, anyhow, ensure};

/// One of the verbs above.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Controller {
    /// `controller start tokens …`.
    Start {
        /// Its user.
        user: String,
        /// How it works.
        settings: Settings,
    },
    /// `controller stop USER`.
    Stop(String),
    /// `calls of USER until quiet`, `tally of USER until quiet`.
    Calls {
        /// Its user.
        user: String,
        /// Whether to count instead of showing each.
        tally: bool,
    },
}

impl Controller {
    /// Reads the command.
    pub fn parse(written: &Written<'_>) -> Result<Controller, String> {
        match (written.verb, &written.words()[..]) {
            ("controller", ["start", "tokens", "as", user, settings @ ..]) => start(user, settings),
            ("controller", ["start", "tokens", settings @ ..]) => start("tokens", settings),
            ("controller", ["stop", user]) => Ok(Controller::Stop((*user).to_owned())),
            (verb @ ("calls" | "tally"), ["of", user, "until", "quiet"]) => {
                Ok(Controller::Calls { user: (*user).to_owned(), tally: verb == "tally" })
            }
            ("controller", _) => Err(written.usage("controller start tokens [as USER] … | controller stop USER")),
            (verb, _) => Err(written.usage(&format!("{verb} of USER until quiet"))),
        }
    }

    /// Carries it out.
    pub async fn play(&self, stage: &mut Stage<'_>) -> Result<Observation> {
        match self {
            Controller::Start { user, settings } => {
                ensure!(!stage.controllers.contains_key(user), "a controller runs as {user:?} already");
                let running: Box<dyn TokensController> = match stage.cluster.tokens_controller(user, *settings).await? {
                    Some(theirs) => theirs,
                    None => Box::new(Ours::start(stage.cluster, user, *settings)?),
                };
                stage.controllers.insert(user.clone(), running);
            }
            Controller::Stop(user) => {
                let running =
                    stage.controllers.remove(user).with_context(|| format!("no controller runs as {user:?}"))?;
                running.stop().await?;
            }
            Controller::Calls { user, tally: counted } => {
                if let Some(running) = stage.controllers.get(user) {
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

fn start(user: &str, settings: &[&str]) -> Result<Controller, String> {
    let (mut auto_generate, mut max_retries) = (true, None);
    for setting in settings {
        match setting.split_once('=') {
            Some(("auto-generate", value)) => auto_generate = value.parse().map_err(|_| format!("{setting:?}"))?,
            Some(("max-retries", value)) => max_retries = Some(value.parse().map_err(|_| format!("{setting:?}"))?),
            _ => return Err(format!("{setting:?} is none of auto-generate=BOOL, max-retries=N")),
        }
    }
    Ok(Controller::Start { user: user.to_owned(), settings: Settings { auto_generate, max_retries } })
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
