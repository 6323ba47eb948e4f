//! The pipeline of a request.
//!
//! ```text
//!   route ─▶ authenticate ─▶ impersonate ─▶ seats, limits ─▶ authorize ─▶ faults ─▶ body ─▶ verb or document ─▶ render ─▶ record
//!             401             400, 403       429              403          any       413      api/, discovery
//! ```

use super::audit_id::AUDIT_ID;
use super::body::{self, ReplyBody, RequestBody, Wire};
use super::computation::{Computation, Paced};
use super::cors::{self, Origins};
use super::flow;
use super::gzip;
use super::head;
use super::http_log;
use super::limits::Full;
use super::negotiate::Output;
use super::offload::{self, Answer, Late, Offload, SMALL};
use super::peer::Peer;
use super::presets::BeforeHandlers;
use super::replica::Replica;
use super::respond::{Rendering, refusal, too_many};
use super::route::decoded;
use super::served::{endpoint, is_elsewhere, target};
use super::struck::Broken;
use super::time_limit::TimeLimit;
use super::warnings;
use super::websocket;
use crate::api;
use crate::api::request::Body;
use crate::audit::Course;
use crate::clock::later;
use crate::error::{ApiError, ApiResult};
use crate::registry::Handler;
use access::Known;
use bytes::Bytes;
use exchange::{Exchange, Trace, header};
use http::header::{
    CACHE_CONTROL, CONTENT_TYPE, HeaderValue, ORIGIN, STRICT_TRANSPORT_SECURITY, USER_AGENT, X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{Method, Request, Response};
use hyper::body::Body as _;
use std::pin::pin;
use std::sync::Arc;
use tokio::time::{Instant, timeout, timeout_at};

/// Serves one request of a client. The future is boxed: it is large to move, and its code is compiled only once.
pub(crate) fn serve(replica: Arc<Replica>, peer: Arc<Peer>, mut request: Request<Wire>) -> Answer {
    let replica = replica.beside.routed(&mut request).unwrap_or(replica);
    let (parts, incoming) = request.into_parts();
    if let Some(answer) = head::answer(&parts) {
        return Box::pin(std::future::ready(answer));
    }
    let computation = Computation::new(replica.cluster.policy.turns.clone(), replica.shutdown.clone());
    let is_small = || incoming.size_hint().upper().is_some_and(|length| length < SMALL as u64);
    // A part of this process waits for its answer, however long it takes.
    if !offload::may_be_long(&parts) || peer.user.is_some() && is_small() {
        let offload = Offload::none(computation.clone());
        return Box::pin(Paced::new(Box::pin(exchange(replica, peer, parts, incoming, offload)), computation));
    }
    let offload = Offload::possible(computation);
    let answer = Box::pin(exchange(replica, peer, parts, incoming, offload.clone()));
    Box::pin(offload::drive(answer, offload))
}

/// Serves one request.
async fn exchange(
    replica: Arc<Replica>,
    peer: Arc<Peer>,
    parts: Parts,
    incoming: Wire,
    offload: Offload,
) -> Response<ReplyBody> {
    let since = Instant::now();
    let mut incoming = RequestBody::new(&parts.headers, incoming);
    let path = decoded(parts.uri.path());
    let exchange = Exchange::new(&replica, &parts, &path, &peer);
    let mut trace = Trace::default();
    let answer = exchange.answer_in_time(&mut incoming, &mut trace, &offload).await;
    // Also after an error: a deletecollection may have deleted some objects.
    if exchange.ticket.covers_any() {
        // Boxed, for it is rare.
        Box::pin(exchange.consequences(since)).await;
    }
    body::drain(&mut incoming).await;
    let answer = answer.map(|response| notes::counted(response, &mut trace, since));
    let sent = answer.and_then(|response| gzip::sent(response, &parts));
    let mut response = sent.unwrap_or_else(|error| {
        exchange.note_refusal(&mut trace, &error);
        exchange.refused(&error, trace.nosniff)
    });
    warnings::add(response.headers_mut(), &trace.warnings, &parts.headers);
    if trace.is_cross_origin {
        cors::add(response.headers_mut(), &parts.headers);
    }
    if let Some(flow) = &trace.flow {
        flow::name(response.headers_mut(), flow);
    }
    response = websocket::switched(&parts, exchange.with_common_headers(response));
    if let Some(series) = trace.counted.take() {
        series.count(response.status().as_u16(), since.elapsed());
    }
    if trace.audited.is_some() {
        Box::pin(trace.responds(&mut response)).await;
    }
    let verb = if exchange.resource.is_some() { exchange.verb } else { "" };
    http_log::write(&parts, &peer, verb, &exchange.audit_id, response.status(), since.elapsed());
    if let Some(underway) = trace.underway.take() {
        (response, trace.struck) = Box::pin(exchange.struck(*underway, response, trace.watched.as_ref())).await;
    }
    if replica.cluster.log.is_on() && !peer.is_own {
        let (is_lost, shown) = (response.extensions().get::<Broken>().is_some(), response.extensions().get().copied());
        exchange.record(trace, if is_lost { 0 } else { response.status().as_u16() }, shown, since);
    }
    if parts.method == Method::HEAD { response.map(ReplyBody::without_content) } else { response }
}

impl<'r> Exchange<'r> {
    /// The time limit; `None` for a watch.
    fn time_limit(&self) -> ApiResult<Option<TimeLimit>> {
        if self.verb == "watch" {
            return Ok(None);
        }
        let writes = self.resource.is_some() && !matches!(self.parts.method, Method::GET | Method::HEAD);
        TimeLimit::of(self.replica.cluster.policy.request_timeout, self.query.get("timeout"), writes).map(Some)
    }

    /// Waits until the consequences are dealt with, as long as the request has time, which came at `since`.
    async fn consequences(&self, since: Instant) {
        if let Ok(Some(limit)) = self.time_limit() {
            timeout_at(later(since, limit.of_consequences()), self.ticket.done()).await.ok();
        }
    }

    fn with_common_headers(&self, mut response: Response<ReplyBody>) -> Response<ReplyBody> {
        if response.extensions().get::<BeforeHandlers>().is_none() {
            response.headers_mut().entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache, private"));
        }
        if let Some(directives) = &self.replica.transport_security {
            response.headers_mut().insert(STRICT_TRANSPORT_SECURITY, directives.clone());
        }
        response.headers_mut().insert(AUDIT_ID, self.audit_id.clone());
        response
    }

    async fn answer_in_time(
        &self,
        incoming: &mut RequestBody,
        trace: &mut Trace,
        offload: &Offload,
    ) -> ApiResult<Response<ReplyBody>> {
        let limit = self.time_limit().inspect_err(|_| self.begin_audit(trace, Course::Refused))?;
        let Some(limit) = limit else { return self.answer(incoming, trace, offload, None).await };
        let exceeded = || limit.exceeded(self.preferences().refusal());
        if limit.is_over() {
            return Ok(exceeded());
        }
        offload.computation.limit(limit.duration);
        let answer = {
            // Pinned, for it is large to move.
            let answer = pin!(self.answer(incoming, trace, offload, Some(&limit)));
            timeout(limit.duration, answer).await
        };
        match answer {
            Ok(answer) if !offload.computation.is_late() => answer,
            _ => {
                (trace.is_cross_origin, trace.flow) = (false, None);
                self.note_refusal(trace, &ApiError::deadline_exceeded());
                Ok(exceeded())
            }
        }
    }

    async fn answer(
        &self,
        incoming: &mut RequestBody,
        trace: &mut Trace,
        offload: &Offload,
        limit: Option<&TimeLimit>,
    ) -> ApiResult<Response<ReplyBody>> {
        if let Some(origins) = &self.replica.origins
            && Box::pin(self.is_allowed(origins, trace, offload, limit)).await
            && self.parts.method == Method::OPTIONS
        {
            return Ok(cors::preflight().map(ReplyBody::whole));
        }
        let requester = match self.authenticate(trace) {
            Known::Now(requester) => requester,
            Known::Later(asking) => asking.await,
        };
        // The use of a legacy token is recorded even if it is refused.
        self.ticket.done().await;
        let requester = requester.inspect_err(|_| self.begin_audit(trace, Course::Refused))?;
        if self.replica.cluster.policy.auditor.is_some()
            && let Some(refused) = Box::pin(self.audit(trace)).await
        {
            return Ok(refused);
        }
        let deadline = offload.computation.deadline();
        let user = self.impersonate(requester, trace, &deadline)?;
        offload.computation.is_for(&user);
        if self.may_be_struck() && self.replica.cluster.faults.come_early() {
            // Boxed, for it is rare.
            let struck = Box::pin(self.strike_early(&user, incoming, trace)).await.transpose();
            if let Some(faulty) = struck {
                return faulty;
            }
        }
        let seats = match self.seats(&user, limit, trace) {
            Known::Now(seats) => seats,
            Known::Later(waiting) => waiting.await,
        };
        let _seats = match seats {
            Ok(seats) => seats,
            Err(retry_after) => return Ok(too_many(retry_after)),
        };
        let subresource = self.resource.as_ref().map_or("", |path| path.subresource);
        let _place = match self.replica.in_flight.enter(&self.audited_verb(), subresource, &user) {
            Ok(place) => place,
            Err(Full) => return Ok(too_many(1)),
        };
        let authorized = match self.authorize(&user, trace, &deadline) {
            Known::Now(authorized) => authorized,
            Known::Later(asking) => asking.await,
        };
        if let Some(error) = authorized? {
            return Ok(self.internal_error(&error));
        }
        let mut early = None;
        if self.may_be_struck() {
            if self.replica.cluster.faults.read_bodies() {
                early = Some(Box::new(self.body(incoming).await?));
            }
            // Boxed, for it is rare.
            let struck = Box::pin(self.inject_fault(&user, early.as_deref(), trace)).await.transpose();
            if let Some(faulty) = struck {
                // The body is recorded, even though it is not used.
                trace.body = self.body_or(early, incoming).await?.bytes;
                return faulty;
            }
        }
        let remotes = self.replica.cluster.remotes();
        if let Some(remote) = remotes.at(self.path).cloned() {
            drop(remotes);
            return Ok(Box::pin(self.forward_to(&remote, &user, incoming)).await);
        }
        drop(remotes);
        let catalog = self.replica.cluster.catalog();
        // Additional slashes before a path matter to its handler, and not to authorization.
        let Some(path) = self.resource.as_ref().filter(|_| !self.path.starts_with("//")) else {
            self.count_document(trace);
            self.leave(offload, limit).await;
            return self.audited_document(trace, &catalog, &deadline).await;
        };
        let target = match catalog.registry.path(path.group, path.version, path.resource) {
            Some(served) if is_elsewhere(served, path, self.verb) => {
                return self.audited_document(trace, &catalog, &deadline).await;
            }
            Some(served) => target(served, path, self.verb)?,
            None if catalog.registry.has_built_in(path.group, path.version) => return Err(ApiError::no_such_path()),
            None => return self.audited_document(trace, &catalog, &deadline).await,
        };
        let handler = target.subresource.map(|subresource| subresource.handler);
        if self.parts.method == Method::HEAD && target.version.has_routes() && handler != Some(Handler::Proxy) {
            return Err(ApiError::method_not_routed());
        }
        let labels = self.labels(target, path);
        trace.counted = Some(self.replica.metrics.series(labels, Some(target), &self.replica.cluster));
        if let (Some(audited), Some(notice)) = (trace.audited.as_mut(), &target.version.deprecation) {
            audited.is_for_deprecated(notice.removed_in);
        }
        let connects = handler.is_some_and(Handler::connects);
        let (output, body) = match connects {
            true => (Output { form: None, encoding: self.preferences().refusal() }, self.no_body()),
            false => {
                let output = self.preferences().output(endpoint(target, self.verb), target.version.protobuf)?;
                (output, self.body_or(early, incoming).await?)
            }
        };
        trace.body.clone_from(&body.bytes);
        let past = trace.underway.as_mut().and_then(|underway| underway.view.take());
        let hold = trace.underway.as_ref().and_then(|underway| underway.hold.clone());
        let mut request = api::Request {
            act: api::Act {
                server: self.server(&catalog.registry, past.as_deref(), hold.as_deref()),
                target: target.at(path.namespace, path.name),
                now: self.now,
                user,
                is_own: false,
                user_agent: header(self.parts, USER_AGENT),
                verb: self.verb,
                ends: limit.map(|limit| later(Instant::now(), limit.duration)),
                deadline,
                warnings: std::mem::take(&mut trace.warnings),
                annotations: &mut trace.annotations,
            },
            query: &self.query,
            forward: connects.then(|| Box::new(self.forward(path))),
            body,
            audited: trace.audited.as_deref_mut(),
        };
        self.leave(offload, limit).await;
        if request.body.bytes.len() >= SMALL {
            offload.computation.take_turn();
        }
        let result = match &hold {
            None => api::dispatch(&mut request, self.verb).await,
            // Boxed, for it is rare.
            Some(hold) => Box::pin(hold.unless_stopped(api::dispatch(&mut request, self.verb)))
                .await
                .unwrap_or_else(|| Err(ApiError::injected(500, 0))),
        };
        let rendering = Rendering {
            replica: self.replica,
            version: request.target.version,
            subresource: request.target.subresource,
            output,
            query: &self.query,
            now: self.now,
            computation: &offload.computation,
            deadline: &request.act.deadline,
        };
        let responded = match (result, request.audited.as_deref_mut()) {
            (Ok(reply), None) => rendering.respond(reply),
            (Ok(reply), Some(audited)) => Box::pin(auditing::responded(rendering, reply, audited)).await,
            (Err(error), _) => Err(error),
        };
        let warnings = std::mem::take(&mut request.warnings);
        let mut response = responded.unwrap_or_else(|error| {
            self.note_refusal(trace, &error);
            refusal(&error, self.preferences().refusal())
        });
        warnings::add(response.headers_mut(), &warnings, &self.parts.headers);
        Ok(response)
    }

    /// Whether the request comes from a web page of an allowed origin, which then may read the response.
    async fn is_allowed(
        &self,
        origins: &Origins,
        trace: &mut Trace,
        offload: &Offload,
        limit: Option<&TimeLimit>,
    ) -> bool {
        let Some(origin) = self.parts.headers.get(ORIGIN).filter(|origin| !origin.is_empty()) else { return false };
        if origin.len() >= SMALL {
            self.leave(offload, limit).await;
            offload.computation.take_turn();
        }
        trace.is_cross_origin = origins.allow(origin, &offload.computation.deadline());
        trace.is_cross_origin
    }

    /// Continues as a task of its own, if the request may, and has a time limit.
    async fn leave(&self, offload: &Offload, limit: Option<&TimeLimit>) {
        if let Some(limit) = limit {
            let answer = || self.with_common_headers(limit.exceeded(self.preferences().refusal()));
            offload.leave(|| Late { after: limit.duration, answer: answer() }).await;
        }
    }

    /// The response for a refusal before the verb.
    fn refused(&self, error: &ApiError, nosniff: bool) -> Response<ReplyBody> {
        let mut response = refusal(error, self.preferences().refusal());
        if nosniff || error.reason() == "Forbidden" {
            response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        }
        response
    }

    /// No body, for requests whose body is not read.
    fn no_body(&self) -> Body<'r> {
        Body { content_type: header(self.parts, CONTENT_TYPE), bytes: Bytes::new() }
    }

    /// The body, unless it has been read.
    async fn body_or(&self, early: Option<Box<Body<'r>>>, incoming: &mut RequestBody) -> ApiResult<Body<'r>> {
        match early {
            Some(body) => Ok(*body),
            None => self.body(incoming).await,
        }
    }

    async fn body(&self, incoming: &mut RequestBody) -> ApiResult<Body<'r>> {
        let content_type = header(self.parts, CONTENT_TYPE);
        let bytes = match self.parts.method {
            Method::GET | Method::HEAD => Bytes::new(),
            _ => body::read(incoming).await?,
        };
        Ok(Body { content_type, bytes })
    }
}

mod access;
mod auditing;
mod document;
mod exchange;
mod faults;
mod notes;
#[cfg(test)]
mod tests;
mod underway;
