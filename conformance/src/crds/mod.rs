//! CustomResourceDefinitions of Go modules that publish APIs, and of any folder, on a real kube-apiserver and on the fake: definitions and
//! examples are sent to both, and the answers compared.
//!
//! ```text
//! fixtures/crds.toml, or a folder ──sources──▶ package: definitions, examples
//!                                                 │
//!      table ◀─ trial: cases, differences ◀─ pair ┘ both servers
//! ```

pub mod cli;
pub mod package;
pub mod table;
mod trial;
