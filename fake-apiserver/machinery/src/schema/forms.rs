//! Types with a JSON form of their own: raw JSON, and the unions of apiextensions.k8s.io/v1.
//!
//! Follows `runtime.RawExtension` (apimachinery) and `marshal.go` of apiextensions/v1 (Kubernetes v1.37). Go decodes the
//! content of a union separately from the object around it: not strictly, into a new value, and its first error ends decoding.

use super::decode::{Decoder, Failure, Step};
use super::decoded::DecodeError;
use super::lexer::Lexer;
use super::token::Token;
use super::types::{TypeRef, Union};
use super::untyped;
use tree::Value;

/// The depth of nesting up to which a set of fields stays a text.
const SHALLOW: usize = 100;

/// Unchecked JSON of any kind at that depth.
///
/// # Errors
/// If it is not JSON.
pub(super) fn embedded(ty: TypeRef<'_>, json: &[u8], depth: usize) -> Result<Value, DecodeError> {
    match fields(ty, json).filter(|_| Lexer::check(json).is_ok()) {
        Some(fields) => Ok(fields),
        None => untyped::parse_within(json, depth).map(|decoded| decoded.object),
    }
}

/// A set of fields, which few requests look at, as a text, if the JSON is one that may stay so.
fn fields(ty: TypeRef<'_>, json: &[u8]) -> Option<Value> {
    let text = if ty.bare_name() == "FieldsV1" { plain(json) } else { None };
    text.map(|text| Value::Raw(text.into()))
}

/// The text of an object that is encoded as Go would: without spaces between its parts, and nested no deeper than sets of fields
/// are; `None` if it may be another one.
fn plain(raw: &[u8]) -> Option<&str> {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for byte in raw {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b'<' | b'>' | b'&' | 0x7f.. => return None,
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_text = !in_text,
            b'{' if !in_text => depth = depth.saturating_add(1),
            b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > SHALLOW {
            return None;
        }
    }
    std::str::from_utf8(raw).ok().filter(|text| text.starts_with('{'))
}

impl<'a> Decoder<'a> {
    /// JSON of any kind.
    pub(super) fn raw_json(&mut self, ty: TypeRef<'_>) -> Step<Value> {
        let depth = self.depth();
        let raw = self.lexer.raw_value()?;
        // A text would stand for what is nested too deeply.
        match fields(ty, raw).filter(|_| !self.keeps_deep) {
            Some(fields) => Ok(fields),
            None => untyped::parse_within(raw, depth)
                .map(|decoded| decoded.object)
                .map_err(|error| Failure::Value(error.to_string())),
        }
    }

    /// The variant that the token begins. An empty list counts as absent.
    pub(super) fn union(&mut self, ty: TypeRef<'a>, union: &'a Union, token: Token, slot: &mut Value) -> Step {
        *slot = Value::Null;
        let Some(variant) = ty.variant(union, token) else {
            if let Some(refusal) = &union.refusal {
                return Err(Failure::Value(refusal.as_ref().to_owned()));
            }
            return Ok(self.lexer.skip_value()?);
        };
        let outer = (self.apart, self.error.take());
        self.apart = self.apart.or(Some(self.path.len()));
        self.value(ty.at(variant.ty), slot)?;
        if let Some(message) = self.error.take() {
            return Err(Failure::Value(message));
        }
        (self.apart, self.error) = outer;
        if slot.as_array().is_some_and(Vec::is_empty) {
            *slot = Value::Null;
        }
        Ok(())
    }
}
