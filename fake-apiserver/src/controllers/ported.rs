//! Controllers that are clients in the server's process: the ports of those that deal with service accounts and their tokens.

use super::settings::Settings;
use crate::auth::jwt;
use crate::cluster::Cluster;
use control::findings::OBSERVER;
use controller::client_go::client;
use controller::clock::Clock;
use controller::controller::Controller as Running;
use controller::controllers::tokens::{LegacyClaims, TokenGenerator};
use controller::controllers::{legacy_token_cleaner, root_ca, service_accounts, tokens};
use controller::keys::SigningError;
use controller::manager::catalogue::Kind;
use controller::manager::fleet::Fleet;
use kube::{Client, Config};
use loops::Controller;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The number of workers on each queue of the tokens controller: kube-controller-manager's default.
const TOKEN_WORKERS: usize = 5;

/// The ported controllers that run beside a server.
pub(crate) struct Ported {
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
    fn client(&self, user_agent: &str) -> Client {
        client::new(self.config.clone(), user_agent).expect("the server's own configuration is sound")
    }
}

impl Ported {
    pub(crate) fn start(settings: &Settings, context: ControllerContext) -> Self {
        let mut fleet = Fleet::new(context.client("fake-apiserver/shared-informers"));
        for kind in settings.kinds.iter().filter_map(|controller| kind(*controller)) {
            let client = context.client(&format!("fake-apiserver/{}", kind.client_name()));
            match kind {
                Kind::ServiceAccountToken => {
                    let mut options = tokens::Options::new(Arc::new(ServerKey(context.cluster.clone())));
                    options.root_ca = context.ca_pem.clone().into_bytes();
                    options.auto_generate = settings.auto_generate_tokens;
                    fleet.add_tokens(client, options, TOKEN_WORKERS);
                }
                Kind::ServiceAccount => fleet.add_service_accounts(client, service_accounts::Options::default()),
                Kind::RootCaPublisher => {
                    fleet.add_root_ca(client, context.ca_pem.clone(), root_ca::Metrics::default());
                }
                Kind::LegacyTokenCleaner => {
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
        Ported { fleet, observer: context.client(OBSERVER), stop: context.stop, running }
    }

    /// Pauses a controller, if it is one of these; waits until its syncs in progress have ended.
    pub(super) async fn pause(&self, controller: Controller) {
        if let Some(running) = self.get(controller) {
            running.pause().await;
        }
    }

    /// Lets a controller go on, if it is one of these.
    pub(super) fn resume(&self, controller: Controller) {
        if let Some(running) = self.get(controller) {
            running.resume();
        }
    }

    /// Syncs the next key of a paused controller, and returns it.
    ///
    /// # Errors
    /// If the controller's objects cannot be listed.
    pub(super) async fn step(&self, controller: Controller) -> Result<Option<String>, kube::Error> {
        match self.get(controller) {
            Some(running) => running.step(&self.observer).await,
            None => Ok(None),
        }
    }

    /// Waits until all controllers that are not paused have caught up with the server, and have nothing left to do.
    ///
    /// # Errors
    /// If the controllers' objects cannot be listed.
    pub(super) async fn quiet(&self) -> Result<(), kube::Error> {
        self.fleet.quiet(&self.observer).await
    }

    /// The controllers that run.
    pub(super) fn all(&self) -> impl Iterator<Item = Controller> {
        self.fleet.kinds().map(|kind| kind.name().parse().expect("kube-controller-manager has it"))
    }

    /// Whether a controller is paused.
    pub(super) fn is_paused(&self, controller: Controller) -> bool {
        self.get(controller).is_some_and(Running::is_paused)
    }

    /// The number of keys that each has ever begun with.
    pub(super) fn handed_out(&self) -> Vec<(Controller, u64)> {
        self.all().filter_map(|one| Some((one, self.get(one)?.handed_out()))).collect()
    }

    /// The controllers that have work, or have had some since then.
    pub(super) fn busy_since(&self, before: &[(Controller, u64)]) -> Vec<Controller> {
        let has_work = |one: &Controller| self.get(*one).is_some_and(|running| !running.is_idle());
        let now = self.handed_out();
        let is_busy =
            |one: &Controller| has_work(one) || now.iter().any(|count| count.0 == *one && !before.contains(count));
        self.all().filter(|one| !self.is_paused(*one) && is_busy(one)).collect()
    }

    /// Stops all controllers; waits until the syncs in progress have ended.
    pub(super) async fn stop(&self) {
        self.stop.cancel();
        self.running.wait().await;
    }

    fn get(&self, controller: Controller) -> Option<&Running> {
        self.fleet.get(kind(controller)?)
    }
}

/// The port of a controller, if there is one.
pub(super) fn kind(controller: Controller) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| kind.name() == controller.name())
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
