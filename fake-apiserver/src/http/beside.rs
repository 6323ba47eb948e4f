//! Other clusters that clients reach through a server: by the beginning of a path, `/clusters/NAME/api/v1/pods`, or by the name that they ask
//! TLS for, `NAME.clusters.fake`.

use http::uri::PathAndQuery;
use http::{Request, Uri};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The beginning of such paths.
const CLUSTERS: &str = "/clusters/";

/// The end of such names.
const FAKE: &str = ".clusters.fake";

/// The name of a cluster that clients ask TLS for.
pub(crate) fn name_of_cluster(name: &str) -> String {
    format!("{name}{FAKE}")
}

/// The path of a cluster.
pub(crate) fn path_of_cluster(name: &str) -> String {
    format!("{CLUSTERS}{name}")
}

/// The servers of other clusters, by the names of these.
type Servers<Server> = RwLock<HashMap<String, Arc<Server>>>;

/// The servers of other clusters.
pub(crate) struct Beside<Server> {
    /// Those that are reached by a path.
    by_path: Servers<Server>,
    /// Those that are reached by a name.
    by_name: Servers<Server>,
}

/// The cluster that a connection is for.
pub(crate) enum Named<Server> {
    /// The one whose port it is.
    First,
    /// Another one.
    Other(Arc<Server>),
    /// One that there is not.
    Nobody,
}

impl<Server> Default for Beside<Server> {
    fn default() -> Beside<Server> {
        Beside { by_path: RwLock::default(), by_name: RwLock::default() }
    }
}

impl<Server> Beside<Server> {
    /// Lets clients reach a server by a path.
    pub(crate) fn add(&self, name: &str, replica: Arc<Server>) {
        self.by_path.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), replica);
    }

    /// Lets clients reach a server by the name that they ask TLS for.
    pub(crate) fn add_name(&self, name: &str, replica: Arc<Server>) {
        self.by_name.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), replica);
    }

    /// Lets clients reach it no more.
    pub(crate) fn remove(&self, name: &str) {
        for servers in [&self.by_path, &self.by_name] {
            servers.write().unwrap_or_else(PoisonError::into_inner).remove(name);
        }
    }

    /// The server that a connection is for, by the name that its client asked TLS for.
    pub(crate) fn named(&self, server_name: Option<&str>) -> Named<Server> {
        let Some(name) = server_name.and_then(|name| name.strip_suffix(FAKE)) else { return Named::First };
        let found = self.by_name.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        found.map_or(Named::Nobody, Named::Other)
    }

    /// The server that a request is for, and the request as that one sees it; `None` if it is for no other one.
    pub(super) fn routed<B>(&self, request: &mut Request<B>) -> Option<Arc<Server>> {
        let rest = request.uri().path_and_query()?.as_str().strip_prefix(CLUSTERS)?;
        let (name, rest) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let replica = self.by_path.read().unwrap_or_else(PoisonError::into_inner).get(name)?.clone();
        let own = if rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") };
        let mut parts = request.uri().clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::from_maybe_shared(own.into_bytes()).ok()?);
        *request.uri_mut() = Uri::from_parts(parts).ok()?;
        Some(replica)
    }
}
