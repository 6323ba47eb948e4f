//! Other clusters that clients reach through a server, by the beginning of a path: `/clusters/NAME/api/v1/pods`.

use http::uri::PathAndQuery;
use http::{Request, Uri};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The beginning of such paths.
const CLUSTERS: &str = "/clusters/";

/// The path of a cluster.
pub(crate) fn path_of_cluster(name: &str) -> String {
    format!("{CLUSTERS}{name}")
}

/// The servers of other clusters, by name.
pub(crate) struct Beside<Server>(RwLock<HashMap<String, Arc<Server>>>);

impl<Server> Default for Beside<Server> {
    fn default() -> Beside<Server> {
        Beside(RwLock::default())
    }
}

impl<Server> Beside<Server> {
    /// Lets clients reach a server.
    pub(crate) fn add(&self, name: &str, replica: Arc<Server>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), replica);
    }

    /// Lets clients reach it no more.
    pub(crate) fn remove(&self, name: &str) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    /// The server that a request is for, and the request as that one sees it; `None` if it is for no other one.
    pub(super) fn routed<B>(&self, request: &mut Request<B>) -> Option<Arc<Server>> {
        let rest = request.uri().path_and_query()?.as_str().strip_prefix(CLUSTERS)?;
        let (name, rest) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let replica = self.0.read().unwrap_or_else(PoisonError::into_inner).get(name)?.clone();
        let own = if rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") };
        let mut parts = request.uri().clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::from_maybe_shared(own.into_bytes()).ok()?);
        *request.uri_mut() = Uri::from_parts(parts).ok()?;
        Some(replica)
    }
}
