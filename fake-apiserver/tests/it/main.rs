//! Tests of the server from outside: over the wire, and as a library.

mod admission;
mod aggregation;
mod audit;
mod auth;
mod certificates;
mod cluster_roles;
mod concurrency;
#[cfg(feature = "controllers")]
mod controllers;
mod flow;
mod forks;
mod front_proxies;
mod goaway;
mod heads;
mod in_flight;
mod legacy_tokens;
mod library;
mod limits;
mod list;
mod living;
mod loading;
mod memory;
mod metrics;
mod oidc;
mod orders;
#[cfg(feature = "controllers")]
mod pages;
mod policy_status;
mod protobuf;
mod public_api;
mod recording;
mod replicas;
mod resources;
mod rewind;
mod robustness;
mod schema;
mod services;
mod strikes;
mod support;
mod user_metrics;
mod watch;
mod webhook_credentials;
mod webhook_metrics;
mod webhooks;
mod websockets;
mod zpages;
