//! Controllers of a control plane in the server's process: with them a cluster has default service accounts, root CAs and
//! tokens.
//!
//! They are ordinary clients of the server's first replica: what they do can be seen in the record of requests, struck by faults,
//! and takes its time. A test that wants to see the states in between pauses them and lets them take one step after the other:
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use fake_apiserver::FakeApiServer;
//! use fake_apiserver::controllers::Kind;
//!
//! let server = FakeApiServer::builder().controllers([Kind::ServiceAccount]).start().await?;
//! let controllers = server.controllers();
//! controllers.quiet().await?;                                  // every namespace has its account
//! controllers.pause(Kind::ServiceAccount).await?;
//! // ... create the namespace `a`: it has none yet ...
//! # let body = r#"{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"a"}}"#;
//! # let create = http::Request::post("/api/v1/namespaces").body(body.into())?;
//! # server.client().request::<serde_json::Value>(create).await?;
//! assert_eq!(controllers.step(Kind::ServiceAccount).await?.as_deref(), Some("a"));
//! assert_eq!(controllers.step(Kind::ServiceAccount).await?, None);
//! # server.shutdown().await;
//! # Ok(())
//! # }
//! ```

pub use controller::manager::catalogue::{Choice, Kind, UnknownController, is_wanted};

use crate::auth::jwt;
use crate::cluster::Cluster;
use controller::client_go::client;
use controller::clock::Clock;
use controller::controller::Controller;
use controller::controllers::tokens::{LegacyClaims, TokenGenerator};
use controller::controllers::{legacy_token_cleaner, root_ca, service_accounts, tokens};
use controller::keys::SigningError;
use controller::manager::fleet::Fleet;
use kube::{Client, Config};
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Workers on each queue of the tokens controller: kube-controller-manager's default.
const TOKEN_WORKERS: usize = 5;

/// Which controllers run, and how.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    pub(crate) kinds: BTreeSet<Kind>,
    /// Whether every service account gets a token secret, as up to Kubernetes 1.23. The server's version does not.
    pub(crate) auto_generate_tokens: bool,
}

/// Why a controller cannot be led by the hand.
#[derive(Debug, thiserror::Error)]
pub enum ControllersError {
    /// The builder did not ask for it.
    #[error("controller {:?} does not run", .0.name())]
    Absent(Kind),
    /// Only a paused controller can be stepped.
    #[error("controller {:?} is not paused", .0.name())]
    NotPaused(Kind),
    /// The server did not show what there is.
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

/// What the controllers need to know of the server.
pub(crate) struct Surroundings {
    /// How to reach it.
    pub(crate) config: Config,
    /// Whose key signs tokens.
    pub(crate) cluster: Arc<Cluster>,
    /// What its clients trust; nothing without TLS, which is then what is published, as upstream would.
    pub(crate) ca_pem: String,
    /// What time it has.
    pub(crate) clock: Clock,
    /// Cancelled when the server stops.
    pub(crate) stop: CancellationToken,
}

impl Surroundings {
    fn client(&self, name: &str) -> Client {
        let user_agent = format!("fake-apiserver/{name}");
        client::new(self.config.clone(), &user_agent).expect("the server's own configuration is sound")
    }
}

impl Controllers {
    pub(crate) fn start(settings: &Settings, surroundings: Surroundings) -> Self {
        let mut fleet = Fleet::new(surroundings.client("shared-informers"));
        for kind in &settings.kinds {
            let client = surroundings.client(kind.client_name());
            match kind {
                Kind::ServiceAccountToken => {
                    let mut options = tokens::Options::new(Arc::new(ServersKey(surroundings.cluster.clone())));
                    options.root_ca = surroundings.ca_pem.clone().into_bytes();
                    options.auto_generate = settings.auto_generate_tokens;
                    fleet.add_tokens(client, options, TOKEN_WORKERS);
                }
                Kind::ServiceAccount => fleet.add_service_accounts(client, service_accounts::Options::default()),
                Kind::RootCaPublisher => {
                    fleet.add_root_ca(client, surroundings.ca_pem.clone(), root_ca::Metrics::default());
                }
                Kind::LegacyTokenCleaner => {
                    let options = legacy_token_cleaner::Options::default();
                    let added = fleet.add_legacy_token_cleaner(client, surroundings.clock.clone(), options);
                    added.expect("the default options make sense");
                }
            }
        }
        let (fleet, running) = (Arc::new(fleet), TaskTracker::new());
        running.spawn({
            let (fleet, stop) = (fleet.clone(), surroundings.stop.clone());
            async move { fleet.run(stop).await }
        });
        running.close();
        Controllers { fleet, observer: surroundings.client("observer"), stop: surroundings.stop, running }
    }

    /// Lets a controller begin nothing new; waits until what it does has ended. What happens meanwhile waits for it.
    ///
    /// # Errors
    /// If it does not run here.
    pub async fn pause(&self, kind: Kind) -> Result<(), ControllersError> {
        self.get(kind)?.pause().await;
        Ok(())
    }

    /// Lets a paused controller go on.
    ///
    /// # Errors
    /// If it does not run here.
    pub fn resume(&self, kind: Kind) -> Result<(), ControllersError> {
        self.get(kind)?.resume();
        Ok(())
    }

    /// Lets a paused controller do the next thing there is for it to do, and says what that was: a namespace, `secret a/b`, or
    /// whatever it works on. `None` if it knows all there is to know and nothing is left to do. What failed before comes last,
    /// without the wait that there would be; the cleaner of legacy tokens always has something to do.
    ///
    /// # Errors
    /// If it does not run here, or is not paused, or what there is cannot be listed.
    pub async fn step(&self, kind: Kind) -> Result<Option<String>, ControllersError> {
        let controller = self.get(kind)?;
        if !controller.is_paused() {
            return Err(ControllersError::NotPaused(kind));
        }
        Ok(controller.step(&self.observer).await?)
    }

    /// Waits until all controllers that are not paused know all there is to know, and nothing is left for them to do.
    ///
    /// # Errors
    /// If what there is cannot be listed.
    pub async fn quiet(&self) -> Result<(), ControllersError> {
        Ok(self.fleet.quiet(&self.observer).await?)
    }

    /// Stops all controllers for good; waits until what they do has ended.
    pub(crate) async fn stop(&self) {
        self.stop.cancel();
        self.running.wait().await;
    }

    fn get(&self, kind: Kind) -> Result<&Controller, ControllersError> {
        self.fleet.get(kind).ok_or(ControllersError::Absent(kind))
    }
}

/// Signs as the server does.
struct ServersKey(Arc<Cluster>);

impl TokenGenerator for ServersKey {
    fn generate_token(&self, claims: &LegacyClaims) -> Result<String, SigningError> {
        let failed = |error: &dyn std::fmt::Display| SigningError(error.to_string());
        let claims = serde_json::to_value(claims).map_err(|error| failed(&error))?;
        jwt::sign(self.0.authenticator.signing_key(), &claims).map_err(|error| failed(&error))
    }
}
