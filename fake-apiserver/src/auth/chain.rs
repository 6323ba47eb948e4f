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
use super::modes::SYSTEM_PRIVILEGED_GROUP;
use crate::deadline::Deadline;
use crate::error::{ApiResult, aggregate};
use crate::threads;
use arc_swap::ArcSwap;
use futures::FutureExt as _;
use std::sync::Arc;

/// The authorizers of a server, which may be replaced by others while it runs.
pub(crate) struct Authorizers(ArcSwap<Chain>);

/// Authorizers that are asked one after the other until one decides.
pub struct Chain(Vec<Link>);

/// An authorizer of a chain.
pub(crate) struct Link {
    /// The name, which goes before its reasons.
    pub(crate) name: String,
    pub(crate) decider: Decider,
}

/// The authorizer itself.
pub(crate) enum Decider {
    Own(Arc<dyn Authorizer>),
    Webhook(Box<AccessWebhook>),
}

impl Authorizers {
    /// Those of a chain.
    pub(crate) fn new(chain: Chain) -> Authorizers {
        Authorizers(ArcSwap::from_pointee(chain))
    }

    /// Replaces them.
    pub(crate) fn replace(&self, chain: Chain) {
        self.0.store(Arc::new(chain));
    }

    /// The decision about a request, if no webhook can be asked about any.
    pub(crate) fn at_once(&self, attributes: &Attributes<'_>) -> Option<ApiResult<Decision>> {
        let chain = self.0.load();
        // Without webhooks there is nothing to wait for.
        if chain.has_webhooks() { None } else { chain.decide(attributes).now_or_never() }
    }

    /// Decides about a request, which waits for the answers of webhooks.
    ///
    /// # Errors
    /// 504, if the deadline passes.
    pub(crate) async fn decide(&self, attributes: &Attributes<'_>) -> ApiResult<Decision> {
        self.0.load().decide(attributes).await
    }
}

impl Authorizer for Authorizers {
    /// The thread waits for the answers of webhooks.
    fn authorize(&self, attributes: &Attributes<'_>) -> ApiResult<Decision> {
        self.at_once(attributes).unwrap_or_else(|| threads::wait(self.decide(attributes)))
    }

    fn rules(&self, user: &User, namespace: &str, deadline: &Deadline) -> ApiResult<Rules> {
        self.0.load().rules(user, namespace, deadline)
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

    async fn decide(&self, attributes: &Attributes<'_>) -> ApiResult<Decision> {
        if attributes.user.is_in(SYSTEM_PRIVILEGED_GROUP) {
            return Ok(Decision::Allow(String::new()));
        }
        let (mut reasons, mut errors) = (Vec::new(), Vec::new());
        for Link { name, decider } in &self.0 {
            let decision = match decider {
                Decider::Own(authorizer) => authorizer.authorize(attributes)?,
                // Boxed, as calls take much room, and most servers make none.
                Decider::Webhook(webhook) => Box::pin(webhook.decide(attributes)).await?,
            };
            if decision.is_allowed() || decision.denies() {
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

    fn rules(&self, user: &User, namespace: &str, deadline: &Deadline) -> ApiResult<Rules> {
        let mut all = Rules::default();
        for link in &self.0 {
            let rules = match &link.decider {
                Decider::Own(authorizer) => authorizer.rules(user, namespace, deadline)?,
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
