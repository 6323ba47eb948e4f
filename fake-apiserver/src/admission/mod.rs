//! Admission: plugins that change or refuse an authorized write.
//!
//! ```text
//!   default ─▶ managers ─▶ Chain::mutate ─▶ begin ─▶ prepare ─▶ validate ─▶ Chain::validate ─▶ encode ─▶ commit ─▶ finish
//! ```
//! All plugins, also those that are always on, are in one table in upstream's order (`plugins/mod.rs`). The verbs call the
//! chain in `api/admission.rs`.
//!
//! Follows `k8s.io/apiserver/pkg/admission` (v0.37.1).

pub(crate) mod cel;
mod chain;
mod config;
mod configuration;
mod error;
mod families;
mod following;
mod kind;
pub(crate) mod manifests;
pub(crate) mod matching;
mod plugin;
mod plugins;
mod policies;
mod reinvocation;
mod surroundings;
mod versions;

pub(crate) use chain::Chain;
pub(crate) use config::{Config, Tokens};
pub use error::PluginError;
pub(crate) use families::FAMILIES;
pub(crate) use following::{Following, Generation};
pub(crate) use kind::Kind;
pub(crate) use plugin::{Attributes, Immediate, Operation, Options, Plugin, Verdict};
pub(crate) use plugins::{QuotaMeasure, chain, namespace_missing, namespace_terminating};
pub(crate) use reinvocation::Reinvocation;
pub(crate) use surroundings::Surroundings;
pub(crate) use versions::{Encoded, Versions};
