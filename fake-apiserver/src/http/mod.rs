//! The HTTP side of the server.

pub(crate) mod aggregated_discovery;
pub(crate) mod content_type;
pub(crate) mod discovery;
pub(crate) mod documents;
pub(crate) mod health;
pub(crate) mod json;
pub(crate) mod negotiate;
pub(crate) mod openapi;
pub(crate) mod query;
pub(crate) mod route;
#[cfg(test)]
mod samples;
pub(crate) mod table;
pub(crate) mod version;
