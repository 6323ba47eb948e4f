//! Answers in protobuf, made of the JSON that would have been sent: bodies, lists, and the frames of watches.

use crate::error::{ApiError, ApiResult};
use crate::schema::{self, TypeRef};
use bytes::Bytes;
use serde_json::Value;

/// The body of a response, of its JSON.
///
/// # Errors
/// 500, if the schema does not know its kind.
pub(super) fn body(json: &[u8]) -> ApiResult<Bytes> {
    let object = parse(json)?;
    let [api_version, kind] = kind_of(&object);
    let message = schema::encode_protobuf_message(&object, known(api_version, kind)?);
    Ok(schema::encode_protobuf(api_version, kind, &message).into())
}

/// An event of a watch, of the JSON of its object: a message of `metav1.WatchEvent`, after its length in four bytes.
///
/// # Errors
/// 500, if the schema does not know the object's kind.
pub(super) fn frame(name: &str, json: &[u8]) -> ApiResult<Bytes> {
    let event = schema::encode_protobuf_event(name, &body(json)?);
    let length = u32::try_from(event.len()).map_err(ApiError::internal)?;
    Ok([&length.to_be_bytes()[..], &event].concat().into())
}

/// A list whose items come one after the other.
pub(super) struct List {
    api_version: String,
    kind: String,
    /// The fields of its message but for the items.
    rest: Vec<u8>,
    /// The number of its items, which tells whether they stand before the rest.
    number: u32,
    /// What its items are.
    item: TypeRef<'static>,
}

impl List {
    /// A list, of its JSON without items.
    ///
    /// # Errors
    /// 500, if the schema does not know its kind.
    pub(super) fn new(empty: &[u8]) -> ApiResult<Self> {
        let object = parse(empty)?;
        let [api_version, kind] = kind_of(&object).map(String::from);
        let ty = known(&api_version, &kind)?;
        let no_items = || ApiError::internal(format!("the kind {kind:?} has no items"));
        let (number, item) = schema::protobuf_items(ty).ok_or_else(no_items)?;
        let rest = schema::encode_protobuf_message(&object, ty);
        Ok(List { api_version, kind, rest, number, item })
    }

    /// An item, of its JSON.
    ///
    /// # Errors
    /// 500, if it is not JSON.
    pub(super) fn item(&self, json: &[u8]) -> ApiResult<Vec<u8>> {
        Ok(schema::protobuf_field(self.number, &schema::encode_protobuf_message(&parse(json)?, self.item)))
    }

    /// What stands before items of that length together, and behind them.
    pub(super) fn ends(&self, items: usize) -> [Bytes; 2] {
        let (head, end) = schema::protobuf_ends(&self.api_version, &self.kind, self.rest.len() + items);
        // Fields come in the order of their numbers.
        match self.number {
            1 => [head.into(), [&*self.rest, &end].concat().into()],
            _ => [[head, self.rest.clone()].concat().into(), end.to_vec().into()],
        }
    }
}

fn kind_of(object: &Value) -> [&str; 2] {
    ["apiVersion", "kind"].map(|name| object[name].as_str().unwrap_or_default())
}

/// The type of a kind. The documents about the core group do not name its version.
fn known(api_version: &str, kind: &str) -> ApiResult<TypeRef<'static>> {
    let version = if api_version.is_empty() { "v1" } else { api_version };
    let unknown = || ApiError::internal(format!("no message is known for the kind {kind:?} of {version:?}"));
    schema::lookup(version, kind).ok_or_else(unknown)
}

/// Parses what the server has written.
fn parse(json: &[u8]) -> ApiResult<Value> {
    serde_json::from_slice(json).map_err(ApiError::internal)
}
