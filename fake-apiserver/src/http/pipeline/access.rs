//! The steps that decide whether a request is served, and by whom: authentication, impersonation, seats, authorization.

use super::auditing;
use super::exchange::{Exchange, Trace};
use crate::auth::authorizer::{Attributes, Decision, forbidden};
use crate::auth::impersonation;
use crate::auth::{Authentication, Notes, Refusal, User};
use crate::clock::later;
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult};
use crate::flow::{Begin, Seat};
use crate::http::body::{ReplyBody, RequestBody};
use crate::http::flow::{Beginning, longest_wait};
use crate::http::forward::Forwarded;
use crate::http::limits::is_long_running;
use crate::http::time_limit::TimeLimit;
use crate::registry::RemoteService;
use futures::future::BoxFuture;
use http::Response;
use std::sync::Arc;
use tokio::time::Instant;

/// A result that is known now, or will be once others were asked. The future is boxed, as only few servers ask others.
pub(super) enum Known<'a, T> {
    Now(T),
    Later(BoxFuture<'a, T>),
}

impl Exchange<'_> {
    /// The user who makes the request.
    pub(super) fn authenticate<'a>(&'a self, trace: &'a mut Trace) -> Known<'a, ApiResult<Arc<User>>> {
        let cluster = &*self.replica.cluster;
        cluster.reconcilers.note_due(&self.ticket);
        let since = Instant::now();
        if let Some(user) = &self.peer.user {
            let audiences = cluster.policy.authenticator.api_audiences().to_vec();
            let known = Authentication { user: user.clone(), audiences, notes: Notes::default() };
            return Known::Now(self.authenticated(Ok(known), since, trace));
        }
        let certificate = self.peer.certificate.as_deref();
        let own = cluster.policy.authenticator.request(
            &self.parts.headers,
            self.path,
            certificate,
            self.now,
            &self.objects(),
        );
        match own {
            Err(refusal) if refusal.unknown.is_some() => Known::Later(Box::pin(async move {
                let audiences = cluster.policy.authenticator.api_audiences();
                let outcome = cluster.policy.others.ask(refusal, audiences, audiences, self.now).await;
                self.authenticated(outcome, since, trace)
            })),
            own => Known::Now(self.authenticated(own, since, trace)),
        }
    }

    fn authenticated(
        &self,
        outcome: Result<Authentication, Refusal>,
        since: Instant,
        trace: &mut Trace,
    ) -> ApiResult<Arc<User>> {
        match outcome {
            Ok(authentication) => {
                self.replica.metrics.authenticated(&authentication.user, since.elapsed());
                trace.warnings.clone_from(&authentication.notes.warnings);
                trace.annotations.clone_from(&authentication.notes.annotations);
                trace.user = Some(authentication.user.clone());
                Ok(authentication.user)
            }
            Err(refusal) => {
                trace.warnings = refusal.notes.warnings;
                trace.annotations = refusal.notes.annotations;
                let error = refusal.reason;
                self.replica.metrics.not_authenticated(!error.is_empty(), since.elapsed());
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
        let (rules, attributes) = (self.replica.cluster.authorizer(), self.attributes(&requester, &verb, deadline));
        let impersonated = self.replica.impersonation.authorize(rules, &attributes, &wanted)?;
        let user = impersonated.user.clone();
        if let Some(audited) = &mut trace.audited {
            audited.impersonates(&impersonated);
        }
        trace.impersonated = Some(impersonated);
        Ok(user)
    }

    /// The seats of the request, once it has some; none if it needs none.
    ///
    /// # Errors
    /// The seconds after which to try again.
    pub(super) fn seats<'a>(
        &'a self,
        user: &User,
        limit: Option<&TimeLimit>,
        trace: &mut Trace,
    ) -> Known<'a, Result<Option<Seat<'a>>, u64>> {
        let Some(control) = &self.replica.flow else { return Known::Now(Ok(None)) };
        let (verb, resource) = (self.audited_verb(), self.resource.as_ref());
        if is_long_running(&verb, resource.map_or("", |path| path.subresource)) {
            return Known::Now(Ok(None));
        }
        let beginning = Beginning {
            replica: self.replica,
            user,
            verb: &verb,
            target: self.target(),
            path: self.path,
            resource,
            query: &self.query,
            now: self.now,
        };
        let flow = beginning.flow(control);
        trace.flow = Some(flow.clone());
        match beginning.begin(control, flow) {
            Begin::Seated(seat) => Known::Now(Ok(Some(seat))),
            Begin::Refused(retry_after) => Known::Now(Err(retry_after)),
            Begin::Waits(waiting) => {
                let longest = limit.map(|limit| limit.duration).or(self.replica.cluster.policy.request_timeout);
                let until = later(Instant::now(), longest_wait(longest));
                Known::Later(Box::pin(async move { waiting.seat(until).await.map(Some) }))
            }
        }
    }

    /// The response of a server that extends this one.
    pub(super) async fn forward_to(
        &self,
        remote: &RemoteService,
        user: &User,
        body: &mut RequestBody,
    ) -> Response<ReplyBody> {
        let client = self.peer.address.map(|address| address.ip());
        let forwarded = Forwarded { replica: self.replica, parts: self.parts, user, audit_id: &self.audit_id, client };
        forwarded.answer(remote, body).await
    }

    /// The errors for which the request cannot be authorized; none if it is allowed.
    pub(super) fn authorize<'a>(
        &'a self,
        user: &'a User,
        trace: &'a mut Trace,
        deadline: &'a Deadline,
    ) -> Known<'a, ApiResult<Option<String>>> {
        let (authorizer, store) = (&self.replica.cluster.policy.authorizer, &self.replica.cluster.store);
        let verb = self.audited_verb();
        let attributes = self.attributes(user, &verb, deadline);
        let since = Instant::now();
        let told = move |decision: &_| self.replica.metrics.authorized(decision, since.elapsed());
        match authorizer.at_once(store, &attributes) {
            Some(decision) => {
                told(&decision);
                Known::Now(authorized(&attributes, decision, trace))
            }
            None => Known::Later(Box::pin(async move {
                let verb = self.audited_verb();
                let attributes = self.attributes(user, &verb, deadline);
                let decision = authorizer.decide(store, &attributes).await;
                told(&decision);
                authorized(&attributes, decision, trace)
            })),
        }
    }
}

fn authorized(
    attributes: &Attributes<'_>,
    decision: ApiResult<Decision>,
    trace: &mut Trace,
) -> ApiResult<Option<String>> {
    if trace.audited.is_some() {
        trace.annotations.extend(auditing::of_decision(&decision));
    }
    let decision = decision?;
    match (decision.is_allowed(), decision.error()) {
        (true, _) => Ok(None),
        (false, Some(error)) => Ok(Some(error.to_owned())),
        (false, None) => Err(forbidden(attributes, decision.reason())),
    }
}
