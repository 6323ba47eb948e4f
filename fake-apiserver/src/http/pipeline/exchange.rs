//! A request with its parsed path, and what is noted of it on its way.

use super::underway::Underway;
use crate::api;
use crate::api::request::{Forward, Query};
use crate::audit::{Annotation, Audited, Watched};
use crate::auth::User;
use crate::auth::authorizer::{Attributes, Target};
use crate::auth::impersonation::Impersonated;
use crate::auth::requested::Selectors;
use crate::cluster::LiveObjects;
use crate::commit::Hold;
use crate::deadline::Deadline;
use crate::flow::Flow;
use crate::http::audit_id;
use crate::http::metrics::Series;
use crate::http::negotiate::Preferences;
use crate::http::peer::Peer;
use crate::http::replica::Replica;
use crate::http::route::{ResourcePath, Route, route, verb};
use crate::object::name::path_segment;
use crate::object::selector::exact_fields;
use crate::reconcile::Ticket;
use crate::registry::Registry;
use crate::view::View;
use bytes::Bytes;
use control::Struck;
use http::header::{CONNECTION, HeaderName, HeaderValue, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use http::request::Parts;
use jiff::Timestamp;
use std::borrow::Cow;
use std::sync::Arc;

/// A request with its parsed path.
pub(super) struct Exchange<'r> {
    pub(super) replica: &'r Arc<Replica>,
    pub(super) parts: &'r Parts,
    /// The path, without escapes.
    pub(super) path: &'r str,
    pub(super) peer: &'r Peer,
    pub(super) now: Timestamp,
    pub(super) audit_id: HeaderValue,
    pub(super) resource: Option<ResourcePath<'r>>,
    pub(super) verb: &'static str,
    pub(super) query: Query<'r>,
    /// The requirements of the field selector of a list, watch or deletecollection.
    pub(super) fields: Vec<(String, String)>,
    /// The consequences of its writes.
    pub(super) ticket: Ticket<'r>,
}

/// The facts about a request that are recorded besides the request itself.
#[derive(Default)]
pub(super) struct Trace {
    pub(super) user: Option<Arc<User>>,
    pub(super) impersonated: Option<Impersonated>,
    pub(super) authentication_error: Option<Box<str>>,
    /// Warnings that are sent also with a refusal.
    pub(super) warnings: Vec<String>,
    pub(super) annotations: Vec<Annotation>,
    /// The audit of the request; `None` if there is none.
    pub(super) audited: Option<Box<Audited>>,
    pub(super) body: Bytes,
    /// The series in which the request is counted.
    pub(super) counted: Option<Arc<Series>>,
    /// Whether a web page elsewhere may read the response.
    pub(super) is_cross_origin: bool,
    /// Whether a refusal has `nosniff`, whatever its reason.
    pub(super) nosniff: bool,
    /// The flow of the request, which its response names.
    pub(super) flow: Option<Arc<Flow>>,
    /// The fault that strikes the request.
    pub(super) underway: Option<Box<Underway>>,
    /// The note of it in the record.
    pub(super) struck: Option<Box<Struck>>,
    /// The watch that it has begun.
    pub(super) watched: Option<Arc<Watched>>,
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        self.replica.cluster.log.goes();
    }
}

impl<'r> Exchange<'r> {
    pub(super) fn new(replica: &'r Arc<Replica>, parts: &'r Parts, path: &'r str, peer: &'r Peer) -> Self {
        let query = Query::parse(parts.uri.query().unwrap_or_default());
        let resource = match route(path) {
            Route::Resource(path) => Some(path),
            Route::Other => None,
        };
        let watch = resource.as_ref().is_some_and(|path| path.watch_prefix) || query.flag("watch").unwrap_or(false);
        let named = resource.as_ref().is_some_and(|path| !path.name.is_empty() && !path.watch_prefix);
        let verb = verb(&parts.method, named, watch);
        let selects = resource.as_ref().is_some_and(|path| !path.watch_prefix)
            && matches!(verb, "list" | "watch" | "deletecollection");
        let fields = if selects { exact_fields(query.get("fieldSelector")) } else { Vec::new() };
        replica.cluster.log.comes();
        Exchange {
            replica,
            parts,
            path,
            peer,
            now: replica.clock.now(),
            audit_id: audit_id::of(&parts.headers),
            resource,
            verb,
            query,
            fields,
            ticket: replica.cluster.reconcilers.ticket(),
        }
    }

    /// The objects that authentication depends on.
    pub(super) fn objects(&self) -> LiveObjects<'_> {
        LiveObjects { cluster: &self.replica.cluster, ticket: &self.ticket }
    }

    /// The server for its act, with the view and the hold of a fault.
    pub(super) fn server<'s>(
        &'s self,
        registry: &'s Registry,
        view: Option<&'s View>,
        hold: Option<&'s Hold>,
    ) -> api::Server<'s> {
        let replica = self.replica;
        let (cluster, hold) = (&replica.cluster, hold.unwrap_or(&replica.cluster.policy.write_hold));
        api::Server {
            cluster,
            objects: self.objects(),
            commits: self.ticket.commits(&cluster.store).held(hold),
            registry,
            view: view.unwrap_or(&replica.view),
            clock: &replica.clock,
            measures: &replica.measures,
            shutdown: &replica.shutdown,
        }
    }

    /// The name for authorizers and auditors: a list or watch of a single object has that object's name.
    pub(super) fn name(&self) -> &str {
        let name = self.resource.as_ref().map(|path| path.name).unwrap_or_default();
        if !name.is_empty() || self.verb == "deletecollection" {
            return name;
        }
        let selected = self.fields.iter().find(|(field, _)| field == "metadata.name");
        selected.map(|(_, name)| name.as_str()).filter(|name| path_segment(name).is_empty()).unwrap_or_default()
    }

    /// The parts that matter if it is forwarded.
    pub(super) fn forward(&self, path: &ResourcePath<'_>) -> Forward<'r> {
        let upgrades =
            |value: &HeaderValue| value.as_bytes().to_ascii_lowercase().windows(7).any(|word| word == b"upgrade");
        Forward {
            path: self.path,
            query: self.parts.uri.query().unwrap_or_default(),
            is_root: !path.overlong && !self.path.ends_with('/'),
            upgrades: self.parts.headers.get_all(CONNECTION).iter().any(upgrades),
            upgrade: header(self.parts, UPGRADE),
            offered: header(self.parts, SEC_WEBSOCKET_PROTOCOL),
        }
    }

    pub(super) fn preferences(&self) -> Preferences<'_> {
        Preferences::of(&self.parts.headers, &self.query)
    }

    /// The verb for authorizers and auditors; of non-resource paths, the method in lower case.
    pub(super) fn audited_verb(&self) -> Cow<'static, str> {
        match self.resource {
            Some(_) => self.verb.into(),
            None => self.parts.method.as_str().to_ascii_lowercase().into(),
        }
    }

    /// The target for authorizers and auditors.
    pub(super) fn target(&self) -> Target<'_> {
        match &self.resource {
            Some(path) => Target::Resource {
                group: path.group,
                version: path.version,
                resource: path.resource,
                subresource: path.subresource,
                namespace: path.namespace(),
                name: self.name(),
            },
            None => Target::Path(self.path),
        }
    }

    /// The selectors for authorizers: of requests for several objects.
    fn selectors(&self) -> Selectors<'_> {
        let has_some = self.resource.as_ref().is_some_and(|path| !path.watch_prefix)
            && matches!(self.verb, "list" | "watch" | "deletecollection");
        match has_some {
            true => {
                Selectors::Written { fields: self.query.get("fieldSelector"), labels: self.query.get("labelSelector") }
            }
            false => Selectors::default(),
        }
    }

    pub(super) fn attributes<'a>(&'a self, user: &'a User, verb: &'a str, deadline: &'a Deadline) -> Attributes<'a> {
        Attributes { user, verb, target: self.target(), selectors: self.selectors(), deadline }
    }
}

/// The text of a header; "" without one.
pub(super) fn header(parts: &Parts, name: HeaderName) -> &str {
    parts.headers.get(name).and_then(|value| str::from_utf8(value.as_bytes()).ok()).unwrap_or_default()
}
