//! Features of definitions that the real server supports and this one does not: a definition with one is refused, rather than
//! served without it.

use super::{spec, text};
use crate::error::{Errors, FieldError};
use serde_json::Value;

/// Findings about unsupported features of a definition: one for each feature.
pub(super) fn findings(definition: &Value) -> Vec<FieldError> {
    Errors::of(|errors| {
        if text(definition, "/spec/conversion/strategy") == "Webhook" {
            let detail = "this server does not support conversion by webhooks yet";
            errors.forbidden(spec::SPEC.child("conversion.strategy"), detail);
        }
    })
}
