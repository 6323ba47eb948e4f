//! Which resources are served: a table of [`Kind`]s, and per-kind rules only where a kind truly differs.

mod kind;

pub use kind::{Column, FieldLabel, Kind, NameRule, Strategy, Subresource};
