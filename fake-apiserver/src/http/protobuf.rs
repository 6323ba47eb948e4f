//! Answers in protobuf, made of the JSON that would have been sent: bodies, lists, and the frames of watches.
//!
//! As of a JSON list, what is made of neighbours is kept until one of them changes.

use super::table::ListMeta;
use crate::api::{Items, Listing};
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult};
use crate::registry::Version;
use crate::schema::{self, TypeRef};
use crate::store::{Entry, FormId};
use bytes::Bytes;
use serde_json::{Value, json};
use std::sync::Arc;

/// Items of a list.
const ITEMS: FormId = FormId(1);
/// How many selected items are put together.
const CHUNK: usize = 64;

/// The body of a response, of its JSON.
///
/// # Errors
/// 500, if the schema does not know its kind.
pub(super) fn body(json: &[u8]) -> ApiResult<Bytes> {
    let object = parse(json)?;
    let [api_version, kind] = ["apiVersion", "kind"].map(|name| object[name].as_str().unwrap_or_default());
    let message = schema::encode_protobuf_message(&object, known(api_version, kind)?);
    Ok(schema::encode_protobuf(api_version, kind, vec![message]).concat().into())
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

/// The body of a plain list response, in chunks.
///
/// # Errors
/// 500, if a stored object is not JSON; 504, if the time is up.
pub(super) fn list(version: &Version, listing: &Listing, deadline: &Deadline) -> ApiResult<Vec<Bytes>> {
    let kind = format!("{}List", version.kind);
    let metadata = json!({ "metadata": ListMeta::of(listing) });
    let mut message = vec![schema::encode_protobuf_message(&metadata, known(&version.api_version, &kind)?).into()];
    match &listing.items {
        items if version.conversion.is_some() => {
            for entry in items.iter() {
                deadline.check()?;
                let json = version.converted(entry.json())?;
                message.push(item(version, &json.map_or_else(|| Ok(entry.object()), |json| parse(&json))?).into());
            }
        }
        Items::Neighbours(runs) => {
            for run in runs {
                deadline.check()?;
                message.extend_from_slice(&run.rendered(ITEMS, |entries| items(version, entries)));
            }
        }
        Items::Selected(entries) => {
            for entries in entries.chunks(CHUNK) {
                deadline.check()?;
                message.extend(items(version, entries));
            }
        }
    }
    Ok(schema::encode_protobuf(&version.api_version, &kind, message))
}

fn items(version: &Version, entries: &[Arc<Entry>]) -> Vec<Bytes> {
    vec![entries.iter().map(|entry| item(version, &entry.object())).collect::<Vec<_>>().concat().into()]
}

fn item(version: &Version, object: &Value) -> Vec<u8> {
    schema::protobuf_item(&schema::encode_protobuf_message(object, version.ty()))
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
