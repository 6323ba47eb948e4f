//! The schema: Kubernetes' Go types, and their encodings in JSON and protobuf.
//!
//! The server keeps objects as JSON trees. This module knows each type's fields, and with them does what the real
//! server's codecs do:
//!
//! - [`decode_json`] refuses wrong types and reports unknown and duplicate fields, in the words of Go's decoder;
//! - [`decode_protobuf`] and [`decode_protobuf_message`] read the bodies that most clients send for built-in kinds;
//! - [`encode`] writes, byte for byte, what Go's encoder writes, and [`encode_protobuf_message`] what gogo's marshallers do.
//!
//! Decoding yields *canonical* trees: what is zero is absent, except behind pointers (`optional: false`), in lists and
//! in maps (and an empty `spec.overhead`); times, quantities and base64 are in their normal form; `null` is nowhere but in lists and maps. That is
//! an object as it reads back from the real server's storage, so equal objects are equal trees. (Only a pointer to Go's
//! zero time, the first second of year 1, is taken for none.)
//!
//! The types come from the structs of k8s.io/api and k8s.io/apimachinery v0.37.1 (Kubernetes v1.37, Apache-2.0) by way
//! of `cargo xtask schema`; other [`Types`] are read from a text of the same form. Where raw JSON is embedded in an object
//! its keys are kept sorted, except for sets of fields that are kept as text. Nesting is limited to 120 levels.

mod built_in;
mod bytes;
mod data;
mod decode;
mod decoded;
mod definitions;
mod dump;
mod encode;
mod facets;
mod float;
mod forms;
mod internal;
mod lexer;
mod marshal;
mod names;
mod nature;
mod protobuf;
mod text;
mod time;
mod token;
mod types;
mod unstructured;
mod untyped;
mod wire;

pub use built_in::every_type;
pub use built_in::{ObjectType, lookup};
pub use built_in::{knows, object_meta};
pub use decode::{decode_json, decode_json_while, decode_unpruned};
pub use decoded::{DecodeError, Decoded, MAX_DEPTH, MAX_FINDINGS, check_depth};
pub use definitions::DataError;
pub use encode::push_escaped;
pub use encode::{Encoded, encode, encode_unstored};
pub use encode::{encode_any, encode_part};
pub use facets::{Facets, ListType, PatchStrategy};
pub use float::{number as float, print as print_float};
pub use go_text::{is_printable, quote};
pub use marshal::{
    encode_protobuf, encode_protobuf_event, encode_protobuf_message, protobuf_ends, protobuf_field, protobuf_items,
};
pub use nature::Nature;
pub use protobuf::{decode_protobuf, decode_protobuf_event, decode_protobuf_message};
pub use token::json_type;
pub use types::{Field, OwnedType, TypeRef, Types};
pub use unstructured::convert;
pub use untyped::{canonical_version, count_items, interpret, parse_json, parse_list_of, settle_numbers};

use tree::Value;

/// A `metav1.Time`, or with `micros` a `metav1.MicroTime`, in UTC; `None` for Go's zero time.
///
/// # Errors
/// Go's text, if it is not one.
pub fn canonical_time(text: &str, micros: bool) -> Result<Option<String>, String> {
    if micros { time::Layout::Micros } else { time::Layout::Seconds }.parse(text)
}

/// Checks a tree, e.g. the outcome of a patch, against a type: [`decode_json`] of its text.
///
/// # Errors
/// If a value has the wrong type or form.
pub fn check(object: &Value, ty: TypeRef) -> Result<Decoded, DecodeError> {
    decode_json(object.to_string().as_bytes(), ty)
}
