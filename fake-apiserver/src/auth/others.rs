//! The authenticators that ask others about a token, after this server's own did not know it.
//!
//! Ports the end of the chain in `pkg/kubeapiserver/authenticator/config.go` (v1.37.1), and `pkg/authentication/token/union` of
//! `k8s.io/apiserver` (v0.37.1).

use super::hooks::TokenWebhook;
use super::issuers::Issuers;
use super::outcome::{Authentication, Notes, Refusal, Unknown};
use super::service_account::intersection;
use crate::error::aggregate;
use jiff::Timestamp;
use std::sync::Arc;

/// The authenticators that ask others.
#[derive(Default)]
pub(crate) struct Others {
    issuers: Arc<Issuers>,
    webhook: Option<TokenWebhook>,
}

impl Others {
    /// Those.
    pub(crate) fn new(issuers: Arc<Issuers>, webhook: Option<TokenWebhook>) -> Others {
        Others { issuers, webhook }
    }

    /// The issuers whose tokens are good.
    pub(crate) fn issuers(&self) -> &Issuers {
        &self.issuers
    }

    /// Authenticates the token of a refused request, if it had one that others may know, for those audiences; `own` are the server's.
    ///
    /// # Errors
    /// The refusal, with the objections of others.
    pub(crate) async fn ask(
        &self,
        refusal: Refusal,
        own: &[String],
        audiences: &[String],
        now: Timestamp,
    ) -> Result<Authentication, Refusal> {
        let Refusal { notes, unknown: Some(Unknown { token, mut reasons }), .. } = refusal else {
            return Err(refusal);
        };
        let good = |user, audiences| Ok(Authentication { user, audiences, notes: Notes::default() });
        // Their tokens are for this server; for whom else they do not say.
        let common = intersection(own, audiences);
        if !common.is_empty() {
            match Box::pin(self.issuers.authenticate(&token, now)).await {
                Ok(Some(user)) => return good(Arc::new(user.authenticated()), common),
                Ok(None) => {}
                Err(why) => reasons.push(why),
            }
        }
        if let Some(webhook) = &self.webhook {
            match Box::pin(webhook.authenticate(&token, audiences)).await {
                Ok(Some((user, audiences))) => return good(user, audiences),
                Ok(None) => {}
                Err(why) => reasons.push(why),
            }
        }
        Err(Refusal { reason: aggregate(reasons), notes, unknown: None })
    }
}
