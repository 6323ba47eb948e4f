//! The HTTP side of the server.

pub mod content_type;
pub mod negotiate;
