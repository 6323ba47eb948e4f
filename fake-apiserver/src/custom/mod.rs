//! Custom resources: kinds that clients define.

pub mod schema;
