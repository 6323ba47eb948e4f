//! The wire: routing, negotiation, framing. Never touches the store's state; asks `api` for answers.

mod aggregated_discovery;
mod body;
mod discovery;
mod documents;
mod health;
mod issuer;
mod json;
mod list;
mod negotiate;
mod openapi;
mod pipeline;
mod replica;
mod respond;
mod route;
#[cfg(test)]
mod samples;
mod served;
mod stream;
mod table;
mod version;

pub(crate) use documents::Documents;
pub(crate) use pipeline::serve;
pub(crate) use replica::Replica;
