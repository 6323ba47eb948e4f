//! Features of definitions that the real server supports and this one does not: a definition with one is refused, rather than
//! served without it.

use super::{expressions, spec, text, visit};
use crate::error::{Errors, FieldError, Path};
use serde_json::Value;

/// Findings about unsupported features of a definition: one for each feature.
pub(super) fn findings(definition: &Value) -> Vec<FieldError> {
    Errors::of(|errors| {
        for (index, version) in spec::versions(definition).iter().enumerate() {
            let at = spec::SPEC.item("versions", index);
            if let Some(schema) = version.pointer("/schema/openAPIV3Schema") {
                expression(at.child("schema.openAPIV3Schema"), schema, errors);
            }
        }
        if text(definition, "/spec/conversion/strategy") == "Webhook" {
            let detail = "this server does not support conversion by webhooks yet";
            errors.forbidden(spec::SPEC.child("conversion.strategy"), detail);
        }
    })
}

/// A finding about the first CEL rule in a place where the real server evaluates them; elsewhere it refuses them, too.
fn expression(at: Path<'_>, schema: &Value, errors: &mut Errors) {
    if errors.len() > 0 {
        return;
    }
    if !expressions::of(schema).is_empty() {
        let at = at.item(expressions::RULES, 0);
        return errors.forbidden(at.child("rule"), "this server does not support rules in CEL yet");
    }
    for (name, property) in visit::entries(schema, "properties") {
        expression(at.child("properties").key(name), property, errors);
    }
    for field in ["items", "additionalProperties"] {
        if let Some(schema) = visit::schema_in(schema, field) {
            expression(at.child(field), schema, errors);
        }
    }
}
