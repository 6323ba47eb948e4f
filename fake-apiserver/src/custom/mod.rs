//! Custom resources: what their definitions say about a value, as pure functions.

pub(crate) mod json_path;
pub(crate) mod schema;
