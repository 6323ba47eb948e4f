//! Custom resources: structural schemas and JSONPath, as pure functions.

pub mod compiled;
pub mod field_path;
pub mod json_path;
pub mod review;
pub mod rules;
pub mod schema;
