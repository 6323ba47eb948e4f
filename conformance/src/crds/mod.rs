//! Public sets of CustomResourceDefinitions, on a real kube-apiserver and on the fake: their projects' definitions and examples are sent
//! to both, and the answers compared.
//!
//! ```text
//! fixtures/crds.toml ─▶ sets ─▶ modules: Go's module cache ─▶ package: definitions, examples
//!                                                                │
//!                     table ◀─ trial: cases, differences ◀─ pair ┘ both servers
//! ```

pub mod cli;
mod modules;
mod order;
pub mod package;
mod pair;
pub mod sets;
pub mod table;
mod trial;
