//! The faults that strike a request: before it is authorized, before its body is read, or once the store has taken its write.
//!
//! ```text
//!   authenticated ──▶ preset ──▶ authorized ──▶ before: delay, status, preset, broken ──▶ verb ──▶ after the commit: delay, broken ──▶ body: cut, slow; watch
//! ```

use super::exchange::{Exchange, Trace, header};
use super::underway::Underway;
use crate::api::request::Body;
use crate::api::request::decode::readable;
use crate::audit::Watched;
use crate::auth::User;
use crate::error::{ApiError, ApiResult, Cause, Details};
use crate::fault::Strike;
use crate::http::body::{ReplyBody, RequestBody};
use crate::http::presets;
use crate::http::served::target;
use crate::http::struck::{Broken, Plan, StruckBody};
use crate::registry::Served;
use crate::view::View;
use control::fault::{Action, Connection, Delay, Do, Scope, Stale, Status, When};
use control::{Requested, Struck};
use http::Response;
use http::header::USER_AGENT;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// The attributes of a request that faults match.
struct FaultTarget<'e, 'r> {
    exchange: &'e Exchange<'r>,
    user: &'e str,
    body: Option<&'e serde_json::Value>,
}

impl Requested for FaultTarget<'_, '_> {
    fn verb(&self) -> &str {
        self.exchange.verb
    }

    fn group(&self) -> &str {
        self.exchange.resource.as_ref().map_or("", |path| path.group)
    }

    fn resource(&self) -> &str {
        self.exchange.resource.as_ref().map_or("", |path| path.resource)
    }

    fn subresource(&self) -> &str {
        self.exchange.resource.as_ref().map_or("", |path| path.subresource)
    }

    fn namespace(&self) -> &str {
        self.exchange.resource.as_ref().map_or("", |path| path.namespace)
    }

    fn name(&self) -> &str {
        self.exchange.resource.as_ref().map_or("", |path| path.name)
    }

    fn user(&self) -> &str {
        self.user
    }

    fn user_agent(&self) -> &str {
        header(self.exchange.parts, USER_AGENT)
    }

    fn replica(&self) -> usize {
        self.exchange.replica.index
    }

    fn query(&self, name: &str) -> Option<Cow<'_, str>> {
        self.exchange.query.has(name).then(|| self.exchange.query.get(name).into())
    }

    fn body(&self) -> Option<&serde_json::Value> {
        self.body
    }
}

impl Exchange<'_> {
    /// Whether there are rules, and the request is not this server's own.
    pub(super) fn may_be_struck(&self) -> bool {
        self.replica.cluster.faults.are_any() && !self.peer.is_own
    }

    /// Lets the first rule that matches strike the request, if it strikes before authorization. The response, if that is one that a rule makes.
    ///
    /// # Errors
    /// The status of a rule.
    pub(super) async fn strike_early(
        &self,
        user: &User,
        incoming: &mut RequestBody,
        trace: &mut Trace,
    ) -> ApiResult<Option<Response<ReplyBody>>> {
        let target = FaultTarget { exchange: self, user: &user.name, body: None };
        let Some(strike) = self.replica.cluster.faults.next_early(&target) else { return Ok(None) };
        let struck = self.strike(strike, false, None, trace).await;
        // The body is recorded, even though it is not used.
        trace.body = self.body(incoming).await?.bytes;
        struck
    }

    /// Lets the first rule that matches strike the request. The response, if that is one that a rule makes.
    ///
    /// # Errors
    /// The status of a rule.
    pub(super) async fn inject_fault(
        &self,
        user: &User,
        body: Option<&Body<'_>>,
        trace: &mut Trace,
    ) -> ApiResult<Option<Response<ReplyBody>>> {
        let body = body.and_then(|body| readable(body.content_type, &body.bytes)).map(Into::into);
        let target = FaultTarget { exchange: self, user: &user.name, body: body.as_ref() };
        let stores = self.is_for_store();
        let Some(strike) = self.replica.cluster.faults.next_match(&target, stores) else { return Ok(None) };
        self.strike(strike, stores, body.as_ref(), trace).await
    }

    /// Whether it is a write that is refused, or comes to the store.
    fn is_for_store(&self) -> bool {
        let Some(path) = self.resource.as_ref() else { return false };
        if !matches!(self.verb, "create" | "update" | "patch" | "delete" | "deletecollection")
            || self.replica.cluster.remotes().at(self.path).is_some()
        {
            return false;
        }
        let catalog = self.replica.cluster.catalog();
        let served = catalog.registry.path(path.group, path.version, path.resource);
        served.is_some_and(|served| {
            let handler = |target: Served<'_>| match target.subresource {
                Some(subresource) => subresource.handler,
                None => target.resource.rules.handler,
            };
            target(served, path, self.verb).map_or(true, |target| handler(target).stores())
        })
    }

    async fn strike(
        &self,
        strike: Strike,
        stores: bool,
        body: Option<&serde_json::Value>,
        trace: &mut Trace,
    ) -> ApiResult<Option<Response<ReplyBody>>> {
        let (id, removed) = (strike.id, strike.removed.clone());
        let actions = strike.actions.clone();
        let struck = trace.underway.insert(Box::new(Underway { strike, breaks: None, hold: None, view: None }));
        for action in actions.iter().filter(|action| !action.is_after_commit()) {
            match action {
                Action::Delay(delay) => self.pause(delay, &removed).await,
                Action::Status(status) => return Err(injected(status)),
                Action::Preset(preset) => return presets::answer(*preset, &self.about(body)),
                Action::Connection(connection) if connection.when == When::BeforeCommit => {
                    struck.breaks = Some(connection.clone());
                    if stores {
                        // Only once the write has been found good.
                        let cluster = self.replica.cluster.clone();
                        let hold = &self.replica.cluster.policy.write_hold;
                        struck.hold = Some(Arc::new(hold.or_stops(move || cluster.faults.confirm(id))));
                        continue;
                    }
                    return Err(ApiError::injected(500, 0));
                }
                Action::Stale(stale) => struck.view = Some(self.past(stale)?.into()),
                _ => {}
            }
        }
        Ok(None)
    }

    /// The view of a moment in the past.
    fn past(&self, stale: &Stale) -> ApiResult<View> {
        let store = &self.replica.cluster.store;
        let now = store.revision();
        let revision = stale.revision.unwrap_or_else(|| now.saturating_sub(stale.behind.unwrap_or_default()));
        let snapshot =
            store.snapshot_at(revision.min(now)).map_err(|expired| crate::api::too_old(revision, expired))?;
        Ok(View::at(snapshot, stale.force))
    }

    /// The facts that presets name. Of an object that is created the name is in the body.
    fn about<'a>(&'a self, body: Option<&'a serde_json::Value>) -> presets::About<'a> {
        let path = self.resource.as_ref();
        let named = body.and_then(|body| body["metadata"]["name"].as_str()).unwrap_or_default();
        presets::About {
            group: path.map_or("", |path| path.group),
            resource: path.map_or("", |path| path.resource),
            namespace: path.map_or("", |path| path.namespace),
            name: path.map(|path| path.name).filter(|name| !name.is_empty()).unwrap_or(named),
            revision: self.replica.cluster.store.revision(),
        }
    }

    async fn pause(&self, delay: &Delay, removed: &tokio_util::sync::CancellationToken) {
        let Some(seconds) = delay.seconds else { return removed.cancelled().await };
        let jitter = delay.jitter_seconds.map_or(0.0, |most| most * fastrand::f64());
        let time = Duration::try_from_secs_f64(seconds + jitter).unwrap_or(Duration::MAX);
        // Either way it is over.
        let _ = tokio::time::timeout(time, removed.cancelled()).await;
    }

    /// The response after a rule has struck it, and the note of that for the record.
    pub(super) async fn struck(
        &self,
        struck: Underway,
        response: Response<ReplyBody>,
        watched: Option<&Arc<Watched>>,
    ) -> (Response<ReplyBody>, Option<Box<Struck>>) {
        let Underway { strike, breaks, hold, .. } = struck;
        if hold.as_ref().is_some_and(|hold| !hold.has_stopped()) {
            // It was refused, or would have written nothing.
            return (response, None);
        }
        let written = self.ticket.written();
        let mut done = if hold.is_none() && strike.actions.iter().any(Action::is_after_commit) {
            if written.is_none() || !self.replica.cluster.faults.confirm(strike.id) {
                return (response, None);
            }
            self.after_commit(&strike, response).await
        } else {
            match breaks {
                Some(connection) => self.broken(&connection, &strike, response).await,
                None => response,
            }
        };
        let is_watch = matches!(done.body(), ReplyBody::Watch(_));
        if let Some(plan) = plan(&strike.actions, is_watch) {
            // A thawed watch goes on, and the rule stays.
            let removed = if plan.freezes() { strike.removed.child_token() } else { strike.removed.clone() };
            if let Some(watched) = watched.filter(|_| plan.freezes()) {
                watched.freeze(removed.clone());
            }
            done = done.map(|body| ReplyBody::Struck(Box::new(StruckBody::new(body, plan, removed.cancelled_owned()))));
        }
        let actions: Vec<String> = strike.actions.iter().map(|action| action.name().to_owned()).collect();
        let unfaithful = !strike.actions.iter().all(Action::is_faithful);
        let note =
            Struck { id: strike.id.text(), name: strike.name, actions, committed: written.is_some(), unfaithful };
        (done, Some(Box::new(note)))
    }

    async fn after_commit(&self, strike: &Strike, mut response: Response<ReplyBody>) -> Response<ReplyBody> {
        for action in strike.actions.iter().filter(|action| action.is_after_commit()) {
            match action {
                Action::Delay(delay) => self.pause(delay, &strike.removed).await,
                Action::Connection(connection) => response = self.broken(connection, strike, response).await,
                _ => {}
            }
        }
        response
    }

    /// The response of a connection that is broken in its place.
    async fn broken(
        &self,
        connection: &Connection,
        strike: &Strike,
        mut response: Response<ReplyBody>,
    ) -> Response<ReplyBody> {
        if connection.act == Do::Hang {
            tokio::select! {
                () = strike.removed.cancelled() => {}
                () = self.replica.shutdown.cancelled() => {}
            }
        }
        if connection.act == Do::Reset {
            self.peer.reset();
        }
        response.extensions_mut().insert(Broken { whole: connection.scope == Scope::Connection });
        response
    }
}

fn injected(status: &Status) -> ApiError {
    let retry_after = status.retry_after_seconds.unwrap_or_default();
    let mut error = match &status.details {
        None => ApiError::injected(status.code, retry_after),
        Some(details) => {
            let causes = details.causes.iter().map(|cause| Cause {
                reason: cause.reason.clone(),
                message: cause.message.clone(),
                field: cause.field.clone(),
            });
            ApiError::injected(status.code, 0).with_details(Details {
                name: details.name.clone(),
                group: details.group.clone(),
                kind: details.kind.clone(),
                uid: details.uid.clone(),
                causes: causes.collect(),
                retry_after_seconds: details.retry_after_seconds.unwrap_or(retry_after),
            })
        }
    };
    if let Some(message) = &status.message {
        error = error.with_message(|_| message.clone());
    }
    match &status.reason {
        Some(reason) => error.with_reason(status.code, reason.clone()),
        None => error,
    }
}

/// The plan for the body of the response, if the actions have one.
fn plan(actions: &[Action], is_watch: bool) -> Option<Plan> {
    let mut plan = Plan::default();
    let mut is_any = false;
    for action in actions {
        match action {
            Action::Body(body) => plan.body.clone_from(body),
            Action::Connection(Connection { act, when: When::AfterBytes, bytes, .. }) => {
                plan.breaks = Some((bytes.unwrap_or_default(), *act));
            }
            Action::Watch(watch) if is_watch => plan.watch = Some(watch.clone()),
            Action::Events(events) if is_watch => plan.events.clone_from(events),
            _ => continue,
        }
        is_any = true;
    }
    is_any.then_some(plan)
}
