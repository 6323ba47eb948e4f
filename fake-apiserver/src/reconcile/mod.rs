//! The reconcilers: built-in controllers that react to writes, because clients take them for granted.
//!
//! ```text
//!   commit ──▶ Event ── wants ──▶ queue ──▶ sync, in the engine's task ── done, or failed: tried again later
//!     └──▶ Ticket ◀────────────────────────────┘ the writer is answered
//! ```
//! A stored write has succeeded: errors here are logged, and do not change the response. Its writer is answered when the reconcilers
//! have dealt with it, once, unless its time is up before; readers wait for nothing but the label on
//! a legacy token that they use. To add a reconciler is to write one file, a type
//! with [`Reconciler`], and to list it in [`all`].

mod addresses;
mod api_services;
mod availability;
pub(crate) mod bootstrap;
mod client;
mod client_authorities;
mod cluster_roles;
mod definitions;
mod engine;
mod event;
mod flow_control;
mod kubernetes_service;
mod legacy_tokens;
mod loopback;
mod namespaces;
mod policy_status;
mod probe;
mod queue;
mod reconciler;
pub(crate) mod recorded;
mod rules;
mod shared;
mod strides;
mod system_namespaces;
mod ticket;
mod token_uses;

pub(crate) use availability::api_service_availability;
pub(crate) use bootstrap::server_id;
pub(crate) use definitions::described as described_resources;
pub(crate) use event::Event;
#[cfg(test)]
pub(crate) use loopback::Account;
pub(crate) use loopback::{Loopback, Sent, Verb};
pub(crate) use shared::{Options, Shared, Trusted};
pub(crate) use strides::Strides;
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
use reconciler::Reconciler;
use rules::Rules;
use std::iter;
use std::sync::Arc;
use system_namespaces::SystemNamespaces;
use token_uses::TokenUses;
use tokio::runtime::Handle;
use tokio_util::sync::{CancellationToken, DropGuard};

/// All reconcilers that are on, in the order in which they work when several have to.
fn all(cluster: &Shared, legacy_tokens: Arc<LegacyTokens>) -> Vec<Arc<dyn Reconciler>> {
    let options = &cluster.options;
    let mut all: Vec<Arc<dyn Reconciler>> = vec![legacy_tokens, Arc::new(TokenUses)];
    if options.cluster_roles {
        all.push(Arc::new(ClusterRoles));
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
        Arc::<Addresses>::default(),
        Arc::new(KubernetesService),
        Arc::new(ApiServices),
        Arc::<Availability>::default(),
        Arc::new(FlowControl),
        Arc::new(ClientAuthorities),
    ];
    all.extend(others);
    all.extend(cluster.coverage.clone().map(|coverage| Arc::new(Rules(coverage)) as Arc<dyn Reconciler>));
    all
}

/// The reconcilers of a cluster. They end when this is dropped.
pub(crate) struct Reconcilers {
    engine: Arc<Engine>,
    legacy_tokens: Arc<LegacyTokens>,
    _stop: DropGuard,
}

impl Reconcilers {
    /// The reconcilers of a cluster, which work on that runtime, until `stop`.
    pub(crate) fn new(
        cluster: Shared,
        loopback: Arc<dyn Loopback>,
        stop: &CancellationToken,
        runtime: &Handle,
    ) -> Self {
        let legacy_tokens = Arc::<LegacyTokens>::default();
        let reconcilers = all(&cluster, legacy_tokens.clone());
        Self::of(cluster, loopback, reconcilers, legacy_tokens, stop, runtime)
    }

    fn of(
        cluster: Shared,
        loopback: Arc<dyn Loopback>,
        reconcilers: Vec<Arc<dyn Reconciler>>,
        legacy_tokens: Arc<LegacyTokens>,
        stop: &CancellationToken,
        runtime: &Handle,
    ) -> Self {
        let stop = stop.child_token();
        let engine = Engine::new(cluster, loopback, reconcilers, stop.clone(), runtime.clone());
        Reconcilers { engine, legacy_tokens, _stop: stop.drop_guard() }
    }

    /// Those of a fork of the cluster, which know what these do. They have no work.
    pub(crate) fn fork(&self, cluster: Shared, loopback: Arc<dyn Loopback>, stop: &CancellationToken) -> Self {
        let legacy_tokens = Arc::new(self.legacy_tokens.forked());
        let own = |reconciler: &Arc<dyn Reconciler>| reconciler.fork().unwrap_or_else(|| reconciler.clone());
        // The first is that of legacy tokens.
        let others = self.engine.reconcilers.iter().skip(1).map(own);
        let reconcilers = iter::once(legacy_tokens.clone() as _).chain(others).collect();
        Self::of(cluster, loopback, reconcilers, legacy_tokens, stop, self.engine.runtime())
    }

    /// Completes when there is nothing left to do but what fails again and again, or the server has stopped.
    pub(crate) async fn quiet(&self) {
        self.engine.rested().await;
    }

    /// A ticket for the consequences of a request.
    pub(crate) fn ticket(&self) -> Ticket<'_> {
        Ticket::new(&*self.engine, None)
    }

    /// The cluster.
    pub(crate) fn cluster(&self) -> &Shared {
        &self.engine.cluster
    }

    /// Notes the works that have become due by the cluster's clock.
    pub(crate) fn note_due(&self, ticket: &Ticket<'_>) {
        if self.legacy_tokens.is_due(&*self.cluster().clock) {
            ticket.note(&Event::Due);
        }
    }
}
