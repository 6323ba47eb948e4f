//! Manifests of Go modules, and of any folder, on a real kube-apiserver and on the fake: kubectl applies them to both, first as clients merge, then as
//! the server does, and its output and the stored objects are compared.
//!
//! ```text
//! fixtures/manifests.toml, or a folder ──sources──▶ manifest ──files──▶ kubectl: lines of output
//!                                                      │                   │
//!                          table ◀─ trial: differences ◀── pair: objects ◀──┘
//! ```

pub mod cli;
mod kubectl;
mod manifest;
pub mod table;
mod trial;
