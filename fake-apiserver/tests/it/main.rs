//! The server from outside.

mod auth;
mod binary;
mod concurrency;
mod library;
mod list;
mod protobuf;
mod robustness;
mod support;
mod watch;
