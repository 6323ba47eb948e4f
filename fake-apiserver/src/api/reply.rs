//! The reply of a verb.

use super::list::Listing;
use super::request::decode::Expected;
use super::watch::Watch;
use crate::error::ApiResult;
use crate::schema;
use crate::store::Entry;
use bytes::Bytes;
use std::net::SocketAddr;
use std::sync::Arc;
use tree::Value;

/// The reply of a verb.
pub(crate) enum Reply {
    /// An object of the resource that is read.
    Stored(Arc<Entry>),
    /// An object of the resource that was written, as it is stored, or as a webhook has converted it: JSON and a line feed.
    Object {
        code: u16,
        line: Bytes,
        /// The number of the schema under which it is complete, or 0.
        complete_under: u64,
    },
    /// An object of another kind, such as a scale: JSON and a line feed.
    Other {
        code: u16,
        line: Bytes,
    },
    List(Listing),
    /// A list of objects that are not stored: each in JSON, with a line feed.
    Computed(Vec<Bytes>),
    Watch(Watch),
    /// A `Status` about a deleted object.
    Deleted {
        name: String,
        group: String,
        resource: String,
        uid: String,
    },
    /// Plain text.
    Text(Bytes),
    /// Streams over a connection that becomes one of WebSocket.
    Channels(Channels),
    /// A document without content.
    Empty,
    /// The same elsewhere: the path to ask for instead.
    Moved {
        location: String,
    },
    /// A `Status` of success, without details.
    Success {
        code: u16,
    },
}

/// Streams for a client that has asked for some, with their protocol, or none.
pub(crate) struct Channels {
    pub(crate) protocol: &'static str,
    pub(crate) content: Content,
}

/// The content of streams.
pub(crate) enum Content {
    /// Messages, each of which begins with the number of its channel.
    Messages(Vec<Bytes>),
    /// Ports, each with the address where it leads, or why it leads nowhere.
    Ports(Vec<(u16, Result<SocketAddr, String>)>),
}

impl Reply {
    pub(super) fn object(code: u16, line: Bytes, complete_under: u64) -> Self {
        Reply::Object { code, line, complete_under }
    }
}

/// The reply of a create whose object is not stored.
pub(super) fn encode_reply(expected: &Expected<'_>, object: &Value) -> ApiResult<Reply> {
    let mut line = schema::encode(object, expected.ty).json;
    line.push(b'\n');
    Ok(Reply::Other { code: 201, line: line.into() })
}
