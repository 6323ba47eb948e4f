//! Types with a JSON form of their own: raw JSON, and the unions of apiextensions.k8s.io/v1.
//!
//! Follows `runtime.RawExtension` (apimachinery) and `marshal.go` of apiextensions/v1 (Kubernetes v1.37). Go decodes the
//! content of a union separately from the object around it: not strictly, into a new value, and its first error ends decoding.

use super::decode::{Decoder, Failure, Step};
use super::token::Token;
use super::types::{TypeRef, Union};
use super::untyped;
use tree::Value;

impl<'a> Decoder<'a> {
    /// JSON of any kind.
    pub(super) fn raw_json(&mut self) -> Step<Value> {
        let depth = self.depth();
        let raw = self.lexer.raw_value()?;
        untyped::parse_within(raw, depth)
            .map(|decoded| decoded.object)
            .map_err(|error| Failure::Value(error.to_string()))
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
