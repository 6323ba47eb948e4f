//! One server of the control plane: its addresses, its clock, its view, and its life cycle.
//!
//! ```text
//!          start             stop
//!   bound ──────▶ listening ──────▶ stopped: its port refuses connections; the objects stay, as in etcd
//!                     ▲                │
//!                     └────────────────┘ start, on the same port
//! ```

use super::listener::{self, Listener};
use crate::clock::OffsetClock;
#[cfg(feature = "fuzzing")]
use crate::http::Peer;
use crate::http::Replica;
use crate::threads;
use crate::view::Only;
use control::near::hint;
use control::recording::What;
use control::{Cause, Cut, HoldOnly, Order, Refusal, ReplicaAnswer, ReplicaChange, Running, ViewState, glob};
use futures::future::join_all;
use rustls::ServerConfig;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
#[cfg(feature = "fuzzing")]
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// One server of the control plane. Dropping the [`FakeApiServer`](super::FakeApiServer) stops it.
pub struct RunningReplica {
    secure: Option<(SocketAddr, Arc<ServerConfig>)>,
    insecure: Option<SocketAddr>,
    /// The way to a cluster that is reached through another one's server.
    way: Option<Way>,
    clock: OffsetClock,
    replica: Arc<Replica>,
    life: Mutex<Life>,
}

/// The way to a cluster through another one's server.
pub(super) enum Way {
    /// The path behind the address in its URL.
    Path(String),
    /// The name that clients ask TLS for.
    Name(String),
}

/// The tasks from a start to the next stop.
struct Life {
    stop: CancellationToken,
    /// Is cancelled once its ports are closed: connections end.
    closed: CancellationToken,
    /// Is cancelled after that, so that a client whose watch ends can neither use the same connection again nor open another one.
    watches: CancellationToken,
    tasks: TaskTracker,
}

impl RunningReplica {
    /// Lets `replica` accept connections: over TLS on `secure`, plain on `insecure`. It ends when `shutdown` does.
    pub(super) fn run(
        replica: Arc<Replica>,
        clock: OffsetClock,
        secure: Option<((TcpListener, SocketAddr), Arc<ServerConfig>)>,
        insecure: Option<(TcpListener, SocketAddr)>,
    ) -> Self {
        let addresses = (
            secure.as_ref().map(|((_, address), tls)| (*address, tls.clone())),
            insecure.as_ref().map(|(_, address)| *address),
        );
        let secure = secure.map(|((listener, _), tls)| Listener { listener, tls: Some(tls) });
        let insecure = insecure.map(|(listener, _)| Listener { listener, tls: None });
        let life = Mutex::new(Life::begin(&replica, [secure, insecure]));
        RunningReplica { secure: addresses.0, insecure: addresses.1, way: None, clock, replica, life }
    }

    /// Lets `replica` answer what comes to another server's ports on that way.
    pub(super) fn behind(other: &RunningReplica, way: Way, replica: Arc<Replica>, clock: OffsetClock) -> Self {
        let life = Mutex::new(Life::begin(&replica, [None, None]));
        let insecure = other.insecure.filter(|_| matches!(way, Way::Path(_)));
        RunningReplica { secure: other.secure.clone(), insecure, way: Some(way), clock, replica, life }
    }

    /// Lets `replica` accept connections on ports of its own, at the addresses of another server and like that one.
    ///
    /// # Errors
    /// If there are no more ports.
    pub(super) fn beside(other: &RunningReplica, mut replica: Arc<Replica>, clock: OffsetClock) -> io::Result<Self> {
        let bind = |address: SocketAddr| {
            let listener = listener::bind(SocketAddr::new(address.ip(), 0))?;
            let bound = listener.local_addr()?;
            io::Result::Ok((listener, bound))
        };
        let secure = other.secure.as_ref().map(|(address, tls)| io::Result::Ok((bind(*address)?, tls.clone())));
        let insecure = other.insecure.map(bind);
        let (secure, insecure) = (secure.transpose()?, insecure.transpose()?);
        let bound = secure.as_ref().map(|((_, bound), _)| bound).or(insecure.as_ref().map(|(_, bound)| bound));
        // Nobody else has it yet.
        if let (Some(bound), Some(replica)) = (bound, Arc::get_mut(&mut replica)) {
            let host = replica.address.rsplit_once(':').map_or("", |(host, _)| host);
            replica.address = format!("{host}:{}", bound.port());
        }
        Ok(RunningReplica::run(replica, clock, secure, insecure))
    }

    /// Whether it has ports of its own.
    pub(super) fn has_ports(&self) -> bool {
        self.way.is_none()
    }

    /// Whether it has a port with TLS.
    pub(super) fn has_tls(&self) -> bool {
        self.secure.is_some()
    }

    /// The name that clients ask TLS for to reach it, if that is the way.
    pub(super) fn server_name(&self) -> Option<&str> {
        match &self.way {
            Some(Way::Name(name)) => Some(name),
            _ => None,
        }
    }

    /// The path behind its address.
    fn path(&self) -> &str {
        match &self.way {
            Some(Way::Path(path)) => path,
            _ => "",
        }
    }

    /// The address of its HTTPS port, or of its plain HTTP port if it has only that.
    ///
    /// # Panics
    /// Never: a replica has an address.
    pub fn address(&self) -> SocketAddr {
        let secure = self.secure.as_ref().map(|(address, _)| *address);
        secure.or(self.insecure).expect("a replica listens somewhere")
    }

    /// Its base URL, `https://…` unless the server is insecure only.
    pub fn url(&self) -> String {
        let scheme = if self.secure.is_some() { "https" } else { "http" };
        format!("{scheme}://{}{}", self.address(), self.path())
    }

    /// Its base URL for clients elsewhere.
    pub(super) fn public_url(&self) -> String {
        let scheme = if self.secure.is_some() { "https" } else { "http" };
        format!("{scheme}://{}{}", self.replica.address, self.path())
    }

    /// The base URL of its plain HTTP port, if it has one.
    pub fn insecure_url(&self) -> Option<String> {
        self.insecure.map(|address| format!("http://{address}{}", self.path()))
    }

    /// The replica that runs.
    pub(super) fn inner(&self) -> &Arc<Replica> {
        &self.replica
    }

    /// Whether it was stopped.
    pub(super) fn is_stopped(&self) -> bool {
        self.life().stop.is_cancelled()
    }

    /// Whether it serves, and says that it is ready.
    fn state(&self) -> Running {
        match (self.is_stopped(), self.replica.is_unready()) {
            (true, _) => Running::Stopped,
            (false, true) => Running::Unready,
            (false, false) => Running::Running,
        }
    }

    /// Lets its `/readyz` fail, as that of a server that is about to stop, or pass again. It serves all the same.
    pub fn set_unready(&self, unready: bool) {
        if self.replica.is_unready() != unready {
            self.replica.set_unready(unready);
            let state = if unready { Running::Unready } else { Running::Running };
            self.note(ReplicaChange { state: Some(state), ..ReplicaChange::default() });
        }
    }

    /// All that can be said of it.
    pub(super) fn shown(&self) -> ReplicaAnswer {
        let (is_held, hold_only) = self.replica.view.is_held();
        ReplicaAnswer {
            replica: self.replica.index,
            url: self.url(),
            insecure_url: self.insecure_url(),
            state: self.state(),
            view: if is_held { ViewState::Held } else { ViewState::Live },
            hold_only,
            clock_offset_seconds: self.clock.offset(),
        }
    }

    /// Its clock.
    #[cfg(feature = "controllers")]
    pub(super) fn clock(&self) -> OffsetClock {
        self.clock.clone()
    }

    /// Sets the offset of its clock, in seconds (negative: behind). Beyond the range of `jiff::Timestamp` it stands still.
    pub fn set_clock_offset(&self, seconds: i64) {
        self.clock.set_offset(seconds);
        self.note(ReplicaChange { clock_offset_seconds: Some(seconds), ..ReplicaChange::default() });
    }

    /// Holds its cache back: reads that accept stale data return the present state, and watches get no events,
    /// until it is [released](Self::release). Reads without a `resourceVersion` stay consistent.
    pub fn hold(&self) {
        self.replica.view.hold(&self.replica.cluster.store, None);
        self.note(ReplicaChange { view: Some(ViewState::Held), ..ReplicaChange::default() });
    }

    /// Holds the events of some objects back, until it is [released](Self::release): open watches get those of all others meanwhile, and
    /// these afterwards, each object's in their order. Reads are not held. A watch that is opened anew meanwhile begins where it says.
    ///
    /// # Errors
    /// If no served resource is one of those.
    pub fn hold_only(&self, objects: HoldOnly) -> Result<(), Refusal> {
        let only = only(&self.replica, objects)?;
        let change =
            ReplicaChange { view: Some(ViewState::Held), hold_only: Some(only.words.clone()), ..Default::default() };
        self.replica.view.hold(&self.replica.cluster.store, Some(only));
        self.note(change);
        Ok(())
    }

    /// Releases its cache after a [`hold`](Self::hold): watches get the events that they missed.
    pub fn release(&self) {
        if self.replica.view.is_held().0 {
            self.replica.view.release();
            self.note(ReplicaChange { view: Some(ViewState::Live), ..ReplicaChange::default() });
        }
    }

    /// Ends its open watches, as a restarted server does. Clients may open new ones at once.
    pub fn disconnect_watches(&self) {
        self.replica.end_watches(self.life().watches.child_token());
        self.note(ReplicaChange { watches: Some(Cut::End), ..ReplicaChange::default() });
    }

    /// Stops it: watches end, connections are closed, its ports are free when this returns. The objects stay. Requests in
    /// flight have two seconds to end.
    pub async fn stop(&self) {
        let tasks = {
            let life = self.life();
            life.stop.cancel();
            life.tasks.clone()
        };
        tasks.wait().await;
        self.note(ReplicaChange { state: Some(Running::Stopped), ..ReplicaChange::default() });
    }

    /// Starts it again after a [`stop`](Self::stop), on the same ports.
    ///
    /// # Errors
    /// If a port is taken: by another program, or by this replica as it was not stopped.
    pub async fn start(&self) -> io::Result<()> {
        let mut listeners = [None, None];
        if let Some((address, tls)) = &self.secure {
            listeners[0] = Some(Listener { listener: listener::bind(*address)?, tls: Some(tls.clone()) });
        }
        if let Some(address) = &self.insecure {
            listeners[1] = Some(Listener { listener: listener::bind(*address)?, tls: None });
        }
        *self.life() = Life::begin(&self.replica, listeners);
        self.note(ReplicaChange { state: Some(Running::Running), ..ReplicaChange::default() });
        Ok(())
    }

    /// Puts a change of it into the recording.
    fn note(&self, change: ReplicaChange) {
        let change = ReplicaChange { replica: self.replica.index, ..change };
        self.replica.cluster.log.recorder().note(move || What::Order(Box::new(Order::Replica(change))));
    }

    /// Serves a connection as if it had been accepted on the plain HTTP port.
    #[cfg(feature = "fuzzing")]
    pub(crate) async fn serve_connection(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let stop = self.life().closed.clone();
        listener::serve_connection(stream, Peer::default(), self.replica.clone(), stop).await;
    }

    /// Completes when all its tasks have ended.
    pub(super) async fn ended(&self) {
        let tasks = self.life().tasks.clone();
        tasks.wait().await;
    }

    fn life(&self) -> std::sync::MutexGuard<'_, Life> {
        self.life.lock().expect("no code that runs under this lock panics")
    }
}

impl fmt::Debug for RunningReplica {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningReplica")
            .field("index", &self.replica.index)
            .field("url", &self.url())
            .finish_non_exhaustive()
    }
}

/// The objects with the ids of their resources.
///
/// # Errors
/// 422, for a name that no served resource has.
fn only(replica: &Replica, words: HoldOnly) -> Result<Only, Refusal> {
    let catalog = replica.cluster.catalog();
    let all: Vec<_> = catalog.registry.resources().collect();
    let mut causes = Vec::new();
    for (index, pattern) in words.resources.iter().enumerate() {
        if !all.iter().any(|resource| glob(pattern, &resource.plural)) {
            let why = format!("no served resource matches{}", hint(pattern, all.iter().map(|one| &*one.plural)));
            causes.push(Cause::invalid(format_args!("holdOnly.resources[{index}]"), pattern, why));
        }
    }
    if !causes.is_empty() {
        return Err(Refusal::invalid("replicas", &replica.index.to_string(), causes));
    }
    let is_one =
        |resource: &str| words.resources.is_empty() || words.resources.iter().any(|pattern| glob(pattern, resource));
    let resources = all.iter().filter(|resource| is_one(&resource.plural)).map(|resource| resource.id).collect();
    Ok(Only { words, resources })
}

impl Life {
    fn begin(replica: &Arc<Replica>, listeners: [Option<Listener>; 2]) -> Life {
        let life = Life {
            stop: replica.shutdown.child_token(),
            closed: CancellationToken::new(),
            watches: CancellationToken::new(),
            tasks: TaskTracker::new(),
        };
        replica.end_watches(life.watches.child_token());
        let accept = |listener| {
            listener::accept(listener, replica.clone(), life.stop.clone(), life.closed.clone(), life.tasks.clone())
        };
        let ports: Vec<_> = listeners.into_iter().flatten().map(accept).collect();
        let (stop, closed, watches) = (life.stop.clone(), life.closed.clone(), life.watches.clone());
        let open = async move {
            join_all(ports).await;
            stop.cancelled().await;
            closed.cancel();
            watches.cancel();
        };
        life.tasks.spawn_on(open, &threads::runtime().expect("binding the port has started them"));
        life.tasks.close();
        life
    }
}
