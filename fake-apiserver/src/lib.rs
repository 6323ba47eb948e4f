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
//! With the feature `kube` there are a ready-made `kube::Config` and `kube::Client` as well. Controllers of a control
//! plane can run beside the server ([`Builder::controllers`]); those that deal with service accounts and tokens need the feature
//! `controllers`, which decides for `v1_37` of `k8s-openapi`. Neither feature is on by default.
//!
//! Under a test's control are the clock of every replica ([`Builder::clock`], [`Builder::clock_offset`]), uids and
//! generated names ([`Builder::seed`]), the length of the history ([`Builder::history`], [`FakeApiServer::compact`]), open watches
//! ([`FakeApiServer::disconnect_watches`]), replicas that fall behind, stop and come back ([`RunningReplica`]), faults
//! ([`FakeApiServer::faults`]), and the record of requests ([`FakeApiServer::requests`]):
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), fake_apiserver::StartError> {
//! use fake_apiserver::{FakeApiServer, ManualClock, On};
//!
//! let clock = ManualClock::new("2030-01-01T00:00:00Z".parse().unwrap());
//! let server = FakeApiServer::builder().clock(clock.clone()).replicas(2).clock_offset(1, -30).start().await?;
//! let refused = server.faults().add(On::create("secrets").status(503).retry_after(7).times(2));
//! // ... the client under test creates a secret, and tries again ...
//! clock.advance(jiff::SignedDuration::from_hours(1));
//! assert_eq!(server.faults().hits(refused), 0);
//! # Ok(())
//! # }
//! ```
//!
//! # Differences from the real server
//! - Unless another mode than `AlwaysAllow` is asked for ([`Builder::authorization_mode`]), authenticated users may do everything, and anonymous users may see
//!   health and version.
//! - What the kinds lack of their rules is listed in `docs/kinds.md`. Webhooks that are services are called where
//!   [`Builder::add_service_address`] says, or else at their cluster IP.
//! - A token is verified with every request; the result is not cached for ten seconds.
//! - Cluster roles are aggregated at once, by the server itself ([`Builder::cluster_role_aggregation`]).
//! - A deleted namespace is emptied and removed at once, by the server itself ([`Builder::namespace_controller`]).
//! - So is the status of a validating admission policy written, if that is asked for ([`Builder::validating_admission_policy_status`]).
//! - A slow watcher is not cut off; it gets 410 when its events are forgotten.

// `pub` in a module here means that other modules use the item. The public items are listed below.
#![allow(unreachable_pub)]

use machinery::{custom, deadline, error, json, managed, object, schema, yaml};

mod admission;
mod aggregation;
mod alarm;
mod allocation;
mod api;
mod audit;
mod auth;
mod clock;
mod cluster;
mod commit;
mod configuration;
mod controllers;
mod coverage;
mod dice;
mod discovery;
mod duration;
mod fault;
mod files;
mod flow;
mod forms;
mod http;
mod ids;
mod index;
mod joint;
mod kubelets;
mod living;
mod measures;
mod memo;
mod reconcile;
mod recorder;
mod registry;
mod reloads;
mod repeats;
mod server;
mod service_addresses;
mod store;
mod sync;
mod threads;
mod turns;
mod user;
mod version;
mod view;
mod webhook;
mod x509;

pub use admission::PluginError;
pub use audit::{AuditBatchOptions, AuditLogOptions, AuditOptions, AuditTruncateOptions, AuditWebhookOptions};
pub use audit::{RequestLog, RequestRecord};
pub use auth::authentication_options::{AuthenticationOptions, AuthenticationWebhookOptions};
pub use auth::authentication_options::{FrontProxyOptions, OidcOptions};
pub use auth::authorization_options::{AuthorizationOptions, AuthorizationWebhookOptions};
pub use auth::impersonation::Impersonated;
pub use auth::keys::KeyError;
pub use auth::modes::{AuthorizationMode, ModeError};
pub use auth::token_file::TokenFileError;
pub use auth::{AuthorityError, ConfigError, User};
pub use clock::{Clock, ManualClock, SystemClock};
pub use commit::loaded::LoadError;
pub use commit::saved::StateError;
pub use control;
pub use controllers::UnknownController;
pub use controllers::{Controller, Controllers, ControllersError, PodRuleError, PodRules, StageError, Stages, Step};
pub use fault::{Fault, FaultId, Faults, On};
pub use server::{Builder, CallError, FakeApiServer, Fork, IdentityError, RunningReplica, Seed, StartError};
pub use version::git_version;

#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;

/// Access to internals for this repository's own tests, benches and judges. It may change at any time.
#[doc(hidden)]
pub mod internals {
    use crate::FakeApiServer;

    pub use crate::duration::{parse as parse_duration, print as go_duration};
    pub use crate::registry::{Description, VersionDescription, ids, public_address_error};

    /// The RBAC authorizer.
    pub mod auth {
        pub use crate::auth::authorizer::{Attributes, Authorizer, Decision, Target};
        pub use crate::auth::rbac::Rbac;
    }

    /// The types, and the codecs by type.
    pub mod schema {
        pub use crate::schema::{
            DataError, DecodeError, Decoded, Encoded, Facets, Field, ListType, OwnedType, PatchStrategy, TypeRef,
            Types, check, decode_json, decode_protobuf, decode_protobuf_event, decode_protobuf_message, encode,
            encode_protobuf, encode_protobuf_event, encode_protobuf_message, interpret, lookup, parse_json,
        };
    }

    /// YAML, as Go reads and prints it.
    pub mod yaml {
        pub use crate::deadline::Deadline;
        pub use crate::yaml::{Document, parse, print};
    }

    /// The store.
    pub mod store {
        pub use crate::store::{
            Change, Delivery, Draft, Entry, Key, Meta, ResourceId, Scope, Store, Subscription, Updated,
        };
    }

    /// The store behind a server.
    pub fn store(server: &FakeApiServer) -> &store::Store {
        &server.cluster().store
    }

    /// Lets a running server serve another resource. Returns its id; `None` if another one is served there.
    pub fn add_resource(server: &FakeApiServer, description: Description) -> Option<store::ResourceId> {
        server.cluster().add_resource(description)
    }

    /// Removes an added resource, with its objects and its watches.
    ///
    /// # Panics
    /// If the resource is built in.
    pub async fn remove_resource(server: &FakeApiServer, id: store::ResourceId) {
        server.cluster().remove_resource(id).await;
    }
}
