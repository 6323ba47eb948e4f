//! Controllers: ordinary clients that act on their own. They run here, on whatever server the target provides.
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
//! left out. A controller is quiet when it knows all there is to know and has nothing left to do.

use super::requests::tally;
use crate::history::{Call, Event};
use crate::observation::{Item, Observation};
use crate::scenario::command::Written;
use crate::stage::{DEADLINE, Stage};
use crate::target::ADMINISTRATOR;
use anyhow::{Context as _, Result, anyhow, ensure};
use controller::informer::Informer;
use controller::keys::SigningKey;
use controller::tokens::{Options, TokensController};
use kube::Client;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// One of the verbs above.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Controller {
    /// `controller start tokens …`.
    Start {
        /// Its user.
        user: String,
        /// Whether it makes tokens for accounts that have none.
        auto_generate: bool,
        /// How often it tries again what fails, if not as often as usual.
        max_retries: Option<u32>,
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

/// Workers on each queue: the default of `--concurrent-serviceaccount-token-syncs`.
const WORKERS: usize = 5;

/// A controller that runs.
pub struct Running {
    controller: Arc<TokensController>,
    /// Another client than the controller's, to look at the server without being seen as the controller.
    observer: Client,
    stop: CancellationToken,
    task: JoinHandle<()>,
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
            Controller::Start { user, auto_generate, max_retries } => {
                ensure!(!stage.controllers.contains_key(user), "a controller runs as {user:?} already");
                let mut options =
                    Options::new(Arc::new(SigningKey::from_pem(stage.cluster.signing_key_pem()?.as_bytes())?));
                options.root_ca = stage.cluster.ca_pem().unwrap_or_else(|| "no TLS, no CA".to_owned()).into_bytes();
                options.auto_generate = *auto_generate;
                options.max_retries = max_retries.unwrap_or(options.max_retries);
                let running = Running::start(stage, user, options)?;
                stage.controllers.insert(user.clone(), running);
            }
            Controller::Stop(user) => {
                let running =
                    stage.controllers.remove(user).with_context(|| format!("no controller runs as {user:?}"))?;
                running.stop().await?;
            }
            Controller::Calls { user, tally: counted } => {
                if let Some(running) = stage.controllers.get(user) {
                    let quiet = running.controller.quiet(&running.observer);
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
    Ok(Controller::Start { user: user.to_owned(), auto_generate, max_retries })
}

impl Running {
    fn start(stage: &Stage<'_>, user: &str, options: Options) -> Result<Running> {
        let stop = CancellationToken::new();
        let (accounts, secrets) = (Arc::new(Informer::new()), Arc::new(Informer::new()));
        let client = client(stage, user)?;
        let controller = Arc::new(TokensController::new(client, accounts, secrets, options));
        // A thread of its own, as it is a process of its own in a cluster.
        let task = tokio::task::spawn_blocking({
            let (controller, stop, runtime) = (Arc::clone(&controller), stop.clone(), Handle::current());
            move || runtime.block_on(controller.run(WORKERS, stop))
        });
        Ok(Running { controller, observer: self::client(stage, ADMINISTRATOR)?, stop, task })
    }

    /// Stops it once what it is doing is done.
    pub async fn stop(self) -> Result<()> {
        self.stop.cancel();
        let ended = tokio::time::timeout(DEADLINE, self.task).await;
        Ok(ended.map_err(|_| anyhow!("the controller did not stop within {DEADLINE:?}"))??)
    }
}

/// A client of the first API server.
fn client(stage: &Stage<'_>, user: &str) -> Result<Client> {
    let mut config = kube::Config::new(stage.cluster.endpoints()[0].url.parse()?);
    let ca_pem = stage.cluster.ca_pem().unwrap_or_default();
    let certificates = CertificateDer::pem_slice_iter(ca_pem.as_bytes());
    let certificates: Vec<Vec<u8>> = certificates.map(|der| Ok(der?.to_vec())).collect::<Result<_>>()?;
    config.root_cert = Some(certificates).filter(|certificates| !certificates.is_empty());
    let token = stage.cluster.token(user).with_context(|| format!("this target knows no user {user:?}"))?;
    config.auth_info.token = Some(token.into());
    controller::client::new(config, user)
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

fn item(call: Call) -> Item {
    Item::new(format!("{} {} {}", call.method, call.target, call.status), call.body)
}

/// A call without the object's name.
fn summary(call: &Call) -> String {
    let resource = call.target.split('/').next().unwrap_or_default();
    format!("{} {resource} {}", call.method, call.status)
}
