//! Clients whose requests share a few HTTP/2 connections, watches included.
//!
//! kube's own client speaks HTTP/1.1, where each watch has a connection for itself: thousands of watches are thousands of
//! TLS sessions. Here they share connections; when all are full, another is made, so that no request waits for a watch.
//!
//! ```text
//!   kube::Client ─▶ retries ─▶ base URI ─▶ authorization ─▶ headers ─▶ Pool ─▶ Connection ─▶ hyper
//!                                                                       │ all full or gone
//!                                                                       └─▶ Endpoint: TCP, TLS with ALPN
//! ```
//!
//! A server without HTTP/2, or without TLS, gets HTTP/1.1, one request at a time on each connection.
//!
//! As in client-go (client-go v0.37.1 `transport/cache.go`, apimachinery v0.37.1 `pkg/util/net/http.go`), a connection
//! without a frame for 30 s is pinged, and closed if the ping is not answered within 15 s.

mod connection;
mod endpoint;
mod pool;

pub use endpoint::DialError;
pub use pool::Pool;

use controller::client_go::client::{named, with_retries};
use http_body_util::BodyExt;
use kube::client::{ClientBuilder, ConfigExt, DynBody};
use kube::{Client, Config};
use tower::util::option_layer;
use tower::{BoxError, Layer, ServiceExt, service_fn};

/// A client for `config` with the `User-Agent` `user_agent` and connections of its own. It must be called within a tokio
/// runtime.
///
/// # Errors
/// If `user_agent` is not a header value, or `config` is unusable.
pub fn new(config: Config, user_agent: &str) -> anyhow::Result<Client> {
    Pool::new(&config)?.client(config, user_agent)
}

impl Pool {
    /// A client that uses these connections, with the credentials of `config`. It must be called within a tokio
    /// runtime.
    ///
    /// # Errors
    /// If `user_agent` is not a header value, or `config` is unusable.
    pub fn client(&self, config: Config, user_agent: &str) -> anyhow::Result<Client> {
        let config = named(config, user_agent)?;
        let pool = self.clone();
        let service = service_fn(move |request| {
            let pool = pool.clone();
            async move { pool.send(request).await }
        });
        let service = config.extra_headers_layer()?.layer(service);
        let service = option_layer(config.auth_layer()?).layer(service.map_err(BoxError::from));
        let service = config.base_uri_layer().layer(service);
        let erased = service
            .map_response(|response| response.map(|body| Box::new(body.map_err(BoxError::from)) as Box<DynBody>))
            .boxed();
        Ok(with_retries(ClientBuilder::new(erased, config.default_namespace)))
    }
}
