//! Priority and fairness of requests: their flow, which the response names, and their seats.
//!
//! Follows `pkg/server/filters/priority-and-fairness.go` of `k8s.io/apiserver` (v0.37.1).

use super::replica::Replica;
use super::route::ResourcePath;
use crate::api::request::Query;
use crate::auth::User;
use crate::auth::authorizer::Target;
use crate::flow::{About, Asked, Begin, Flow, FlowControl, Stored, Wanted, dump, width};
use crate::store::Scope;
use bytes::Bytes;
use http::Response;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use jiff::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// `ResponseHeaderMatchedFlowSchemaUID` and `ResponseHeaderMatchedPriorityLevelConfigurationUID`.
const HEADERS: [HeaderName; 2] = [
    HeaderName::from_static("x-kubernetes-pf-flowschema-uid"),
    HeaderName::from_static("x-kubernetes-pf-prioritylevel-uid"),
];
/// The longest time that a request waits.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// The number of objects of which the size of all is estimated.
const SAMPLES: usize = 8;

/// A request that begins.
pub(super) struct Beginning<'a> {
    pub(super) replica: &'a Replica,
    pub(super) user: &'a User,
    pub(super) verb: &'a str,
    pub(super) target: Target<'a>,
    pub(super) path: &'a str,
    pub(super) resource: Option<&'a ResourcePath<'a>>,
    pub(super) query: &'a Query<'a>,
    /// When it came.
    pub(super) now: Timestamp,
}

/// Adds the uids of the flow schema and of the priority level of a request.
pub(super) fn name(headers: &mut HeaderMap, flow: &Flow) {
    for (header, uid) in HEADERS.into_iter().zip(&flow.uids) {
        if let Ok(uid) = HeaderValue::from_maybe_shared(uid.clone()) {
            headers.insert(header, uid);
        }
    }
}

/// The time that a request with this limit may wait, or a watch of a server that has that one.
pub(super) fn longest_wait(limit: Option<Duration>) -> Duration {
    limit.map_or(LONGEST_WAIT, |limit| (limit / 4).min(LONGEST_WAIT))
}

/// The page at the path, if there is one.
pub(super) fn page(replica: &Replica, path: &str, query: &Query<'_>) -> Option<Response<Bytes>> {
    let control = replica.flow.as_ref()?;
    let has_details = !query.get("includeRequestDetails").is_empty();
    let text = dump(path, has_details, || control.told(&replica.cluster.store).1)?;
    let mut response = Response::new(text.into());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    Some(response)
}

impl<'a> Beginning<'a> {
    fn asked(&self) -> Asked<'a> {
        Asked { user: self.user, verb: self.verb, target: self.target }
    }

    /// The flow of the request.
    pub(super) fn flow(&self, control: &FlowControl) -> Arc<Flow> {
        control.classify(&self.replica.cluster.store, &self.asked())
    }

    /// Begins the request.
    pub(super) fn begin<'f>(&self, control: &'f FlowControl, flow: Arc<Flow>) -> Begin<'f> {
        let schema = flow.schema.clone();
        let about = |distinguisher: &str, seats: usize| self.about(&schema.name, distinguisher, seats);
        control.begin(flow, &self.asked(), |widest| self.width(widest), about)
    }

    /// The seats that it needs.
    fn width(&self, widest: Option<usize>) -> usize {
        let (Some(path), true) = (self.resource, matches!(self.verb, "list" | "watch")) else { return 1 };
        let Target::Resource { name, .. } = self.target else { return 1 };
        let query = self.query;
        let wanted = Wanted {
            is_watch: self.verb == "watch",
            is_single: !name.is_empty(),
            selects: !query.get("fieldSelector").is_empty() || !query.get("labelSelector").is_empty(),
            limit: query.get("limit"),
            timeout: query.get("timeoutSeconds"),
            continues: query.get("continue"),
            revision: query.get("resourceVersion"),
            revision_match: query.get("resourceVersionMatch"),
            sends_initial_events: query.flag("sendInitialEvents").unwrap_or(false),
        };
        width(&wanted, || self.stored(path), widest)
    }

    /// The objects of its resource, whose size is estimated from some of them.
    fn stored(&self, path: &ResourcePath<'_>) -> Option<Stored> {
        let cluster = &self.replica.cluster;
        let id = cluster.catalog().registry.path(path.group, path.version, path.resource)?.resource.id;
        let slice = cluster.store.snapshot().slice(&Scope::all(id), "");
        let count = slice.len();
        let sizes: Vec<usize> = slice.iter().take(SAMPLES).map(|entry| entry.json().len()).collect();
        Some(Stored { count, bytes: sizes.iter().sum::<usize>() / sizes.len().max(1) })
    }

    /// The facts about it for people, while it waits.
    fn about(&self, schema: &str, distinguisher: &str, seats: usize) -> About {
        let (api_version, resource, subresource, namespace, name) = match self.target {
            Target::Resource { group, version, resource, subresource, namespace, name } => {
                let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
                (api_version, resource, subresource, namespace, name)
            }
            Target::Path(_) => (String::new(), "", "", "", ""),
        };
        About {
            schema: schema.into(),
            distinguisher: distinguisher.into(),
            seats,
            user: self.user.name.as_str().into(),
            verb: self.verb.into(),
            path: self.path.into(),
            namespace: namespace.into(),
            name: name.into(),
            api_version: api_version.into(),
            resource: resource.into(),
            subresource: subresource.into(),
            arrived: self.now.to_string().into(),
        }
    }
}
