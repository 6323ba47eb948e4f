//! Placeholder.
pub mod schema;
