//! Custom resources: structural schemas and JSONPath, as pure functions.

pub(crate) mod compiled;
pub(crate) mod field_path;
pub(crate) mod json_path;
pub(crate) mod review;
pub(crate) mod rules;
pub(crate) mod schema;
