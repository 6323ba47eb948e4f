//! Controllers of a control plane in the server's process: with them a cluster has default service accounts, root CAs and
//! tokens.
//!
//! They are ordinary clients of the server's first replica: their requests are recorded, and faults apply to them. A test
//! can pause them and step through the states in between:
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use fake_apiserver::{Controller, FakeApiServer};
//!
//! let server = FakeApiServer::builder().controllers([Controller::ServiceAccount]).start().await?;
//! let controllers = server.controllers();
//! controllers.quiet().await?;                                  // every namespace has its account
//! controllers.pause(Controller::ServiceAccount).await?;
//! // ... create the namespace `a`: it has none yet ...
//! # let body = r#"{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"a"}}"#;
//! # let create = http::Request::post("/api/v1/namespaces").body(body.into())?;
//! # server.client().request::<tree::Value>(create).await?;
//! assert_eq!(controllers.step(Controller::ServiceAccount).await?.as_deref(), Some("a"));
//! assert_eq!(controllers.step(Controller::ServiceAccount).await?, None);
//! # server.shutdown().await;
//! # Ok(())
//! # }
//! ```

pub use controller::manager::catalogue::Kind as Controller;

use crate::auth::jwt;
use crate::cluster::Cluster;
use controller::client_go::client;
use controller::clock::Clock;
use controller::controller::Controller as Running;
use controller::controllers::tokens::{LegacyClaims, TokenGenerator};
use controller::controllers::{legacy_token_cleaner, root_ca, service_accounts, tokens};
use controller::keys::SigningError;
use controller::manager::fleet::Fleet;
use kube::{Client, Config};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The number of workers on each queue of the tokens controller: kube-controller-manager's default.
const TOKEN_WORKERS: usize = 5;

/// The controllers to run, and their options.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    pub(crate) kinds: BTreeSet<Controller>,
    /// Whether every service account gets a token secret, as up to Kubernetes 1.23, but not in the server's version.
    pub(crate) auto_generate_tokens: bool,
}

/// An error of pausing or stepping a controller.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControllersError {
    /// The controller is not enabled in the builder.
    #[error("controller {:?} does not run", .0.name())]
    Absent(Controller),
    /// Only a paused controller can be stepped.
    #[error("controller {:?} is not paused", .0.name())]
    NotPaused(Controller),
    /// The objects that the controller works on cannot be listed.
    #[error(transparent)]
    Api(#[from] kube::Error),
}

/// The controllers that run beside a server.
pub struct Controllers {
    fleet: Arc<Fleet>,
    observer: Client,
    stop: CancellationToken,
    running: TaskTracker,
}

/// The context of the controllers: the server's address, keys and clock.
pub(crate) struct ControllerContext {
    /// The configuration of clients.
    pub(crate) config: Config,
    /// The cluster, whose key signs tokens.
    pub(crate) cluster: Arc<Cluster>,
    /// The certificate authority that clients trust; empty without TLS, and published as such, as upstream would.
    pub(crate) ca_pem: String,
    /// The clock of the server.
    pub(crate) clock: Clock,
    /// The token that is cancelled when the server stops.
    pub(crate) stop: CancellationToken,
}

impl ControllerContext {
    fn client(&self, name: &str) -> Client {
        let user_agent = format!("fake-apiserver/{name}");
        client::new(self.config.clone(), &user_agent).expect("the server's own configuration is sound")
    }
}

impl Controllers {
    pub(crate) fn start(settings: &Settings, context: ControllerContext) -> Self {
        let mut fleet = Fleet::new(context.client("shared-informers"));
        for kind in &settings.kinds {
            let client = context.client(kind.client_name());
            match kind {
                Controller::ServiceAccountToken => {
                    let mut options = tokens::Options::new(Arc::new(ServerKey(context.cluster.clone())));
                    options.root_ca = context.ca_pem.clone().into_bytes();
                    options.auto_generate = settings.auto_generate_tokens;
                    fleet.add_tokens(client, options, TOKEN_WORKERS);
                }
                Controller::ServiceAccount => fleet.add_service_accounts(client, service_accounts::Options::default()),
                Controller::RootCaPublisher => {
                    fleet.add_root_ca(client, context.ca_pem.clone(), root_ca::Metrics::default());
                }
                Controller::LegacyTokenCleaner => {
                    let options = legacy_token_cleaner::Options::default();
                    let added = fleet.add_legacy_token_cleaner(client, context.clock.clone(), options);
                    added.expect("the default options make sense");
                }
            }
        }
        let (fleet, running) = (Arc::new(fleet), TaskTracker::new());
        running.spawn({
            let (fleet, stop) = (fleet.clone(), context.stop.clone());
            async move { fleet.run(stop).await }
        });
        running.close();
        Controllers { fleet, observer: context.client("observer"), stop: context.stop, running }
    }

    /// Pauses a controller; waits until its syncs in progress have ended. Events are queued meanwhile.
    ///
    /// # Errors
    /// If the controller does not run.
    pub async fn pause(&self, controller: Controller) -> Result<(), ControllersError> {
        self.get(controller)?.pause().await;
        Ok(())
    }

    /// Resumes a paused controller.
    ///
    /// # Errors
    /// If the controller does not run.
    pub fn resume(&self, controller: Controller) -> Result<(), ControllersError> {
        self.get(controller)?.resume();
        Ok(())
    }

    /// Syncs the next key of a paused controller, and returns it: a namespace, `secret a/b`, and so on. `None` if the controller
    /// has caught up with the server and its queues are empty. Failed keys come last, without the delay of a retry; the legacy
    /// token cleaner always has a key.
    ///
    /// # Errors
    /// If the controller does not run or is not paused, or its objects cannot be listed.
    pub async fn step(&self, controller: Controller) -> Result<Option<String>, ControllersError> {
        let running = self.get(controller)?;
        if !running.is_paused() {
            return Err(ControllersError::NotPaused(controller));
        }
        Ok(running.step(&self.observer).await?)
    }

    /// Waits until all controllers that are not paused have caught up with the server, and have nothing left to do.
    ///
    /// # Errors
    /// If the controllers' objects cannot be listed.
    pub async fn quiet(&self) -> Result<(), ControllersError> {
        Ok(self.fleet.quiet(&self.observer).await?)
    }

    /// The controllers that run.
    pub(crate) fn kinds(&self) -> Vec<Controller> {
        self.fleet.kinds().collect()
    }

    /// Whether a controller is paused.
    pub(crate) fn is_paused(&self, controller: Controller) -> bool {
        self.fleet.get(controller).is_some_and(Running::is_paused)
    }

    /// The number of keys that each has ever begun with.
    pub(crate) fn handed_out(&self) -> Vec<(Controller, u64)> {
        let of = |kind| Some((kind, self.fleet.get(kind)?.handed_out()));
        self.fleet.kinds().filter_map(of).collect()
    }

    /// The controllers that have work, or have had some since then.
    pub(crate) fn busy_since(&self, before: &[(Controller, u64)]) -> Vec<Controller> {
        let of = |kind: &Controller| self.fleet.get(*kind).is_some_and(|running| !running.is_idle());
        let now = self.handed_out();
        let is_busy =
            |kind: &Controller| of(kind) || now.iter().any(|count| count.0 == *kind && !before.contains(count));
        self.fleet.kinds().filter(|kind| !self.is_paused(*kind) && is_busy(kind)).collect()
    }

    /// Stops all controllers; waits until the syncs in progress have ended.
    pub(crate) async fn stop(&self) {
        self.stop.cancel();
        self.running.wait().await;
    }

    fn get(&self, controller: Controller) -> Result<&Running, ControllersError> {
        self.fleet.get(controller).ok_or(ControllersError::Absent(controller))
    }
}

impl fmt::Debug for Controllers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controllers").finish_non_exhaustive()
    }
}

/// The server's signing key, as a generator of tokens.
struct ServerKey(Arc<Cluster>);

impl TokenGenerator for ServerKey {
    fn generate_token(&self, claims: &LegacyClaims) -> Result<String, SigningError> {
        let failed = |error: &dyn std::fmt::Display| SigningError(error.to_string());
        let claims = serde_json::to_value(claims).map_err(|error| failed(&error))?;
        jwt::sign(self.0.policy.authenticator.signing_key(), &claims.into()).map_err(|error| failed(&error))
    }
}
