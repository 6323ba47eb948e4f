//! Manifests of Go modules, and of any folder, on a real kube-apiserver and on the fake: kubectl applies them to both, first as clients merge, then as
//! the server does, and its output and the stored objects are compared.
//!
//! ```text
//! fixtures/manifests.toml, or a folder ──sources──▶ manifest ──files──▶ kubectl: lines of output
//!                                                      │                   │
//!                          table ◀─ trial: differences ◀── pair: objects ◀──┘
//! ```
//! With `--check` the verdicts of `fake-apiserver check` are compared with what kubectl prints about a dry run on the real server.
//! With `--mutants` the manifests get small mistakes instead, and are created on both.

mod checked;
pub mod cli;
mod kubectl;
mod manifest;
mod mutants;
mod mutation;
pub mod table;
mod trial;
