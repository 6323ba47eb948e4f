//! Manifests of Go modules, and of any folder, on a real kube-apiserver and on the fake: kubectl applies them to both, first as clients merge, then as
//! the server does, and its output and the stored objects are compared.
//!
//! ```text
//! fixtures/manifests.toml, or a folder ──sources──▶ manifest ──files──▶ kubectl: lines of output
//!                                                      │                   │
//!                          table ◀─ trial: differences ◀── pair: objects ◀──┘
//! ```
//! With `--mutants` the manifests get small mistakes instead, and are created on both.

pub mod cli;
mod kubectl;
mod manifest;
mod mutants;
mod mutation;
pub mod table;
mod trial;
