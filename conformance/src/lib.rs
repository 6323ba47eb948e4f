//! The player of written scenarios: against the fake and against real API servers.
//!
//! * a [`subject`] is a target that they are played against: the fake as a library, as a process, or a real kube-apiserver;
//! * [`play`] carries out the commands (the [`verbs`]) on a [`stage`] and writes a history;
//! * the [`suite`] has the crate `conformance-judge`, which knows no server, judge the history;
//! * [`bless`] writes the expectations, from a real server;
//! * [`command_lines`] are those of the real program, with what it makes of them;
//! * [`configurations`] are files that the real program refuses;
//! * [`cases`] are single creates and updates of all kinds;
//! * [`soak`] is a stress test of a real controller, [`endurance`] one of the fake, [`attack`] one of any API server,
//!   [`admission`] one of what admits writes in it;
//! * [`inputs`] sends the inputs of the fuzz targets to a server beside another client;
//! * [`crds`] compares two servers on definitions of custom resources and on examples;
//! * [`manifests`] compares them on manifests that `kubectl` applies, [`pod_security`] on pods that a module has for that;
//! * [`clients`] runs suites of checks with other projects' clients;
//! * [`schemas`] compares the fake with a real kube-apiserver by definitions and objects of a generator, [`writes`] by writes of
//!   other kinds.

#![allow(clippy::arithmetic_side_effects, reason = "no client decides about the times of a harness")]

mod administrator;
pub mod admission;
mod answered;
mod answers;
pub mod attack;
pub mod bless;
pub mod bootstrap;
pub mod cases;
pub mod cli;
mod client;
pub mod clients;
pub mod command_lines;
pub mod configurations;
pub mod control_plane;
pub mod crds;
mod credentials;
mod deadline;
pub mod endurance;
mod findings;
pub mod inputs;
pub mod kinds;
pub mod kubelets;
mod less;
mod line;
pub mod manifests;
pub mod openapi;
pub mod pages;
mod pair;
pub mod play;
pub mod pod_security;
pub mod props;
mod recorder;
mod resources;
pub mod schemas;
pub mod soak;
pub mod sources;
pub mod stage;
pub mod subject;
pub mod suite;
pub mod suites;
pub mod verbs;
pub mod vigil;
pub mod webhook;
pub mod writes;
