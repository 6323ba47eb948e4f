//! The verbs, one a file: options, then the store, then the reply. Knows no HTTP.

mod admission;
mod binding;
mod cluster_roles;
mod continue_token;
mod create;
mod decode;
mod delete;
mod delete_collection;
mod draft;
mod escalation;
mod get;
mod list;
mod namespace_controller;
mod namespaces;
mod options;
mod patch;
mod preconditions;
mod rbac_policy;
mod reviews;
mod selection;
mod token;
mod token_tracking;
mod update;
mod watch;

pub(crate) use cluster_roles::Aggregator;
pub(crate) use list::Listing;
pub(crate) use rbac_policy::node_rules;
pub(crate) use token::record_use as record_token_use;
pub(crate) use token_tracking::TokenTracking;
pub(crate) use watch::{Watch, too_old};

use crate::auth::User;
use crate::cluster::Cluster;
use crate::error::{ApiError, ApiResult};
use crate::http::{Body, Query};
use crate::registry::{Resource, Subresource, Version};
use crate::schema;
use crate::store::{Key, ResourceId};
use crate::view::View;
use bytes::Bytes;
use decode::Expected;
use jiff::Timestamp;
use serde_json::Value;
use std::sync::Arc;

/// A request for a served resource: routed, authenticated and authorized.
pub(crate) struct Request<'r> {
    pub(crate) cluster: &'r Cluster,
    /// How far the replica sees.
    pub(crate) view: &'r View,
    /// What the clock of the replica that serves it shows.
    pub(crate) now: Timestamp,
    pub(crate) user: Arc<User>,
    /// What is stored.
    pub(crate) kind: &'r Resource,
    /// How it is served.
    pub(crate) version: &'r Version,
    pub(crate) resource: ResourceId,
    /// Empty for cluster-scoped resources, and for all namespaces.
    pub(crate) namespace: &'r str,
    /// Empty for the collection.
    pub(crate) name: &'r str,
    pub(crate) subresource: Option<&'r Subresource>,
    pub(crate) query: &'r Query<'r>,
    pub(crate) body: Body<'r>,
    /// To be sent as `Warning` headers.
    pub(crate) warnings: Vec<String>,
    /// For the audit event.
    pub(crate) annotations: Vec<(&'static str, String)>,
    /// What a refusal may have been for want of.
    pub(crate) awaited: Option<Key>,
}

/// What a verb answers.
pub(crate) enum Reply {
    /// An object, whole: JSON and a line feed.
    Object {
        code: u16,
        line: Bytes,
    },
    List(Listing),
    Watch(Watch),
    /// A `Status` that tells of a deletion.
    Deleted {
        name: String,
        group: String,
        resource: String,
        uid: String,
    },
    /// A `Status` that tells of success, and no more.
    Success {
        code: u16,
    },
}

impl Reply {
    fn object(code: u16, line: Bytes) -> Self {
        Reply::Object { code, line }
    }
}

impl Request<'_> {
    fn key(&self) -> Key {
        Key::new(self.resource, self.namespace, self.name)
    }

    fn not_found(&self) -> ApiError {
        ApiError::not_found(self.version.qualified(), self.name)
    }
}

/// A created object that is not stored.
fn encode_reply(expected: &Expected<'_>, object: &Value) -> ApiResult<Reply> {
    let mut line = schema::encode(object, expected.ty).json;
    line.push(b'\n');
    Ok(Reply::object(201, line.into()))
}

/// Makes what a real server makes at its first start.
pub(crate) fn create_initial_objects(cluster: &Cluster, now: Timestamp) -> ApiResult<()> {
    namespaces::create_initial(cluster, now)?;
    if cluster.rbac.is_some() {
        rbac_policy::create(cluster, now)?;
    }
    token_tracking::sync(cluster, now)
}

/// Serves a request whose resource, subresource and verb are known to exist.
pub(crate) fn dispatch(request: &mut Request<'_>, verb: &str) -> ApiResult<Reply> {
    token_tracking::catch_up(request.cluster, request.now);
    let reply = serve(request, verb);
    if !matches!(verb, "get" | "list" | "watch") {
        // Also if it was refused: a deletecollection may have come halfway.
        token_tracking::follow(request);
        cluster_roles::follow(request)?;
    }
    reply
}

fn serve(request: &mut Request<'_>, verb: &str) -> ApiResult<Reply> {
    match (verb, request.subresource.map(|subresource| subresource.name)) {
        ("create", None) if request.kind.is_review => reviews::create(request),
        ("create", None) => create::create(request),
        ("create", Some("token")) => token::create(request),
        ("create", Some("binding")) => binding::create(request),
        ("get", _) => get::get(request),
        ("list", None) => list::list(request),
        ("watch", None) => watch::watch(request),
        ("update", _) => update::update(request),
        ("patch", _) => patch::patch(request),
        ("delete", None) => delete::delete(request),
        ("deletecollection", None) => delete_collection::delete_collection(request),
        _ => Err(ApiError::method_not_routed()),
    }
}
