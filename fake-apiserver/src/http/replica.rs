//! Replicas: the state of one server of a control plane, which the other servers do not share.

use super::beside::Beside;
use super::cors::Origins;
use super::limits::{InFlight, Limits};
use super::metrics::{AllowedLabels, HealthChecks, Metrics};
use super::pages::Pages;
use crate::auth::impersonation::Impersonation;
use crate::auth::oidc;
use crate::clock::{Clock, OffsetClock};
use crate::cluster::Cluster;
use crate::dice::Dice;
use crate::flow::FlowControl;
use crate::measures::Measures;
use crate::view::View;
use http::{HeaderValue, Version};
use jiff::Timestamp;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use tokio_util::sync::CancellationToken;

/// One server of a control plane: the shared cluster, with a clock of its own.
pub(crate) struct Replica {
    pub(crate) index: usize,
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Its address for clients: `host:port`.
    pub(crate) address: String,
    /// The header `Strict-Transport-Security` of its responses.
    pub(crate) transport_security: Option<HeaderValue>,
    /// The origins of other web pages that may use the server.
    pub(crate) origins: Option<Origins>,
    /// The part of the HTTP/2 requests that ends their connection.
    pub(crate) goaway_chance: f64,
    /// The pages about the process.
    pub(crate) pages: Pages,
    /// The other clusters that are reached through it.
    pub(crate) beside: Arc<Beside<Replica>>,
    /// The separator of names and values in the text of `/flagz`, once that was asked for.
    pub(super) separator_of_flags: OnceLock<&'static str>,
    /// The source of choices by chance.
    pub(crate) dice: Dice,
    pub(crate) shutdown: CancellationToken,
    pub(crate) view: View,
    pub(super) in_flight: InFlight,
    /// Its priority and fairness; `None` if that is off.
    pub(crate) flow: Option<FlowControl>,
    pub(super) metrics: Metrics,
    pub(super) measures: Measures,
    /// The values of labels that its metrics may have.
    pub(crate) allowed_labels: Arc<AllowedLabels>,
    /// The count of the health checks.
    pub(super) checks: HealthChecks,
    pub(crate) limits: Limits,
    /// Whether it says that it is not ready.
    unready: AtomicBool,
    /// The token that ends the open watches; it is replaced for later ones.
    watches: Mutex<CancellationToken>,
    /// Cache of the last impersonation decision per requester.
    pub(crate) impersonation: Impersonation,
    /// The OIDC discovery documents, rendered on first use.
    pub(crate) issuer_documents: OnceLock<Option<oidc::Discovery>>,
}

impl Replica {
    /// A server of `cluster` that clients reach at `address`.
    pub(crate) fn new(
        index: usize,
        cluster: &Arc<Cluster>,
        clock: &OffsetClock,
        address: String,
        shutdown: CancellationToken,
        limits: &Limits,
    ) -> Self {
        Replica {
            index,
            cluster: cluster.clone(),
            in_flight: InFlight::new(limits),
            flow: limits.is_fair.then(|| FlowControl::new(limits.requests.saturating_add(limits.mutating_requests))),
            metrics: Metrics::new(clock.now()),
            measures: Measures::default(),
            allowed_labels: Arc::default(),
            checks: HealthChecks::new(clock.now()),
            limits: *limits,
            clock: Arc::new(clock.clone()),
            address,
            transport_security: None,
            origins: None,
            goaway_chance: 0.0,
            pages: Pages::default(),
            beside: Arc::default(),
            separator_of_flags: OnceLock::new(),
            dice: Dice::new(None),
            view: View::default(),
            unready: AtomicBool::new(false),
            watches: Mutex::new(shutdown.child_token()),
            shutdown,
            impersonation: Impersonation::default(),
            issuer_documents: OnceLock::new(),
        }
    }

    /// Another server like this one, of this cluster or a fork of it, at the same address until it has one of its own.
    pub(crate) fn like(
        &self,
        index: usize,
        cluster: &Arc<Cluster>,
        clock: &OffsetClock,
        shutdown: CancellationToken,
    ) -> Replica {
        Replica {
            transport_security: self.transport_security.clone(),
            origins: self.origins.clone(),
            goaway_chance: self.goaway_chance,
            pages: self.pages.clone(),
            allowed_labels: self.allowed_labels.clone(),
            ..Replica::new(index, cluster, clock, self.address.clone(), shutdown, &self.limits)
        }
    }

    /// Whether the connection of a request is to end with it, by chance: so that clients spread over the servers behind a load balancer
    /// (`WithProbabilisticGoaway` of k8s.io/apiserver/pkg/server/filters, v0.37.1).
    pub(crate) fn ends_connection(&self, version: Version) -> bool {
        self.goaway_chance > 0.0 && version == Version::HTTP_2 && self.dice.happens(self.goaway_chance)
    }

    /// Whether it says that it is not ready. It serves all the same, as one that is about to stop.
    pub(crate) fn is_unready(&self) -> bool {
        self.unready.load(Ordering::Relaxed)
    }

    /// Lets it say whether it is ready.
    pub(crate) fn set_unready(&self, unready: bool) {
        self.unready.store(unready, Ordering::Relaxed);
    }

    /// The time of its start, by its clock.
    pub(super) fn started(&self) -> Timestamp {
        self.metrics.started()
    }

    /// The token that ends watches that are opened now.
    pub(super) fn end_of_watches(&self) -> CancellationToken {
        self.watches.lock().expect("no holder of this lock can panic").clone()
    }

    /// Ends all open watches; `next` is the token for later ones.
    pub(crate) fn end_watches(&self, next: CancellationToken) {
        let mut current = self.watches.lock().expect("no holder of this lock can panic");
        std::mem::replace(&mut *current, next).cancel();
    }
}
