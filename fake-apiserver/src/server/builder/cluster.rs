//! The cluster of a server, as its builder describes it.

use super::bound::Bound;
use super::{Builder, DEFAULT_ISSUER, StartError, authorizer, reach};
use crate::admission as admission_chain;
use crate::aggregation::Extensions;
use crate::allocation::Allocations;
use crate::api::InProcess;
use crate::audit::{Auditor, RequestLog};
use crate::auth::{self, Authenticator, ParsedObjects};
use crate::cluster::{Cluster, Policy};
use crate::commit::Hold;
use crate::controllers::Controller;
use crate::coverage::Coverage;
use crate::discovery::Catalogs;
use crate::fault::Faults;
use crate::ids::Ids;
use crate::kubelets::KubeletsPlace;
use crate::measures::Measures;
use crate::reconcile::{self, Reconcilers, bootstrap};
use crate::recorder::{self, Recorder};
use crate::repeats::Repeats;
use crate::server::follow::Followed;
use crate::service_addresses::{Known, ServiceAddresses};
use crate::store::Store;
use crate::threads;
use crate::turns::Turns;
use crate::webhook::Network;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock, Weak};
use tokio_util::sync::CancellationToken;

impl Builder {
    /// The state that all replicas share, with the objects of every new cluster.
    pub(super) async fn cluster(
        &mut self,
        ids: Ids,
        bound: &[Bound],
        shutdown: &CancellationToken,
    ) -> Result<Arc<Cluster>, StartError> {
        let mut authentication = std::mem::replace(&mut self.authentication, auth::Config::new(DEFAULT_ISSUER));
        let described_others = self.read_others(&mut authentication)?;
        let store = Store::with_history(self.content.history, self.content.history_bytes);
        let catalogs = Arc::new(self.catalogs()?);
        let own = bound.iter().find_map(|bound| bound.secure.as_ref()).map(|(_, address)| reach::own_address(*address));
        let services = Arc::new(Known { given: self.services.clone(), own });
        let network = Network::new(ServiceAddresses { store: store.clone(), known: services.clone() });
        self.take_over(&store, &catalogs, &network)?;
        let recorder = self.recorder(&store, &catalogs)?;
        let ids = Arc::new(ids);
        let advertised = |bound: &Bound| bound.address().map(|address| self.reach.advertised(address));
        let addresses: Vec<SocketAddr> = bound.iter().filter_map(advertised).collect();
        let options = self.reconcilers(&authentication, &addresses);
        let allocations = Arc::new(Allocations::new(self.pools.ranges()?, self.pools.node_ports.clone()));
        let runtime = threads::runtime().expect("binding the ports has started them");
        self.admission.clock = self.clock.clone();
        let admission = admission_chain::chain(&self.admission)?;
        let authenticator = Authenticator::new(authentication)?;
        let measures = Arc::<Measures>::default();
        let coverage = self.noted.coverage.then(Arc::<Coverage>::default);
        let others = self.others(described_others, &authenticator, &network, &measures, &runtime);
        let (others, others_file) = others?;
        if self.controllers.kinds.contains(&Controller::Kubelet) {
            self.authorization.allow_nodes();
        }
        let described = authorizer::described(&self.authorization, &network, &self.clock, &measures, &coverage)?;
        let folders = admission.folders().map(Followed::folder);
        let followed: Vec<Followed> = [described.file, others_file].into_iter().flatten().chain(folders).collect();
        let reloads = followed.iter().map(|followed| followed.reloads().clone()).collect();
        let auditor = Auditor::new(&self.noted.audit, &self.clock, &network, &runtime).map_err(StartError::Audit)?;
        let shared = reconcile::Shared {
            options: options.into(),
            store: store.clone(),
            ids: ids.clone(),
            catalogs: catalogs.clone(),
            allocations: allocations.clone(),
            network: network.clone(),
            extensions: Arc::new(Extensions::new(self.proxy_certificate.clone())),
            clock: self.clock.clone(),
            coverage: coverage.clone(),
        };
        let policy = Policy {
            authorizer: described.authorizers,
            has_rbac: described.has_rbac,
            allocations,
            admission,
            reserves_names: !self.admission.without_manifests,
            reloads,
            measures,
            authenticator,
            others,
            services,
            allow_privileged: self.allow_privileged,
            request_timeout: (!self.serving.patient).then_some(self.serving.timeout),
            write_hold: Hold::of(self.serving.write_latency),
            min_request_timeout: self.serving.min_timeout,
            turns: Arc::new(Turns::new()),
            coverage,
            auditor: auditor.map(Arc::new),
        };
        let own = |own: &Weak<Cluster>| Arc::new(InProcess::new(own.clone(), shutdown.clone()));
        let cluster = Arc::new_cyclic(|cluster| Cluster {
            policy: policy.into(),
            reconcilers: Reconcilers::new(shared, own(cluster), shutdown, &runtime),
            network,
            store,
            ids,
            faults: Faults::recorded(recorder.clone()),
            log: RequestLog::new(self.noted.requests || recorder.is_on(), recorder),
            kubelets: KubeletsPlace::default(),
            parsed: ParsedObjects::default(),
            forms: Arc::default(),
            repeats: Repeats::default(),
            users: OnceLock::new(),
            keys: None,
            catalogs,
        });
        for file in followed {
            file.run(shutdown.clone(), &runtime);
        }
        let created = bootstrap::create(&cluster.reconcilers, cluster.policy.has_rbac, &addresses);
        created.await.expect("the objects of a new cluster are sound");
        Ok(cluster)
    }

    /// The recording, if there is one.
    fn recorder(&self, store: &Store, catalogs: &Arc<Catalogs>) -> Result<Recorder, StartError> {
        let Some(path) = &self.noted.recording else { return Ok(Recorder::default()) };
        let (replicas, clock) = (self.replicas, &self.clock);
        recorder::start(&recorder::Subject { path, replicas, clock, store, catalogs })
            .map_err(|source| StartError::Record { path: path.clone(), source })
    }

    /// The reconcilers of a server that others reach at those addresses.
    fn reconcilers(&self, authentication: &auth::Config, addresses: &[SocketAddr]) -> reconcile::Options {
        reconcile::Options {
            namespaces: self.built_in.namespaces,
            cluster_roles: self.built_in.cluster_roles,
            policy_status: self.built_in.policy_status,
            advertised: addresses.first().copied().unwrap_or((self.ports.address, 0).into()),
            endpoints: !self.reach.without_endpoints,
            trusted: Self::trusted(authentication),
            unserved_pages: self.page_gates.unserved(),
        }
    }
}
