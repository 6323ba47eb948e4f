//! Which resources are served: a table of [`Kind`]s, and per-kind rules only where a kind truly differs.

mod kind;
mod kinds;

mod config_maps;
mod events;
mod leases;
mod namespaces;
mod nodes;
mod pods;
mod reviews;
mod secrets;
mod service_accounts;

pub use kind::{Column, FieldLabel, Kind, NameRule, Strategy, Subresource};
pub use kinds::{GroupVersion, KINDS, KindId, by_kind, by_resource, group_versions, serves};
