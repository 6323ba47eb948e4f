//! The size of a write: etcd takes requests up to a limit, and its client sends messages up to another.
//!
//! Upstream stores built-in kinds in protobuf, definitions and custom resources in JSON, each by a transaction: is the key at the revision that was
//! read, then put the value, else (for an update) read it (`etcd/client/v3/kubernetes/client.go`, `etcdserver/v3_server.go`; v3.7.0).

use crate::error::{ApiError, ApiResult};
use crate::registry::{Encoding, Resource};
use crate::schema;
use crate::store::Draft;
use tree::Value;

/// `DefaultMaxRequestBytes` of etcd, for a request as proposed to its members.
const MAX_REQUEST: usize = 3 * 512 * 1024;
/// `defaultMaxCallSendMsgSize` of its client.
const MAX_MESSAGE: usize = 2 * 1024 * 1024;
/// A length of JSON so far below both that the object need not be measured: protobuf, which spells out zero fields, is less than six times as long.
const SMALL: usize = MAX_REQUEST / 6;
/// The bytes that the raft header adds to a transaction: a header with an id of 63 bits.
const HEADER: usize = 2 + 1 + 1 + 9;

/// 500 if the draft is larger than etcd would store in the place of the object at `current`, or as a new one.
pub(crate) fn check(resource: &Resource, draft: &Draft, current: Option<u64>) -> ApiResult<()> {
    if draft.json.len() < SMALL {
        return Ok(());
    }
    let key = "/registry//".len() + resource.storage_prefix.len() + draft.key.path().len();
    let transaction = transaction(key, value(resource, &draft.json), current);
    if transaction > MAX_MESSAGE {
        return Err(ApiError::untyped(format!(
            "rpc error: code = ResourceExhausted desc = trying to send message larger than max ({transaction} vs. {MAX_MESSAGE})"
        )));
    }
    if field(transaction) + HEADER > MAX_REQUEST {
        return Err(ApiError::untyped("etcdserver: request is too large"));
    }
    Ok(())
}

/// The length of an object as it is stored.
fn value(resource: &Resource, json: &[u8]) -> usize {
    let storage = resource.storage();
    let line = json.len() + 1;
    if resource.rules.stored_as == Encoding::Json {
        return line;
    }
    let Ok(object) = serde_json::from_slice::<Value>(json) else { return line };
    let message = schema::encode_protobuf_message(&object, storage.ty());
    schema::encode_protobuf(&storage.api_version, &storage.kind, &message).len()
}

/// The length of a `TxnRequest`.
fn transaction(key: usize, value: usize, current: Option<u64>) -> usize {
    let target = 2;
    let revision = 1 + varint(current.unwrap_or(0));
    let compare = field(target + field(key) + revision);
    let put = field(field(field(key) + field(value)));
    let get = if current.is_some() { field(field(field(key))) } else { 0 };
    compare + put + get
}

/// The length of a field whose content has a length, with a number below 16.
fn field(content: usize) -> usize {
    1 + varint(content as u64) + content
}

fn varint(value: u64) -> usize {
    let bits = u64::BITS - (value | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_messages() {
        assert_eq!([0, 127, 128, 16383, 16384, u64::MAX].map(varint), [1, 1, 2, 2, 3, 10]);
        assert_eq!([0, 127, 128].map(field), [2, 129, 131]);
        // An update has the revision, and the read if that is another.
        assert_eq!(transaction(32, 1000, Some(249)) - transaction(32, 1000, None), 1 + 38);
    }
}
