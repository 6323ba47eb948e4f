//! The reconcilers: built-in controllers that react to writes, because clients take them for granted.
//!
//! ```text
//!   commit ──▶ Event ── wants ──▶ queue ──▶ sync, in the engine's task ── done, or failed: tried again later
//!     └──▶ Ticket ◀────────────────────────────┘ the writer is answered
//! ```
//! A stored write has succeeded: errors here are logged, and do not change the response. Its writer is answered when the reconcilers
//! have dealt with it, once, unless its time is up before; readers wait for nothing. To add a reconciler is to write one file, a type
//! with [`Reconciler`], and to list it in [`all`].

mod addresses;
mod api_services;
mod availability;
pub(crate) mod bootstrap;
mod client_authorities;
mod cluster_roles;
mod definitions;
mod engine;
mod event;
mod flow_control;
mod kubernetes_service;
mod legacy_tokens;
mod namespaces;
mod policy_status;
mod queue;
mod reconciler;
pub(crate) mod recorded;
mod shared;
mod strides;
mod system_namespaces;
mod ticket;
mod token_uses;

pub(crate) use crate::commit::server::MANAGER;
pub(crate) use availability::api_service_availability;
pub(crate) use bootstrap::server_id;
pub(crate) use definitions::described as described_resources;
pub(crate) use event::Event;
pub(crate) use shared::{Options, Shared, Trusted};
pub(crate) use ticket::Ticket;

use addresses::Addresses;
use api_services::ApiServices;
use availability::Availability;
use client_authorities::ClientAuthorities;
use cluster_roles::ClusterRoles;
use definitions::Definitions;
use engine::Engine;
use flow_control::FlowControl;
use kubernetes_service::KubernetesService;
use legacy_tokens::LegacyTokens;
use namespaces::Namespaces;
use policy_status::PolicyStatus;
use queue::Queue;
use reconciler::Reconciler;
use std::sync::Arc;
use system_namespaces::SystemNamespaces;
use token_uses::TokenUses;
use tokio::runtime::Handle;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

/// All reconcilers that are on, in the order in which they work when several have to.
fn all(cluster: &Shared, legacy_tokens: Arc<LegacyTokens>) -> Vec<Arc<dyn Reconciler>> {
    let options = &cluster.options;
    let mut all: Vec<Arc<dyn Reconciler>> = vec![legacy_tokens, Arc::new(TokenUses)];
    if options.cluster_roles {
        all.push(Arc::new(ClusterRoles::new(&cluster.store)));
    }
    all.push(Arc::<Definitions>::default());
    if options.namespaces {
        all.push(Arc::<Namespaces>::default());
    }
    if options.policy_status {
        all.push(Arc::new(PolicyStatus));
    }
    let others: [Arc<dyn Reconciler>; 7] = [
        Arc::new(SystemNamespaces),
        Arc::new(Addresses),
        Arc::new(KubernetesService),
        Arc::new(ApiServices),
        Arc::<Availability>::default(),
        Arc::new(FlowControl),
        Arc::new(ClientAuthorities),
    ];
    all.extend(others);
    all
}

/// The running reconcilers of a cluster. They end when this is dropped.
pub(crate) struct Reconcilers {
    engine: Arc<Engine>,
    legacy_tokens: Arc<LegacyTokens>,
    tasks: TaskTracker,
    _stop: DropGuard,
}

impl Reconcilers {
    /// Runs the reconcilers of a cluster on that runtime, until `stop`.
    pub(crate) fn run(cluster: Shared, stop: &CancellationToken, runtime: &Handle) -> Self {
        let stop = stop.child_token();
        let legacy_tokens = Arc::<LegacyTokens>::default();
        let reconcilers = all(&cluster, legacy_tokens.clone());
        let engine = Arc::new(Engine { cluster, reconcilers, queue: Queue::new(stop.clone()) });
        let tasks = TaskTracker::new();
        tasks.spawn_on(engine.clone().run(), runtime);
        tasks.close();
        Reconcilers { engine, legacy_tokens, tasks, _stop: stop.drop_guard() }
    }

    /// A ticket for the consequences of a request.
    pub(crate) fn ticket(&self) -> Ticket<'_> {
        Ticket::new(&*self.engine, None)
    }

    /// The cluster.
    fn cluster(&self) -> &Shared {
        &self.engine.cluster
    }

    /// Notes the works that have become due by the cluster's clock.
    pub(crate) fn note_due(&self, ticket: &Ticket<'_>) {
        if self.legacy_tokens.is_due(&*self.cluster().clock) {
            ticket.note(&Event::Due);
        }
    }

    /// Completes when the reconcilers have ended.
    pub(crate) async fn ended(&self) {
        self.tasks.wait().await;
    }
}
