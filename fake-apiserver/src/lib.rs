//! A kube-apiserver for tests: it starts in milliseconds, speaks the real wire protocol, and keeps everything in memory.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), fake_apiserver::StartError> {
//! use fake_apiserver::FakeApiServer;
//!
//! let server = FakeApiServer::builder().start().await?;   // a free port, TLS, an administrator's token
//! println!("{}", server.url());                           // https://127.0.0.1:...
//! println!("{}", server.kubeconfig());                    // for kubectl, and for clients in any language
//! server.shutdown().await;                                // or drop it
//! # Ok(())
//! # }
//! ```
//!
//! With the feature `kube` there are a ready-made `kube::Config` and `kube::Client` as well. With the feature `controllers`, which is
//! on by default, controllers of a control plane can run beside the server (`Builder::controllers`); it decides for `v1_37` of
//! `k8s-openapi`, so those who use that crate in another version turn it off.
//!
//! What a test may hold in its hands: the [`clock`] of every replica ([`Builder::clock`], [`Builder::clock_offset`]), uids and
//! generated names ([`Builder::seed`]), how much history there is ([`Builder::history`], [`FakeApiServer::compact`]), cut watches
//! ([`FakeApiServer::disconnect_watches`]), replicas that fall behind, stop and come back ([`RunningReplica`]), faults
//! ([`FakeApiServer::faults`]), and what was asked of the server ([`FakeApiServer::requests`]).
//!
//! # Not as the real server
//! - Strategic merge patch, server-side apply and YAML are refused, by name. `managedFields` are not kept.
//! - Unless RBAC is asked for ([`Builder::authorization_mode`]), whoever is authenticated may do everything; anonymous users may see
//!   health and version.
//! - The kinds are those of the table in [`registry`]; there are no custom resources and no webhooks.
//! - A good token is looked at anew with every request, not remembered for ten seconds.
//! - Cluster roles that gather others' rules have them at once, from the server itself ([`Builder::cluster_role_aggregation`]).
//! - A deleted namespace is emptied and removed at once, by the server itself ([`Builder::namespace_controller`]).
//! - A watcher that reads slowly is not cut off; it gets its 410 when its events are forgotten.

pub mod admission;
mod alarm;
mod api;
pub mod audit;
pub mod auth;
pub mod cli;
pub mod clock;
mod cluster;
mod commit;
#[cfg(feature = "controllers")]
pub mod controllers;
mod discovery;
pub mod duration;
pub mod error;
pub mod fault;
mod http;
pub mod ids;
mod index;
mod json;
pub mod object;
mod reconcile;
pub mod registry;
pub mod schema;
mod server;
pub mod store;
pub mod version;
mod view;

pub use server::{Builder, FakeApiServer, RunningReplica, StartError};
