//! The builder: the description of a server, step by step, and its start.

mod admission;
mod authentication;
mod authorization;
mod authorizer;
mod bound;
#[cfg(feature = "controllers")]
mod controllers;
mod debug;
mod error;
mod limits;
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
use super::follow::Followed;
use super::tls::{Identity, IdentityError};
use super::{FakeApiServer, RunningReplica};
use crate::admission as admission_chain;
use crate::allocation::Allocations;
use crate::audit::{AuditOptions, Auditor, RequestLog};
use crate::auth::authentication_options::AuthenticationOptions;
use crate::auth::authorization_options::AuthorizationOptions;
use crate::auth::modes::SYSTEM_PRIVILEGED_GROUP;
use crate::auth::{self, Authenticator, ParsedObjects};
use crate::clock::{self, Clock, OffsetClock, SystemClock};
use crate::cluster::Cluster;
use crate::commit::saved;
#[cfg(feature = "controllers")]
use crate::controllers::Settings;
use crate::dice::Dice;
use crate::fault::Faults;
use crate::http::{Limits, Origins, Replica};
use crate::ids::Ids;
use crate::measures::Measures;
use crate::reconcile::{self, Reconcilers, bootstrap};
use crate::repeats::Repeats;
use crate::service_addresses::{Given, ServiceAddresses};
use crate::store::Store;
use crate::threads;
use crate::turns::Turns;
use crate::webhook::Network;
use bound::Bound;
use error::{MOST_GOAWAY_CHANCE, MOST_REPLICAS};
use page_gates::PageGates;
use pools::Pools;
use reach::Reach;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The issuer of most clusters.
const DEFAULT_ISSUER: &str = "https://kubernetes.default.svc";
/// The default number of events that are kept.
const DEFAULT_HISTORY: usize = 10_000;
/// The default memory of these events, in bytes.
const DEFAULT_HISTORY_BYTES: usize = 256 * 1024 * 1024;
/// Upstream's default of `--request-timeout`.
const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Upstream's default of `--min-request-timeout`.
const DEFAULT_MIN_REQUEST_TIMEOUT: Duration = Duration::from_secs(1800);

/// The description of a server, and its [start](Builder::start). A step whose name begins with `add` adds to earlier values,
/// every other one replaces them. Invalid values fail the start.
pub struct Builder {
    /// The error of the first step that failed.
    error: Option<StartError>,
    /// Number of keys that verify service account tokens so far.
    key_pems: usize,
    bind_address: IpAddr,
    secure_port: Option<u16>,
    insecure_port: Option<u16>,
    tls_identity: Option<(String, String)>,
    cert_dir: Option<PathBuf>,
    reach: Reach,
    transport_security: Option<http::HeaderValue>,
    authentication: auth::Config,
    others: AuthenticationOptions,
    authorization: AuthorizationOptions,
    admission: admission_chain::Config,
    allow_privileged: bool,
    replicas: usize,
    clock: Arc<dyn Clock>,
    clock_offsets: BTreeMap<usize, i64>,
    request_timeout: Duration,
    min_request_timeout: Duration,
    patient: bool,
    write_latency: Duration,
    history: usize,
    history_bytes: usize,
    seed: Option<u64>,
    limits: Limits,
    record_requests: bool,
    audit: AuditOptions,
    namespace_controller: bool,
    cluster_role_aggregation: bool,
    validating_admission_policy_status: bool,
    pools: Pools,
    services: Given,
    runtime_config: Vec<(String, String)>,
    state: Option<Vec<u8>>,
    page_gates: PageGates,
    cors_allowed_origins: Vec<String>,
    goaway_chance: f64,
    #[cfg(feature = "controllers")]
    controllers: Settings,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            error: None,
            key_pems: 0,
            bind_address: Ipv4Addr::LOCALHOST.into(),
            secure_port: Some(0),
            insecure_port: None,
            tls_identity: None,
            cert_dir: None,
            reach: Reach::default(),
            transport_security: None,
            authentication: auth::Config::new(DEFAULT_ISSUER),
            others: AuthenticationOptions::default(),
            authorization: AuthorizationOptions::default(),
            admission: admission_chain::Config::default(),
            allow_privileged: true,
            replicas: 1,
            clock: Arc::new(SystemClock),
            clock_offsets: BTreeMap::new(),
            request_timeout: DEFAULT_REQUEST_TIMEOUT,
            min_request_timeout: DEFAULT_MIN_REQUEST_TIMEOUT,
            patient: false,
            write_latency: Duration::ZERO,
            history: DEFAULT_HISTORY,
            history_bytes: DEFAULT_HISTORY_BYTES,
            seed: None,
            limits: Limits::default(),
            record_requests: false,
            audit: AuditOptions::default(),
            namespace_controller: true,
            cluster_role_aggregation: true,
            validating_admission_policy_status: false,
            pools: Pools::default(),
            services: Given::default(),
            runtime_config: Vec::new(),
            state: None,
            page_gates: PageGates::default(),
            cors_allowed_origins: Vec::new(),
            goaway_chance: 0.0,
            #[cfg(feature = "controllers")]
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
        self.history = events;
        self
    }

    /// The memory in bytes that those events may take, with deleted and replaced objects and frames for watches; 256 MiB by
    /// default. Beyond it the oldest are dropped, even if [`history`](Self::history) allows for more.
    #[must_use]
    pub fn history_bytes(mut self, bytes: usize) -> Self {
        self.history_bytes = bytes;
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
        self.state = Some(state.into());
        self
    }

    /// Whether the server empties and removes namespaces that are deleted, as kube-controller-manager does; on by
    /// default. Without it they stay `Terminating`, as under envtest.
    #[must_use]
    pub fn namespace_controller(mut self, on: bool) -> Self {
        self.namespace_controller = on;
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
        let past = self.state.as_deref().map(saved::revision).transpose()?.unwrap_or_default();
        let ids = self.seed.map_or_else(Ids::random, |seed| Ids::seeded(seed.wrapping_add(past)));
        let admin_token = format!("admin-{}", ids.uid());
        self = self.add_static_token(&admin_token, "admin", &[SYSTEM_PRIVILEGED_GROUP]);
        #[cfg(feature = "controllers")]
        let controllers_token;
        #[cfg(feature = "controllers")]
        {
            (self, controllers_token) = self.add_controllers_user(&ids);
        }
        self.authentication.front_proxy = self.front_proxy()?;
        let identity = self.secure_port.map(|_| self.identity()).transpose()?;
        let bound = bound::bind(self.bind_address, [self.secure_port, self.insecure_port], self.replicas)?;
        let origins = Origins::of(&self.cors_allowed_origins).map_err(StartError::CorsAllowedOrigins)?;
        let shutdown = CancellationToken::new();
        let cluster = self.cluster(ids, &bound, &shutdown).await?;
        let mut server = FakeApiServer {
            control: Control::of(&cluster, &self.clock),
            cluster,
            replicas: Vec::new(),
            ca_pem: identity.as_ref().map(|identity| identity.authority_pem().to_string()),
            admin_token,
            shutdown,
            #[cfg(feature = "controllers")]
            controllers: None,
        };
        self.start_replicas(&mut server, bound, identity.as_ref(), origins.as_ref());
        #[cfg(feature = "controllers")]
        if let Some(token) = controllers_token {
            server.start_controllers(&self.controllers, &token);
        }
        Ok(server)
    }

    fn check(&mut self) -> Result<(), StartError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.pools.check()?;
        if !(0.0..=MOST_GOAWAY_CHANCE).contains(&self.goaway_chance) {
            return Err(StartError::GoawayChance);
        }
        #[cfg(feature = "controllers")]
        self.check_controllers()?;
        let replicas = self.replicas;
        if replicas == 0 {
            return Err(StartError::NoReplicas);
        }
        if replicas > MOST_REPLICAS {
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
        if let Some((certificate, key)) = &self.tls_identity {
            return Identity::from_pem(certificate, key, clients);
        }
        let names = self.reach.names();
        let Some(folder) = &self.cert_dir else { return Ok(Identity::generate(self.bind_address, &names, clients)?.0) };
        if let Some(pair) = cert_dir::read(folder)? {
            return Identity::from_pem(&pair.certificate, &pair.key, clients);
        }
        let (identity, pair) = Identity::generate(self.bind_address, &names, clients)?;
        cert_dir::write(folder, &pair)?;
        Ok(identity)
    }

    /// The state that all replicas share, with the objects of every new cluster.
    async fn cluster(
        &mut self,
        ids: Ids,
        bound: &[Bound],
        shutdown: &CancellationToken,
    ) -> Result<Arc<Cluster>, StartError> {
        let mut authentication = std::mem::replace(&mut self.authentication, auth::Config::new(DEFAULT_ISSUER));
        let described_others = self.read_others(&mut authentication)?;
        let store = Store::with_history(self.history, self.history_bytes);
        let catalogs = Arc::new(self.catalogs()?);
        if let Some(state) = &self.state {
            store.take_over(saved::read(state, &catalogs.load().registry, |name| catalogs.reserve(name))?);
        }
        let ids = Arc::new(ids);
        let advertised = |bound: &Bound| bound.address().map(|address| self.reach.advertised(address));
        let addresses: Vec<SocketAddr> = bound.iter().filter_map(advertised).collect();
        let options = self.reconcilers(&authentication, &addresses);
        let allocations = Arc::new(Allocations::new(&store, self.pools.ranges()?, self.pools.node_ports.clone()));
        let runtime = threads::runtime().expect("binding the ports has started them");
        let own = bound.iter().find_map(|bound| bound.secure.as_ref()).map(|(_, address)| reach::own_address(*address));
        let network = Network::new(ServiceAddresses { store: store.clone(), given: self.services.clone(), own });
        self.admission.network = Some(network.clone());
        self.admission.clock = self.clock.clone();
        let admission = admission_chain::chain(&self.admission, &store)?;
        let authenticator = Authenticator::new(authentication)?;
        let measures = Arc::<Measures>::default();
        let others = self.others(described_others, &authenticator, &network, &measures, &runtime);
        let (others, others_file) = others?;
        let described = authorizer::described(&self.authorization, &store, &network, &self.clock, &measures)?;
        let rbac = described.rbac;
        let folders = admission.folders().map(Followed::folder);
        let followed: Vec<Followed> = [described.file, others_file].into_iter().flatten().chain(folders).collect();
        let reloads = followed.iter().map(|followed| followed.reloads().clone()).collect();
        let auditor = Auditor::new(&self.audit, &self.clock, &network, &runtime).map_err(StartError::Audit)?;
        let shared = reconcile::Shared {
            options,
            store: store.clone(),
            ids: ids.clone(),
            catalogs: catalogs.clone(),
            allocations: allocations.clone(),
            network: network.clone(),
            clock: self.clock.clone(),
        };
        let cluster = Arc::new(Cluster {
            authorizer: described.authorizers,
            rbac,
            reconcilers: Reconcilers::run(shared, shutdown, &runtime),
            allocations,
            admission,
            reserves_names: !self.admission.without_manifests,
            reloads,
            measures,
            store,
            ids,
            authenticator,
            others,
            allow_privileged: self.allow_privileged,
            request_timeout: (!self.patient).then_some(self.request_timeout),
            write_latency: self.write_latency,
            min_request_timeout: self.min_request_timeout,
            turns: Arc::new(Turns::new()),
            faults: Faults::default(),
            auditor: auditor.map(Arc::new),
            log: RequestLog::new(self.record_requests),
            parsed: ParsedObjects::default(),
            forms: Arc::default(),
            repeats: Repeats::default(),
            catalogs,
        });
        for file in followed {
            file.run(shutdown.clone(), &runtime);
        }
        let created = bootstrap::create(&cluster.reconcilers, cluster.rbac.is_some(), &addresses);
        created.await.expect("the objects of a new cluster are sound");
        Ok(cluster)
    }

    /// The reconcilers of a server that others reach at those addresses.
    fn reconcilers(&self, authentication: &auth::Config, addresses: &[SocketAddr]) -> reconcile::Options {
        reconcile::Options {
            namespaces: self.namespace_controller,
            cluster_roles: self.cluster_role_aggregation,
            policy_status: self.validating_admission_policy_status,
            advertised: addresses.first().copied().unwrap_or((self.bind_address, 0).into()),
            endpoints: !self.reach.without_endpoints,
            trusted: Self::trusted(authentication),
            unserved_pages: self.page_gates.unserved(),
        }
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
        let pages = self.pages(server.cluster.authenticator.issuers());
        for (index, bound) in bound.into_iter().enumerate() {
            let offset = self.clock_offsets.get(&index).copied().unwrap_or(0);
            let clock = OffsetClock::new(self.clock.clone(), offset);
            let Some(address) = bound.address() else { continue };
            let address = self.reach.public(address);
            let mut replica =
                Replica::new(index, &server.cluster, &clock, address, server.shutdown.clone(), &self.limits);
            replica.transport_security.clone_from(&self.transport_security);
            replica.pages.clone_from(&pages);
            replica.origins = origins.cloned();
            replica.goaway_chance = self.goaway_chance;
            replica.dice = Dice::new(self.seed.map(|seed| seed.wrapping_add(index as u64)));
            let secure = bound.secure.zip(tls.clone());
            server.replicas.push(RunningReplica::run(Arc::new(replica), clock, secure, bound.insecure));
        }
    }
}
