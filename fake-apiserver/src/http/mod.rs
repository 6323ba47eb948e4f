//! HTTP: routing, negotiation, framing. It never touches the store's state; `api` makes the replies.

mod audit_id;
mod beside;
mod body;
mod computation;
mod cors;
mod documents;
mod flow;
mod forward;
mod gzip;
mod gzip_body;
mod head;
mod health;
mod http_log;
mod issuer;
mod items;
mod limits;
mod list;
mod metrics;
mod negotiate;
mod offload;
mod openapi;
mod pages;
mod peer;
mod pipeline;
mod ports;
mod presets;
mod protobuf;
mod replica;
mod respond;
mod route;
mod served;
mod stream;
mod struck;
mod table;
mod time_limit;
mod unseen;
mod version;
mod warnings;
mod websocket;
mod zpages;

use crate::json;

pub(crate) use beside::{Beside, Named, name_of_cluster, path_of_cluster};
pub(crate) use body::Wire;
pub(crate) use cors::Origins;
pub(crate) use limits::{Limits, places};
pub(crate) use metrics::AllowedLabels;
pub(crate) use pages::Pages;
pub(crate) use peer::Peer;
pub(crate) use pipeline::serve;
pub(crate) use replica::Replica;
pub(crate) use respond::misdirected;
#[cfg(feature = "fuzzing")]
pub(crate) use route::{Route, route};
pub(crate) use struck::Broken;
pub(crate) use websocket::Switched;
