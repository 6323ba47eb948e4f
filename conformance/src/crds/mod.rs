//! CustomResourceDefinitions of Go modules that publish APIs, and of any folder, on a real kube-apiserver and on the fake: definitions and
//! examples are sent to both, and the answers compared.
//!
//! ```text
//! fixtures/crds.toml ─▶ sets ─▶ modules: Go's module cache ─▶ source: YAML ─▶ package: definitions, examples
//!                                              a folder ──────▶┘                 │
//!                                     table ◀─ trial: cases, differences ◀─ pair ┘ both servers
//! ```

pub mod cli;
mod modules;
pub mod package;
pub mod sets;
pub mod source;
pub mod table;
mod trial;
