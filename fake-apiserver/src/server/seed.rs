//! Seeds and their forks: clusters of their own that begin with the same content.
//!
//! ```text
//!   FakeApiServer ── freeze ──▶ Seed ──┬── fork ──▶ Fork: reads and writes of its own
//!                                      └── fork ──▶ Fork ── freeze ──▶ Seed ── ...
//! ```
//! A fork costs microseconds and some kilobytes: objects, and all that is derived from them, are shared with the seed until one of both
//! changes. What a fork does, neither its seed nor another fork sees.

use crate::api::InProcess;
use crate::audit::RequestLog;
use crate::clock::OffsetClock;
use crate::cluster::Cluster;
use crate::fault::Faults;
use crate::http::{Replica, Wire, serve};
use crate::store;
use bytes::Bytes;
use http::header::HOST;
use http::{HeaderValue, Request, Response};
use http_body_util::{BodyExt, Full};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Weak};
use tokio_util::sync::{CancellationToken, DropGuard};

/// A cluster that does not change any more. A clone is the same one.
#[derive(Clone)]
pub struct Seed(Arc<Frozen>);

struct Frozen {
    content: store::Frozen,
    /// A fork that serves nobody.
    replica: Arc<Replica>,
    /// The source of the uids and generated names of forks, with their names.
    ids: u64,
}

/// A cluster that was forked from a [`Seed`]: one server, without a port. It has the users, flags, clock and controllers in the server (such
/// as that of namespaces) of the server of its seed, and its own faults. Dropping it ends its watches.
pub struct Fork {
    replica: Arc<Replica>,
    _stop: DropGuard,
}

/// The error of a response that broke off.
#[derive(Debug, thiserror::Error)]
#[error("the response broke off: {0}")]
pub struct CallError(String);

impl Seed {
    /// The present content of a server's cluster.
    pub(super) async fn of(replica: &Replica) -> Seed {
        let cluster = &replica.cluster;
        loop {
            cluster.reconcilers.quiet().await;
            let before = cluster.catalogs.load();
            let content = cluster.store.freeze();
            let ids = cluster.ids.below(u64::MAX);
            let (idle, _) = fork(replica, &content, ids, "", CancellationToken::new());
            // The served resources are no part of the content.
            if Arc::ptr_eq(&before, &idle.cluster.catalogs.load()) {
                return Seed(Arc::new(Frozen { content, replica: idle, ids }));
            }
        }
    }

    /// A new cluster with this content. Its uids and generated names depend on its name, which two forks should not have in common.
    pub fn fork(&self, name: &str) -> Fork {
        let stop = CancellationToken::new();
        let (replica, _) = self.replica(name, stop.clone());
        Fork { replica, _stop: stop.drop_guard() }
    }

    /// A server of a new cluster with this content, and its clock.
    pub(super) fn replica(&self, name: &str, stop: CancellationToken) -> (Arc<Replica>, OffsetClock) {
        let Frozen { content, replica, ids } = &*self.0;
        let mut hasher = DefaultHasher::new();
        (ids, name).hash(&mut hasher);
        fork(replica, content, hasher.finish(), name, stop)
    }

    /// The revision of the content.
    pub fn revision(&self) -> u64 {
        self.0.content.revision()
    }
}

/// A server of another cluster with that content, like this one, and its clock.
fn fork(
    replica: &Replica,
    content: &store::Frozen,
    ids: u64,
    name: &str,
    stop: CancellationToken,
) -> (Arc<Replica>, OffsetClock) {
    let cluster = Arc::new_cyclic(|own: &Weak<Cluster>| {
        let own = Arc::new(InProcess::new(own.clone(), stop.clone()));
        replica.cluster.fork(content, ids, name, own, &stop)
    });
    let clock = OffsetClock::new(cluster.reconcilers.cluster().clock.clone(), 0);
    let mut own = replica.like(0, &cluster, &clock, stop);
    own.flow = replica.flow.as_ref().map(|flow| flow.fork(&replica.cluster.store, content.revision()));
    (Arc::new(own), clock)
}

impl Fork {
    /// The response to a request, with its whole body. A watch is answered when it ends. A request without a host is for the server itself.
    ///
    /// # Errors
    /// If the response breaks off.
    pub async fn call(&self, request: Request<Bytes>) -> Result<Response<Bytes>, CallError> {
        let mut request = request.map(|body| Wire::Given(Full::new(body)));
        request
            .headers_mut()
            .entry(HOST)
            .or_insert_with(|| HeaderValue::from_str(&self.replica.address).expect("a host and a port make a header"));
        let response = serve(self.replica.clone(), Arc::default(), request).await;
        let (head, body) = response.into_parts();
        let body = body.collect().await.map_err(|error| CallError(error.to_string()))?;
        Ok(Response::from_parts(head, body.to_bytes()))
    }

    /// The present content of the cluster, once what followed from earlier writes is done. Writes meanwhile may be in it or not.
    pub async fn freeze(&self) -> Seed {
        Seed::of(&self.replica).await
    }

    /// Ends its open watches, as a restarted server does. Clients may open new ones at once.
    pub fn disconnect_watches(&self) {
        self.replica.end_watches(self.replica.shutdown.child_token());
    }

    /// The injected faults.
    pub fn faults(&self) -> &Faults {
        &self.cluster().faults
    }

    /// The record of requests, to wait on; empty unless the server of the seed records them.
    pub fn request_log(&self) -> &RequestLog {
        &self.cluster().log
    }

    /// The state of the cluster.
    pub(crate) fn cluster(&self) -> &Cluster {
        &self.replica.cluster
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seed").field("revision", &self.revision()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Fork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fork").field("revision", &self.cluster().store.revision()).finish_non_exhaustive()
    }
}
