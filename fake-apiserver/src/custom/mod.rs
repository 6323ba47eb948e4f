//! Custom resources: structural schemas and JSONPath, as pure functions.

pub(crate) mod json_path;
pub(crate) mod schema;
