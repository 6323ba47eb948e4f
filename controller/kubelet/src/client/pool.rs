//! The connections to one API server, as many as its requests need.

use super::connection::{Connection, Lease, LeasedBody, SendError};
use super::endpoint::{DialError, Endpoint};
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use http::{Request, Response};
use kube::Config;
use kube::client::Body;
use std::sync::{Arc, Mutex, MutexGuard};
use tower::BoxError;

/// Connections to one API server. Clones share them.
#[derive(Clone)]
pub struct Pool {
    endpoint: Arc<Endpoint>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    connections: Vec<Arc<Connection>>,
    /// The connection that is being made, shared by all requests that found no room.
    dial: Option<Dial>,
}

type Dial = Shared<BoxFuture<'static, Result<Arc<Connection>, DialError>>>;

impl Pool {
    /// An empty pool for the server of `config`.
    ///
    /// # Errors
    /// If the server's URL or certificates are unusable, or `config` has a proxy.
    pub fn new(config: &Config) -> anyhow::Result<Self> {
        Ok(Pool { endpoint: Arc::new(Endpoint::new(config)?), state: Arc::default() })
    }

    /// The number of open connections.
    pub fn connections(&self) -> usize {
        self.state().open().len()
    }

    /// The number of requests in flight, watches among them.
    pub fn requests(&self) -> usize {
        self.state().open().iter().map(|connection| connection.load()).sum()
    }

    /// Sends a request with an absolute URI.
    pub(super) async fn send(self, mut request: Request<Body>) -> Result<Response<LeasedBody>, BoxError> {
        loop {
            match self.lease().await?.send(request).await {
                Ok(response) => return Ok(response),
                Err(SendError::Unsent(unsent)) => request = *unsent,
                Err(SendError::Failed(error)) => return Err(error.into()),
            }
        }
    }

    /// Reserves room for a request, on a new connection if all are full.
    async fn lease(&self) -> Result<Lease, DialError> {
        loop {
            let dial = {
                let mut state = self.state();
                if let Some(lease) = state.open().iter().find_map(Connection::reserve) {
                    return Ok(lease);
                }
                // One without waiters got stuck some time ago.
                state.dial.take_if(|dial| dial.strong_count() == Some(1));
                state.dial.get_or_insert_with(|| self.endpoint.clone().connect().boxed().shared()).clone()
            };
            let dialled = dial.clone().await;
            let mut state = self.state();
            if state.dial.as_ref().is_some_and(|current| current.ptr_eq(&dial)) {
                state.dial = None;
                state.connections.extend(dialled.clone());
            }
            drop(state);
            dialled?;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder of this lock can panic")
    }
}

impl State {
    /// The open connections, oldest first: so surplus ones run empty, and the server closes them.
    fn open(&mut self) -> &[Arc<Connection>] {
        self.connections.retain(|connection| !connection.is_closed());
        &self.connections
    }
}
