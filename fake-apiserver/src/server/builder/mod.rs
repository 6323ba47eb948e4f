//! The builder: the description of a server, step by step, and its start.

mod admission;
mod authentication;
mod authorization;
mod authorizer;
mod bound;
mod cluster;
mod controllers;
mod debug;
mod error;
mod groups;
mod limits;
mod loading;
mod page_gates;
mod pools;
mod reach;
mod requests;
mod runtime_config;
mod services;
mod serving;
mod zpages;

pub use error::StartError;

use super::cert_dir;
use super::control::state::Control;
use super::replicas::{self, Replicas};
use super::tls::{Identity, IdentityError};
use super::{FakeApiServer, RunningReplica};
use crate::admission as admission_chain;
use crate::auth;
use crate::auth::authentication_options::AuthenticationOptions;
use crate::auth::authorization_options::AuthorizationOptions;
use crate::auth::modes::SYSTEM_PRIVILEGED_GROUP;
use crate::clock::{self, Clock, OffsetClock, SystemClock};
use crate::commit::saved;
use crate::controllers::Settings;
use crate::dice::Dice;
use crate::http::{Origins, Replica};
use crate::ids::Ids;
use crate::service_addresses::Given;
use crate::webhook::ProxyCertificate;
use bound::Bound;
use error::MOST_GOAWAY_CHANCE;
use groups::{BuiltIn, Content, Noted, Ports, Serving};
use page_gates::PageGates;
use pools::Pools;
use reach::Reach;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The issuer of most clusters.
const DEFAULT_ISSUER: &str = "https://kubernetes.default.svc";
/// The description of a server, and its [start](Builder::start). A step whose name begins with `add` adds to earlier values,
/// every other one replaces them. Invalid values fail the start.
pub struct Builder {
    /// The error of the first step that failed.
    error: Option<StartError>,
    /// Number of keys that verify service account tokens so far.
    key_pems: usize,
    ports: Ports,
    reach: Reach,
    authentication: auth::Config,
    others: AuthenticationOptions,
    authorization: AuthorizationOptions,
    admission: admission_chain::Config,
    allow_privileged: bool,
    replicas: usize,
    clock: Arc<dyn Clock>,
    clock_offsets: BTreeMap<usize, i64>,
    serving: Serving,
    noted: Noted,
    built_in: BuiltIn,
    content: Content,
    seed: Option<u64>,
    pools: Pools,
    services: Given,
    proxy_certificate: Option<ProxyCertificate>,
    runtime_config: Vec<(String, String)>,
    page_gates: PageGates,
    controllers: Settings,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            error: None,
            key_pems: 0,
            ports: Ports::default(),
            reach: Reach::default(),
            authentication: auth::Config::new(DEFAULT_ISSUER),
            others: AuthenticationOptions::default(),
            authorization: AuthorizationOptions::default(),
            admission: admission_chain::Config::default(),
            allow_privileged: true,
            replicas: 1,
            clock: Arc::new(SystemClock),
            clock_offsets: BTreeMap::new(),
            serving: Serving::default(),
            noted: Noted::default(),
            built_in: BuiltIn::default(),
            content: Content::default(),
            seed: None,
            pools: Pools::default(),
            services: Given::default(),
            proxy_certificate: None,
            runtime_config: Vec::new(),
            page_gates: PageGates::default(),
            controllers: Settings::default(),
        }
    }
}

impl FakeApiServer {
    /// A builder with the defaults of the program, except for the port, which is any free one.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

impl Builder {
    /// The number of servers of the control plane, at most 100; 1 by default.
    #[must_use]
    pub fn replicas(mut self, count: usize) -> Self {
        self.replicas = count;
        self
    }

    /// The clock that all replicas read; the system's by default. A [`ManualClock`](crate::ManualClock) is given as a clone.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// The offset of a replica's clock, in seconds (negative: behind). Replicas are counted from 0.
    #[must_use]
    pub fn clock_offset(mut self, replica: usize, seconds: i64) -> Self {
        self.clock_offsets.insert(replica, seconds);
        self
    }

    /// The number of events that are kept, of all resources together; 10,000 by default. A watch that would start
    /// before the oldest of them gets 410. The newest one is always kept.
    #[must_use]
    pub fn history(mut self, events: usize) -> Self {
        self.content.history = events;
        self
    }

    /// The memory in bytes that those events may take, with deleted and replaced objects and frames for watches; 256 MiB by
    /// default. Beyond it the oldest are dropped, even if [`history`](Self::history) allows for more.
    #[must_use]
    pub fn history_bytes(mut self, bytes: usize) -> Self {
        self.content.history_bytes = bytes;
        self
    }

    /// Makes uids and generated names the same on every run.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Begins with the objects, the revision and the history of another server, which [`FakeApiServer::into_state`] has returned. Watches of
    /// its clients go on where they were.
    #[must_use]
    pub fn restore(mut self, state: impl Into<Vec<u8>>) -> Self {
        self.content.state = Some(state.into());
        self
    }

    /// Whether the server empties and removes namespaces that are deleted, as kube-controller-manager does; on by
    /// default. Without it they stay `Terminating`, as under envtest.
    #[must_use]
    pub fn namespace_controller(mut self, on: bool) -> Self {
        self.built_in.namespaces = on;
        self
    }

    /// Starts the server, on threads that all servers of the process share. It accepts connections when this returns.
    ///
    /// # Errors
    /// [`StartError`], before anything is left listening.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn start(mut self) -> Result<FakeApiServer, StartError> {
        self.check()?;
        // The ids of the server before are not made again.
        let past = self.content.state.as_deref().map(saved::revision).transpose()?.unwrap_or_default();
        let ids = self.seed.map_or_else(Ids::random, |seed| Ids::seeded(seed.wrapping_add(past)));
        let admin_token = format!("admin-{}", ids.uid());
        self = self.add_static_token(&admin_token, "admin", &[SYSTEM_PRIVILEGED_GROUP]);
        let controllers_token;
        (self, controllers_token) = self.add_controllers_user(&ids);
        self.authentication.front_proxy = self.front_proxy()?;
        self.add_signing_authority()?;
        let identity = self.ports.secure.map(|_| self.identity()).transpose()?;
        let bound = bound::bind(self.ports.address, [self.ports.secure, self.ports.insecure], self.replicas)?;
        let origins = Origins::of(&self.serving.cors_allowed_origins).map_err(StartError::CorsAllowedOrigins)?;
        let shutdown = CancellationToken::new();
        let cluster = self.cluster(ids, &bound, &shutdown).await?;
        let mut server = FakeApiServer {
            control: Control::of(&cluster, &self.clock),
            cluster,
            replicas: Replicas::default(),
            ca_pem: identity.as_ref().map(|identity| identity.authority_pem().to_string()),
            admin_token,
            shutdown,
            controllers: None,
        };
        self.start_replicas(&mut server, bound, identity.as_ref(), origins.as_ref());
        server.start_controllers(&self.controllers, controllers_token.as_deref());
        Ok(server)
    }

    fn check(&mut self) -> Result<(), StartError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.pools.check()?;
        if !(0.0..=MOST_GOAWAY_CHANCE).contains(&self.serving.goaway_chance) {
            return Err(StartError::GoawayChance);
        }
        if self.serving.limits.is_fair
            && self.serving.limits.requests == 0
            && self.serving.limits.mutating_requests == 0
        {
            return Err(StartError::NoSeats);
        }
        self.check_controllers()?;
        let replicas = self.replicas;
        if replicas == 0 {
            return Err(StartError::NoReplicas);
        }
        if replicas > replicas::MOST {
            return Err(StartError::TooManyReplicas { replicas });
        }
        if let Some(&replica) = self.clock_offsets.keys().find(|replica| **replica >= replicas) {
            return Err(StartError::NoSuchReplica { replica, replicas });
        }
        let now = self.clock.now();
        match self.clock_offsets.iter().find(|(_, seconds)| clock::shifted(now, **seconds).is_none()) {
            Some((&replica, &seconds)) => Err(StartError::ClockOffset { replica, seconds }),
            None => Ok(()),
        }
    }

    fn identity(&self) -> Result<Identity, IdentityError> {
        let clients = self.authorities_of_connections();
        let clients = clients.as_ref();
        if let Some((certificate, key)) = &self.ports.identity {
            return Identity::from_pem(certificate, key, clients);
        }
        let names = self.reach.names();
        let Some(folder) = &self.ports.cert_dir else {
            return Ok(Identity::generate(self.ports.address, &names, clients)?.0);
        };
        if let Some(pair) = cert_dir::read(folder)? {
            return Identity::from_pem(&pair.certificate, &pair.key, clients);
        }
        let (identity, pair) = Identity::generate(self.ports.address, &names, clients)?;
        cert_dir::write(folder, &pair)?;
        Ok(identity)
    }

    /// Lets the replicas serve.
    fn start_replicas(
        &self,
        server: &mut FakeApiServer,
        bound: Vec<Bound>,
        identity: Option<&Identity>,
        origins: Option<&Origins>,
    ) {
        let tls = identity.map(Identity::server_config);
        let pages = self.pages(server.cluster.policy.authenticator.issuers());
        for (index, bound) in bound.into_iter().enumerate() {
            let offset = self.clock_offsets.get(&index).copied().unwrap_or(0);
            let clock = OffsetClock::new(self.clock.clone(), offset);
            let Some(address) = bound.address() else { continue };
            let address = self.reach.public(address);
            let mut replica =
                Replica::new(index, &server.cluster, &clock, address, server.shutdown.clone(), &self.serving.limits);
            replica.transport_security.clone_from(&self.ports.transport_security);
            replica.pages.clone_from(&pages);
            replica.beside = server.control.clusters.beside.clone();
            replica.origins = origins.cloned();
            replica.goaway_chance = self.serving.goaway_chance;
            replica.allowed_labels = self.serving.allowed_labels.clone();
            replica.dice = Dice::new(self.seed.map(|seed| seed.wrapping_add(index as u64)));
            let secure = bound.secure.zip(tls.clone());
            server.replicas.push(RunningReplica::run(Arc::new(replica), clock, secure, bound.insecure));
        }
    }
}
