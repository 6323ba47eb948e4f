//! The steps that decide whether a request is served: authentication, impersonation, authorization, faults.

use super::auditing;
use super::exchange::{Exchange, Trace, header};
use crate::auth::User;
use crate::auth::authorizer::forbidden;
use crate::auth::impersonation;
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult};
use crate::fault::{Action, FaultTarget};
use crate::http::body::ReplyBody;
use http::Response;
use http::header::USER_AGENT;
use std::sync::Arc;

impl Exchange<'_> {
    pub(super) async fn authenticate(&self, trace: &mut Trace) -> ApiResult<Arc<User>> {
        let cluster = &*self.replica.cluster;
        cluster.reconcilers.note_due(&self.ticket);
        let certificate = self.peer.certificate.as_deref();
        let own = cluster.authenticator.request(&self.parts.headers, self.path, certificate, self.now, &self.objects());
        let outcome = match own {
            Ok(authentication) => Ok(authentication),
            Err(refusal) => {
                let audiences = cluster.authenticator.api_audiences();
                cluster.others.ask(refusal, audiences, audiences, self.now).await
            }
        };
        match outcome {
            Ok(authentication) => {
                self.replica.metrics.authenticated("success");
                trace.warnings.clone_from(&authentication.notes.warnings);
                trace.annotations.clone_from(&authentication.notes.annotations);
                trace.user = Some(authentication.user.clone());
                Ok(authentication.user)
            }
            Err(refusal) => {
                trace.warnings = refusal.notes.warnings;
                trace.annotations = refusal.notes.annotations;
                let error = refusal.reason;
                self.replica.metrics.authenticated(if error.is_empty() { "failure" } else { "error" });
                if !error.is_empty() {
                    tracing::warn!(replica = self.replica.index, err = %error, "Unable to authenticate the request");
                }
                trace.authentication_error = Some(error.into());
                Err(ApiError::unauthorized())
            }
        }
    }

    /// The user to impersonate, if `requester` is allowed to; without impersonation headers, `requester`.
    pub(super) fn impersonate(
        &self,
        requester: Arc<User>,
        trace: &mut Trace,
        deadline: &Deadline,
    ) -> ApiResult<Arc<User>> {
        let wanted = impersonation::wanted(&self.parts.headers).inspect_err(|_| trace.nosniff = true)?;
        let Some(wanted) = wanted else { return Ok(requester) };
        let verb = self.audited_verb();
        let (rules, attributes) = (&*self.replica.cluster.authorizer, self.attributes(&requester, &verb, deadline));
        let impersonated = self.replica.impersonation.authorize(rules, &attributes, &wanted)?;
        let user = impersonated.user.clone();
        if let Some(audited) = &mut trace.audited {
            audited.impersonates(&impersonated);
        }
        trace.impersonated = Some(impersonated);
        Ok(user)
    }

    /// The response to a request that cannot be authorized for errors; none if it is allowed.
    pub(super) async fn authorize(
        &self,
        user: &User,
        trace: &mut Trace,
        deadline: &Deadline,
    ) -> ApiResult<Option<Response<ReplyBody>>> {
        let verb = self.audited_verb();
        let attributes = self.attributes(user, &verb, deadline);
        let decision = self.replica.cluster.authorizer.decide(&attributes).await;
        if trace.audited.is_some() {
            trace.annotations.extend(auditing::of_decision(&decision));
        }
        let decision = decision?;
        match (decision.is_allowed(), decision.error()) {
            (true, _) => Ok(None),
            (false, Some(error)) => Ok(Some(self.internal_error(error))),
            (false, None) => Err(forbidden(&attributes, decision.reason())),
        }
    }

    /// Injects the first fault that matches the request.
    pub(super) async fn inject_fault(&self, user: &User) -> ApiResult<()> {
        let mut target = FaultTarget {
            verb: self.verb,
            user: &user.name,
            user_agent: header(self.parts, USER_AGENT),
            ..FaultTarget::default()
        };
        if let Some(path) = &self.resource {
            target.resource = path.resource;
            target.subresource = path.subresource;
            target.namespace = path.namespace;
            target.name = path.name;
        }
        match self.replica.cluster.faults.next_match(&target) {
            None => Ok(()),
            Some((Action::Status { code, retry_after_seconds }, _)) => {
                Err(ApiError::injected(code, retry_after_seconds.unwrap_or_default()))
            }
            Some((Action::Delay(duration), removed)) => {
                // Either way it is over.
                let _ = Box::pin(tokio::time::timeout(duration, removed.cancelled())).await;
                Ok(())
            }
        }
    }
}
