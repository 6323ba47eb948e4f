//! The chain of authorizers, which are asked in order.
//!
//! ```text
//!   system:masters ── no opinion ──▶ first ── no opinion ──▶ second ... ── no opinion ──▶ 403, with all reasons
//!        └─▶ allow                     ├─▶ allow                                            or 500, with all errors
//!                                      └─▶ deny: 403
//! ```
//! Ports `pkg/kubeapiserver/authorizer/reload.go` (v1.37.1), and `authorizerfactory` and `union` of `k8s.io/apiserver/pkg/authorization`
//! (v0.37.1).

use super::User;
use super::authorizer::{Attributes, Authorizer, Decision, Failure, Rules};
use super::hooks::AccessWebhook;
use super::modes::{AuthorizationMode, SYSTEM_PRIVILEGED_GROUP};
use crate::deadline::Deadline;
use crate::error::{ApiResult, aggregate};
use crate::store::Store;
use crate::threads;
use arc_swap::ArcSwap;
use futures::FutureExt as _;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The authorizers of a server, which may be replaced by others while it runs.
pub(crate) struct Authorizers {
    chain: ArcSwap<Chain>,
    /// The decisions of all that there were, by their names.
    decisions: Mutex<BTreeMap<Named, Arc<Decisions>>>,
}

/// The type and the name of an authorizer.
type Named = (&'static str, String);

/// The numbers of requests that an authorizer has decided about, as metrics tell of them (`pkg/authorization/metrics`).
#[derive(Debug, Default)]
pub(crate) struct Decisions {
    allowed: AtomicU64,
    denied: AtomicU64,
}

/// Authorizers that are asked one after the other until one decides.
pub struct Chain(Vec<Link>);

/// An authorizer of a chain.
pub(crate) struct Link {
    mode: AuthorizationMode,
    /// The name, which goes before its reasons.
    name: String,
    decider: Decider,
    decisions: Arc<Decisions>,
}

impl Link {
    /// An authorizer of that type and name.
    pub(crate) fn new(mode: AuthorizationMode, name: String, decider: Decider) -> Link {
        Link { mode, name, decider, decisions: Arc::default() }
    }
}

/// The authorizer itself.
pub(crate) enum Decider {
    Own(Arc<dyn Authorizer>),
    Webhook(Box<AccessWebhook>),
}

impl Authorizers {
    /// Those of a chain.
    pub(crate) fn new(chain: Chain) -> Authorizers {
        let authorizers = Authorizers { chain: ArcSwap::from_pointee(Chain(Vec::new())), decisions: Mutex::default() };
        authorizers.replace(chain);
        authorizers
    }

    /// Replaces them. Those of the same names count on.
    pub(crate) fn replace(&self, mut chain: Chain) {
        let mut known = self.decisions.lock().unwrap_or_else(PoisonError::into_inner);
        for Link { mode, name, decisions, .. } in &mut chain.0 {
            *decisions = known.entry((mode.as_str(), name.clone())).or_default().clone();
        }
        self.chain.store(Arc::new(chain));
    }

    /// The numbers of decisions, with the words for them, by the types and names of authorizers.
    pub(crate) fn decisions(&self) -> Vec<(Named, [(&'static str, u64); 2])> {
        let known = self.decisions.lock().unwrap_or_else(PoisonError::into_inner);
        let told = |decisions: &Decisions| {
            let number = |count: &AtomicU64| count.load(Ordering::Relaxed);
            [("allowed", number(&decisions.allowed)), ("denied", number(&decisions.denied))]
        };
        known.iter().map(|(named, decisions)| (named.clone(), told(decisions))).collect()
    }

    /// Counts from 0 again.
    pub(crate) fn forget_decisions(&self) {
        for decisions in self.decisions.lock().unwrap_or_else(PoisonError::into_inner).values() {
            decisions.allowed.store(0, Ordering::Relaxed);
            decisions.denied.store(0, Ordering::Relaxed);
        }
    }

    /// The decision about a request, if no webhook can be asked about any.
    pub(crate) fn at_once(&self, store: &Store, attributes: &Attributes<'_>) -> Option<ApiResult<Decision>> {
        let chain = self.chain.load();
        // Without webhooks there is nothing to wait for.
        if chain.has_webhooks() { None } else { chain.decide(store, attributes).now_or_never() }
    }

    /// Decides about a request, which waits for the answers of webhooks.
    ///
    /// # Errors
    /// 504, if the deadline passes.
    pub(crate) async fn decide(&self, store: &Store, attributes: &Attributes<'_>) -> ApiResult<Decision> {
        self.chain.load().decide(store, attributes).await
    }
}

impl Authorizer for Authorizers {
    /// The thread waits for the answers of webhooks.
    fn authorize(&self, store: &Store, attributes: &Attributes<'_>) -> ApiResult<Decision> {
        self.at_once(store, attributes).unwrap_or_else(|| threads::wait(self.decide(store, attributes)))
    }

    fn rules(&self, store: &Store, user: &User, namespace: &str, deadline: &Deadline) -> ApiResult<Rules> {
        self.chain.load().rules(store, user, namespace, deadline)
    }
}

impl Chain {
    /// A chain of those authorizers, in this order.
    pub(crate) fn new(links: Vec<Link>) -> Chain {
        Chain(links)
    }

    fn has_webhooks(&self) -> bool {
        self.0.iter().any(|link| matches!(link.decider, Decider::Webhook(_)))
    }

    async fn decide(&self, store: &Store, attributes: &Attributes<'_>) -> ApiResult<Decision> {
        if attributes.user.is_in(SYSTEM_PRIVILEGED_GROUP) {
            return Ok(Decision::Allow(String::new()));
        }
        let (mut reasons, mut errors) = (Vec::new(), Vec::new());
        for Link { name, decider, decisions, .. } in &self.0 {
            let decision = match decider {
                Decider::Own(authorizer) => authorizer.authorize(store, attributes)?,
                // Boxed, as calls take much room, and most servers make none.
                Decider::Webhook(webhook) => Box::pin(webhook.decide(attributes)).await?,
            };
            if decision.is_allowed() || decision.denies() {
                let count = if decision.is_allowed() { &decisions.allowed } else { &decisions.denied };
                count.fetch_add(1, Ordering::Relaxed);
                return Ok(decision);
            }
            if !decision.reason().is_empty() {
                reasons.push(format!("{name}: {}", decision.reason()));
            }
            errors.extend(decision.error().map(str::to_owned));
        }
        let reason = reasons.join("\n");
        Ok(match errors.is_empty() {
            true => Decision::NoOpinion(reason),
            false => Decision::Failed(Box::new(Failure { denies: false, reason, error: aggregate(errors) })),
        })
    }

    fn rules(&self, store: &Store, user: &User, namespace: &str, deadline: &Deadline) -> ApiResult<Rules> {
        let mut all = Rules::default();
        for link in &self.0 {
            let rules = match &link.decider {
                Decider::Own(authorizer) => authorizer.rules(store, user, namespace, deadline)?,
                Decider::Webhook(_) => Rules {
                    incomplete: true,
                    errors: vec!["webhook authorizer does not support user rule resolution".into()],
                    ..Rules::default()
                },
            };
            all.resources.extend(rules.resources);
            all.paths.extend(rules.paths);
            all.incomplete |= rules.incomplete;
            all.errors.extend(rules.errors);
        }
        Ok(all)
    }
}
