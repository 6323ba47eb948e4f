//! The wire: routing, negotiation, framing. Never touches the store's state; asks `api` for answers.

pub(crate) mod body;
pub(crate) mod content_type;
pub(crate) mod discovery;
mod documents;
pub(crate) mod json;
mod list;
pub(crate) mod negotiate;
pub(crate) mod openapi;
mod pipeline;
mod query;
mod respond;
mod route;
mod served;
mod stream;
mod table;
pub(crate) mod version;

pub(crate) use body::Body;
pub(crate) use pipeline::{Replica, serve};
pub(crate) use query::Query;
