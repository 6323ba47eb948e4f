//! The HTTP side of the server.

pub(crate) mod content_type;
pub(crate) mod json;
pub(crate) mod negotiate;
pub(crate) mod query;
pub(crate) mod route;
pub(crate) mod table;
