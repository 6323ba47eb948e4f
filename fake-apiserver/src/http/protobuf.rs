//! Responses in protobuf, made from their JSON: bodies, lists, and the frames of watches.

use crate::error::{ApiError, ApiResult};
use crate::schema::{self, TypeRef};
use bytes::Bytes;
use tree::Value;

/// The size of the length before a frame of a watch, in bytes.
pub(super) const LENGTH: usize = 4;

/// The body of a response, from its JSON.
///
/// # Errors
/// 500, if its kind is not in the schema.
pub(super) fn body(json: &[u8]) -> ApiResult<Bytes> {
    let object = parse(json)?;
    let [api_version, kind] = kind_of(&object);
    let message = schema::encode_protobuf_message(&object, known(api_version, kind)?);
    Ok(schema::encode_protobuf(api_version, kind, &message).into())
}

/// An event of a watch, from the JSON of its object: a `metav1.WatchEvent` after its length.
///
/// # Errors
/// 500, if the object's kind is not in the schema.
pub(super) fn frame(name: &str, json: &[u8]) -> ApiResult<Bytes> {
    let event = schema::encode_protobuf_event(name, &body(json)?);
    let length = u32::try_from(event.len()).map_err(ApiError::internal)?;
    let length: [u8; LENGTH] = length.to_be_bytes();
    Ok([&length[..], &event].concat().into())
}

/// A list, to be written item by item.
pub(super) struct List {
    api_version: String,
    kind: String,
    /// The fields of its message without the items.
    rest: Vec<u8>,
    /// The field number of its items, which decides whether they precede the rest.
    number: u32,
    /// The type of its items.
    item: TypeRef<'static>,
}

impl List {
    /// A list, from its JSON without items.
    ///
    /// # Errors
    /// 500, if its kind is not in the schema.
    pub(super) fn new(empty: &[u8]) -> ApiResult<Self> {
        let object = parse(empty)?;
        let [api_version, kind] = kind_of(&object).map(String::from);
        let ty = known(&api_version, &kind)?;
        let no_items = || ApiError::internal(format!("the kind {kind:?} has no items"));
        let (number, item) = schema::protobuf_items(ty).ok_or_else(no_items)?;
        let rest = schema::encode_protobuf_message(&object, ty);
        Ok(List { api_version, kind, rest, number, item })
    }

    /// An item, from its JSON.
    ///
    /// # Errors
    /// 500, if it is not JSON.
    pub(super) fn item(&self, json: &[u8]) -> ApiResult<Vec<u8>> {
        Ok(schema::protobuf_field(self.number, &schema::encode_protobuf_message(&parse(json)?, self.item)))
    }

    /// The bytes before and behind items of that total length.
    pub(super) fn ends(&self, items: usize) -> [Bytes; 2] {
        let (head, end) = schema::protobuf_ends(&self.api_version, &self.kind, self.rest.len() + items);
        // Fields are in the order of their numbers.
        match self.number {
            1 => [head.into(), [&*self.rest, &end].concat().into()],
            _ => [[head, self.rest.clone()].concat().into(), end.to_vec().into()],
        }
    }
}

fn kind_of(object: &Value) -> [&str; 2] {
    ["apiVersion", "kind"].map(|name| object[name].as_str().unwrap_or_default())
}

/// The type of a kind. Discovery documents of the core group have no version.
fn known(api_version: &str, kind: &str) -> ApiResult<TypeRef<'static>> {
    let version = if api_version.is_empty() { "v1" } else { api_version };
    let unknown = || ApiError::internal(format!("no message is known for the kind {kind:?} of {version:?}"));
    schema::lookup(version, kind).ok_or_else(unknown)
}

/// Parses JSON that the server has written.
fn parse(json: &[u8]) -> ApiResult<Value> {
    tree::parse_object(json).map_err(ApiError::internal)
}
