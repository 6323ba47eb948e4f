//! The schema of a version, as a whole.
//!
//! Follows `validateCustomResourceDefinitionValidation` of `pkg/apis/apiextensions/validation/validation.go` of
//! `k8s.io/apiextensions-apiserver` (v0.37.1). Without the error of a validator that cannot be built, as no schema is known
//! that passes the other rules and has it.
//!
//! GAP: customresourcedefinitions: the removal of unknown fields from the metadata of embedded objects in defaults

use super::context::Context;
use super::leniency::Leniency;
use super::place::{Found, Place};
use super::schema;
use super::visit::{is_set, word};
use super::{printed, structural};
use crate::custom::rules::{Check, Rules};
use crate::custom::schema::validate_defaults;
use crate::deadline::Deadline;
use crate::error::{Errors, FieldError, Path};
use tree::Value;

/// `allowedFieldsAtRootSchema`, whose Go names are part of the message, with the names in JSON.
const ALLOWED: [(&str, &str); 22] = [
    ("Description", "description"),
    ("Type", "type"),
    ("Format", "format"),
    ("Title", "title"),
    ("Maximum", "maximum"),
    ("ExclusiveMaximum", "exclusiveMaximum"),
    ("Minimum", "minimum"),
    ("ExclusiveMinimum", "exclusiveMinimum"),
    ("MaxLength", "maxLength"),
    ("MinLength", "minLength"),
    ("Pattern", "pattern"),
    ("MaxItems", "maxItems"),
    ("MinItems", "minItems"),
    ("UniqueItems", "uniqueItems"),
    ("MultipleOf", "multipleOf"),
    ("Required", "required"),
    ("Items", "items"),
    ("Properties", "properties"),
    ("ExternalDocs", "externalDocs"),
    ("Example", "example"),
    ("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields"),
    ("XValidations", "x-kubernetes-validations"),
];

/// Rules for the schema of a version; `at` is the path of its parent, `status` is whether the status is a subresource.
pub(super) fn schema(at: Path<'_>, schema: &Value, status: bool, leniency: &Leniency, errors: &mut Errors) {
    let mut own = Errors::default();
    if status {
        with_status(at, schema, &mut own);
    }
    if is_set(schema, "nullable") {
        own.forbidden(at.child("openAPIV3Schema.nullable"), "nullable cannot be true at the root");
    }
    let here = at.child("openAPIV3Schema");
    let conversion = if leniency.structural { structural::refusal(schema) } else { None };
    let mut context = None;
    if leniency.structural && conversion.is_none() {
        let findings = structural::findings(here, schema);
        if findings.is_empty() {
            match defaults(here, schema, &leniency.deadline) {
                Ok(findings) if findings.is_empty() => context = Some(Context::root(schema)),
                Ok(findings) => own.extend(findings),
                Err(error) => own.invalid(here, "", error),
            }
        } else {
            own.extend(findings);
        }
    }
    let mut found = Found::default();
    schema::schema(here, schema, Place::ROOT, leniency, context.as_ref(), &mut found);
    own.extend(found.errors);
    own.extend(found.rules);
    // Mostly the rules above have found it already.
    if let Some(refusal) = conversion.filter(|_| own.is_empty()) {
        own.invalid(here, "", refusal);
    }
    found.cost.check(here, &mut own);
    errors.extend(own);
}

/// Findings about the defaults, which must also obey the rules that are about them.
fn defaults(at: Path<'_>, schema: &Value, deadline: &Deadline) -> Result<Vec<FieldError>, String> {
    let mut check = Check::new(deadline);
    validate_defaults(schema, at, deadline, &mut |default, errors| {
        if let Some(rules) = Rules::new(default.schema, default.is_root) {
            rules.check_default(default.node, default.at, default.value, &mut check);
            errors.extend(check.errors.drain(..));
        }
        !check.has_ended()
    })
}

/// With the status subresource, only some fields may be set at the root, as rules about the status would be lost. Only the
/// first other field is reported, in the order of Go's struct.
fn with_status(at: Path<'_>, schema: &Value, errors: &mut Errors) {
    for field in printed::fields(schema) {
        if field == "type" && word(schema, "type") != "object" {
            let detail =
                "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
            return errors.invalid(at.child("openAPIV3Schema.type"), word(schema, "type"), detail);
        }
        if !ALLOWED.iter().any(|(_, allowed)| *allowed == field) {
            let names = ALLOWED.map(|(name, _)| name).join(" ");
            let detail = format!(
                "only [{names}] fields are allowed at the root of the schema if the status subresource is enabled"
            );
            let at = at.child("openAPIV3Schema");
            return errors.push(FieldError::invalid_printed(at, printed::schema(schema), detail));
        }
    }
}
