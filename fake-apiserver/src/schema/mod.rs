//! What Kubernetes' Go types look like on the wire.
//!
//! The server keeps objects as JSON trees. This module knows each type's fields, and with them does what the real
//! server's codecs do:
//!
//! - [`decode_json`] refuses wrong types and reports unknown and duplicate fields, in the words of Go's decoder;
//! - [`decode_protobuf`] and [`decode_protobuf_message`] read the bodies that most clients send for built-in kinds;
//! - [`encode`] writes, byte for byte, what Go's encoder writes.
//!
//! Decoding yields *canonical* trees: what is zero is absent, except behind pointers (`optional: false`), in lists and
//! in maps; times, quantities and base64 are in their normal form; `null` is nowhere but in lists and maps. That is
//! an object as it reads back from the real server's storage, so equal objects are equal trees. (Only a pointer to Go's
//! zero time, the first second of year 1, is taken for none.)
//!
//! The types come from the structs of k8s.io/api and k8s.io/apimachinery v0.37.1 (Kubernetes v1.37, Apache-2.0) by way
//! of `cargo xtask schema`. Where raw JSON is embedded in an object (`managedFields[].fieldsV1`) its keys are kept
//! sorted, and its depth is limited.

mod bytes;
mod decode;
mod encode;
mod lexer;
mod protobuf;
mod quantity;
mod text;
mod time;
mod types;
mod untyped;
mod wire;

pub use decode::decode_json;
pub use encode::{Encoded, encode};
pub use protobuf::{decode_protobuf, decode_protobuf_message};
pub(crate) use text::quote;
pub use untyped::{interpret, parse_json};

use serde_json::Value;
use types::Type;

/// The Go type of a kind's bodies.
#[derive(Debug, Clone, Copy)]
pub struct TypeRef(&'static Type);

/// The type of `kind` in `api_version`, e.g. of `Lease` in `coordination.k8s.io/v1`. `DeleteOptions` and its like are
/// part of every version.
pub fn lookup(api_version: &str, kind: &str) -> Option<TypeRef> {
    types::lookup(api_version, kind).map(TypeRef)
}

/// What a body held.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// The canonical tree.
    pub object: Value,
    /// What strict decoding complains about, in order: `unknown field "spec.bogus"`, `duplicate field "data.k"`.
    pub findings: Vec<String>,
}

/// Why a body is not an object of its type, in Go's words.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct DecodeError(String);

/// Checks a tree, e.g. the outcome of a patch, against a type: [`decode_json`] of its text.
///
/// # Errors
/// If a value has the wrong type or form.
pub fn check(object: &Value, ty: TypeRef) -> Result<Decoded, DecodeError> {
    decode_json(object.to_string().as_bytes(), ty)
}
