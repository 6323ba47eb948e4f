//! The authenticators that ask others about a token, after this server's own did not know it.
//!
//! Ports the end of the chain in `pkg/kubeapiserver/authenticator/config.go` (v1.37.1), and `pkg/authentication/token/union` of
//! `k8s.io/apiserver` (v0.37.1).

use super::hooks::TokenWebhook;
use super::outcome::{Authentication, Notes, Refusal, Unknown};
use crate::error::aggregate;

/// The authenticators that ask others.
#[derive(Default)]
pub(crate) struct Others {
    webhook: Option<TokenWebhook>,
}

impl Others {
    /// Those.
    pub(crate) fn new(webhook: Option<TokenWebhook>) -> Others {
        Others { webhook }
    }

    /// Authenticates the token of a refused request, if it had one that others may know, for those audiences.
    ///
    /// # Errors
    /// The refusal, with the objections of others.
    pub(crate) async fn ask(&self, refusal: Refusal, audiences: &[String]) -> Result<Authentication, Refusal> {
        let Refusal { reason, notes, unknown: Some(Unknown { token, mut reasons }) } = refusal else {
            return Err(refusal);
        };
        let Some(webhook) = &self.webhook else { return Err(Refusal { reason, notes, unknown: None }) };
        match Box::pin(webhook.authenticate(&token, audiences)).await {
            Ok(Some((user, audiences))) => return Ok(Authentication { user, audiences, notes: Notes::default() }),
            Ok(None) => {}
            Err(why) => reasons.push(why),
        }
        Err(Refusal { reason: aggregate(reasons), notes, unknown: None })
    }
}
