//! Structural schemas, which specify the type of every value apart from its validation.
//!
//! Follows `NewStructural` and `ValidateStructural` of `pkg/apiserver/schema/{convert,validation}.go` of
//! `k8s.io/apiextensions-apiserver` (v0.37.1). There a schema is converted first; here it is read as it stands.

use super::completeness;
use super::visit::{entries, is_set, listed, schema_in, word};
use crate::custom::schema::UNSUPPORTED;
use crate::error::{Errors, FieldError, Path};
use kubernetes_cel::go_regex;
use tree::{Map, Value};

const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
const EMBEDDED: &str = "x-kubernetes-embedded-resource";
const INT_OR_STRING: &str = "x-kubernetes-int-or-string";

/// The error of `NewStructural` for a schema without a structural form. Of several in a map, Go may return any.
pub(super) fn refusal(schema: &Value) -> Option<String> {
    for (field, name) in UNSUPPORTED {
        if schema.get(field).is_some_and(|value| value != "") {
            return Some(format!("OpenAPIV3Schema '{name}' is not supported"));
        }
    }
    for field in ["not", "allOf", "anyOf", "oneOf"] {
        if let Some(refusal) = listed(schema, field).iter().find_map(refusal) {
            return Some(refusal);
        }
    }
    if schema.get(PRESERVE) == Some(&Value::Bool(false)) {
        return Some(format!("internal error: '{PRESERVE}' must be true or undefined"));
    }
    if schema.get("items").is_some_and(Value::is_array) {
        return Some("OpenAPIV3Schema 'items' must be a schema, but is an array".into());
    }
    let below = schema_in(schema, "items").into_iter();
    let below = below.chain(entries(schema, "properties").map(|(_, schema)| schema));
    below.chain(schema_in(schema, "additionalProperties")).find_map(refusal)
}

/// Whether it has a structural form without findings.
pub(super) fn is_structural(schema: &Value) -> bool {
    refusal(schema).is_none() && findings(Path::ROOT, schema).is_empty()
}

/// `ValidateStructural`: findings about a schema that has a structural form, sorted by their text.
pub(super) fn findings(at: Path<'_>, schema: &Value) -> Vec<FieldError> {
    let mut findings = Errors::of(|errors| {
        invariants(at, schema, Level::Root, errors);
        completeness::completeness(at, schema, errors);
    });
    findings.sort_by_cached_key(FieldError::to_string);
    findings
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// `validateStructuralInvariants`.
fn invariants(at: Path<'_>, schema: &Value, level: Level, errors: &mut Errors) {
    let type_ = word(schema, "type");
    match schema_in(schema, "items") {
        Some(item) => invariants(at.child("items"), item, Level::Item, errors),
        None if type_ == "array" => errors.required(at.child("items"), "must be specified"),
        None => {}
    }
    for (name, property) in entries(schema, "properties") {
        invariants(at.child("properties").key(name), property, Level::Field, errors);
    }
    let additional = at.child("additionalProperties");
    if level == Level::Root && schema.get("additionalProperties").is_some() {
        errors.forbidden(additional, "must not be used at the root");
    }
    if let Some(schema) = schema_in(schema, "additionalProperties") {
        invariants(additional, schema, Level::Field, errors);
    }
    let (embedded, int_or_string) = (is_set(schema, EMBEDDED), is_set(schema, INT_OR_STRING));
    for extension in [PRESERVE, EMBEDDED] {
        if int_or_string && is_set(schema, extension) {
            errors.invalid(at.child(extension), true, format!("must be false if {INT_OR_STRING} is true"));
        }
    }
    values(at, schema, Exceptions::of(schema), errors);
    let detail = match level {
        _ if embedded && type_ != "object" => "must be object if x-kubernetes-embedded-resource is true",
        _ if !type_.is_empty() || embedded || int_or_string || is_set(schema, PRESERVE) => "",
        Level::Root => "must not be empty at the root",
        Level::Item => "must not be empty for specified array items",
        Level::Field => "must not be empty for specified object fields",
    };
    if !detail.is_empty() {
        match type_ {
            "" => errors.required(at.child("type"), detail),
            type_ => errors.invalid(at.child("type"), type_, detail),
        }
    }
    if embedded && schema.get("additionalProperties").is_some() {
        errors.forbidden(additional, "must not be used if x-kubernetes-embedded-resource is set");
    }
    if level == Level::Root && !matches!(type_, "" | "object") {
        errors.invalid(at.child("type"), type_, "must be object at the root");
    }
    object_fields(at, schema, level == Level::Root, embedded, errors);
}

/// Rules for the fields that all objects have, at the root and in embedded objects.
fn object_fields(at: Path<'_>, schema: &Value, root: bool, embedded: bool, errors: &mut Errors) {
    let properties = at.child("properties");
    let property = |name: &str| schema.get("properties").and_then(|properties| properties.get(name));
    for (name, type_) in [("kind", "string"), ("apiVersion", "string"), ("metadata", "object")] {
        let Some(property) = property(name).filter(|_| root || embedded) else { continue };
        if word(property, "type") != type_ {
            let at = properties.key(name);
            errors.invalid(at.child("type"), word(property, "type"), format!("must be {type_}"));
        }
    }
    if root && property("metadata").is_some_and(|metadata| !restricts_names_only(metadata)) {
        let detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        errors.forbidden(properties.key("metadata"), detail);
    }
    if embedded && !is_set(schema, PRESERVE) && schema.get("properties").is_none() {
        let detail =
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        errors.required(properties, detail);
    }
}

/// Whether a schema of metadata restricts only names. Defaults are checked by another rule.
fn restricts_names_only(metadata: &Value) -> bool {
    metadata.as_object().into_iter().flatten().all(|(field, value)| match field.as_str() {
        "type" | "default" | "$ref" => true,
        "properties" => value
            .as_object()
            .is_some_and(|properties| properties.keys().all(|name| matches!(name.as_str(), "name" | "generateName"))),
        _ => false,
    })
}

/// The clauses that need not be structural, as they express that a value is an integer or a string.
#[derive(Debug, Clone, Copy, Default)]
struct Exceptions {
    any_of: bool,
    any_of_first_all_of: bool,
}

impl Exceptions {
    fn of(schema: &Value) -> Self {
        let first = listed(schema, "allOf").first();
        Exceptions { any_of: is_int_or_string(schema), any_of_first_all_of: first.is_some_and(is_int_or_string) }
    }
}

/// Whether `anyOf` is exactly: an integer or a string, in that order.
fn is_int_or_string(schema: &Value) -> bool {
    let is = |clause: &Value, type_: &str| {
        word(clause, "type") == type_
            && clause.as_object().is_some_and(|clause: &Map| {
                clause.iter().all(|(field, value)| match field.as_str() {
                    "type" | "$ref" => true,
                    "additionalProperties" => *value == Value::Bool(false),
                    _ => false,
                })
            })
    };
    matches!(listed(schema, "anyOf"), [first, second] if is(first, "integer") && is(second, "string"))
}

/// `validateValueValidation`.
fn values(at: Path<'_>, schema: &Value, exceptions: Exceptions, errors: &mut Errors) {
    for field in ["anyOf", "allOf", "oneOf"] {
        if field == "anyOf" && exceptions.any_of {
            continue;
        }
        for (index, clause) in listed(schema, field).iter().enumerate() {
            let any_of = field == "allOf" && index == 0 && exceptions.any_of_first_all_of;
            nested(at.item(field, index), clause, Exceptions { any_of, ..Exceptions::default() }, errors);
        }
    }
    if let Some(not) = schema_in(schema, "not") {
        nested(at.child("not"), not, Exceptions::default(), errors);
    }
    let pattern = word(schema, "pattern");
    if !pattern.is_empty()
        && let Err(error) = go_regex::check(pattern)
    {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        errors.invalid(at.child("pattern"), pattern, detail);
    }
}

/// `validateNestedValueValidation`: clauses do not specify types.
fn nested(at: Path<'_>, clause: &Value, exceptions: Exceptions, errors: &mut Errors) {
    const FORBIDDEN: [(&str, &str); 12] = [
        ("type", "empty"),
        ("default", "undefined"),
        ("title", "empty"),
        ("description", "empty"),
        ("nullable", "false"),
        (PRESERVE, "false"),
        (EMBEDDED, "false"),
        (INT_OR_STRING, "false"),
        ("x-kubernetes-list-map-keys", "empty"),
        ("x-kubernetes-list-type", "undefined"),
        ("x-kubernetes-map-type", "undefined"),
        ("x-kubernetes-validations", "empty"),
    ];
    values(at, clause, exceptions, errors);
    if let Some(item) = schema_in(clause, "items") {
        nested(at.child("items"), item, Exceptions::default(), errors);
    }
    for (name, property) in entries(clause, "properties") {
        nested(at.child("properties").key(name), property, Exceptions::default(), errors);
    }
    if clause.get("additionalProperties").is_some_and(|additional| *additional != Value::Bool(false)) {
        errors.forbidden(at.child("additionalProperties"), "must be undefined to be structural");
    }
    for (field, must) in FORBIDDEN.iter().filter(|(field, _)| clause.get(field).is_some()) {
        errors.forbidden(at.child(field), format!("must be {must} to be structural"));
    }
    if clause.get("properties").is_some_and(|properties| properties.get("metadata").is_some()) {
        errors.forbidden(at.child("properties").key("metadata"), "must not be specified in a nested context");
    }
}
