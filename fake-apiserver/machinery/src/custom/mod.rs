//! Custom resources: structural schemas, rules in CEL, JSONPath, and conversion reviews, as pure functions; and compiled schemas, which the
//! servers of a process share.

pub mod compiled;
pub mod field_path;
pub mod json_path;
pub mod review;
pub mod rules;
pub mod schema;
