//! Embedded objects (`x-kubernetes-embedded-resource`), whose `apiVersion`, `kind` and `metadata` are those of any object.
//!
//! A port of `k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta` (v0.37.1).

use super::node::Node;
use crate::deadline::Deadline;
use crate::error::{Errors, FieldError, Path};
use crate::object::validate::{MetaRules, NameRule};
use crate::object::{name, validate};
use crate::schema::{decode_json, encode, encode_any, object_meta, parse_json};
use tree::{Map, Text, Value, json};

/// `FieldManagerMaxLength`.
const FIELD_MANAGER_MAX_LENGTH: usize = 128;
/// `MaxSubresourceNameLength`.
const MAX_SUBRESOURCE_NAME_LENGTH: usize = 256;

/// The handling of a field of `metadata` that cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Mode {
    /// It is an error.
    RefuseMalformed,
    /// It is an error, unless it is null: the nulls that an apply leaves are for validation to refuse.
    LeaveNulls,
    /// It is removed.
    DropMalformed,
}

/// Decodes `metadata` as Go's `ObjectMeta`, and encodes it again, without unknown fields. Returns the paths of these.
fn normalize(metadata: &Value) -> Result<(Value, Vec<String>), String> {
    let ty = object_meta();
    let decoded = decode_json(encode_any(metadata).as_bytes(), ty).map_err(|error| error.to_string())?;
    let written = parse_json(&encode(&decoded.object, ty).json).map_err(|error| error.to_string())?;
    let mut written = written.object;
    if let Some(object) = written.as_object_mut()
        && object.get("creationTimestamp").is_some_and(Value::is_null)
    {
        object.remove("creationTimestamp");
    }
    Ok((written, decoded.findings.iter().map(|finding| path_of(finding)).collect()))
}

/// The path in a finding of strict decoding: `unknown field "labels.x"`.
fn path_of(finding: &str) -> String {
    let quoted = finding.trim_start_matches("unknown field ");
    serde_json::from_str(quoted).unwrap_or_else(|_| quoted.trim_matches('"').to_owned())
}

/// Normalizes the metadata of embedded objects, and of the value if it `is_object` (`CoerceWithOptions`). Returns the paths
/// of the unknown fields, which are removed, in order.
pub(super) fn coerce(
    node: &Node,
    at: Path<'_>,
    value: &mut Value,
    is_object: bool,
    mode: Mode,
    deadline: &Deadline,
) -> Result<Vec<String>, FieldError> {
    let mut coercion = Coercion { mode, unknown: Vec::new(), deadline };
    coercion.value(node, is_object, at, value)?;
    coercion.unknown.sort();
    Ok(coercion.unknown)
}

/// A walk through a value, with the paths of unknown fields.
struct Coercion<'d> {
    mode: Mode,
    unknown: Vec<String>,
    deadline: &'d Deadline,
}

impl Coercion<'_> {
    fn value(&mut self, node: &Node, is_object: bool, at: Path<'_>, value: &mut Value) -> Result<(), FieldError> {
        if self.deadline.check().is_err() {
            return Ok(());
        }
        match value {
            Value::Object(object) => {
                if is_object || node.embedded {
                    self.meta(node, at, object)?;
                }
                for (name, value) in object.iter_mut() {
                    match (node.properties.get(name.as_str()), node.field(name)) {
                        (Some(field), _) => self.value(field, false, at.child(name), value)?,
                        (None, Some(field)) => self.value(field, false, at.key(name), value)?,
                        (None, None) => {}
                    }
                }
            }
            Value::Array(items) => {
                let Some(node) = &node.items else { return Ok(()) };
                for (index, item) in items.iter_mut().enumerate() {
                    self.value(node, false, at.index(index), item)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn meta(&mut self, node: &Node, at: Path<'_>, object: &mut Map) -> Result<(), FieldError> {
        let mode = self.mode;
        let is_left = |value: &Value| mode == Mode::LeaveNulls && value.is_null();
        for name in ["apiVersion", "kind"] {
            if let Some(value) = object.get(name).filter(|value| !value.is_string() && !is_left(value)) {
                if mode != Mode::DropMalformed {
                    return Err(FieldError::invalid(at.child(name), value, "must be a string"));
                }
                object.remove(name);
            }
        }
        let is_refused = node.properties.get("metadata").is_some_and(|metadata| !metadata.nullable);
        let Some(metadata) = object.get_mut("metadata").filter(|metadata| !(is_refused && is_left(metadata))) else {
            return Ok(());
        };
        match (normalize(metadata), &metadata) {
            (Ok((written, paths)), _) => {
                let at = at.child("metadata");
                self.unknown.extend(paths.iter().map(|path| format!("{at}.{path}")));
                *metadata = written;
            }
            (Err(error), _) if mode != Mode::DropMalformed => {
                return Err(FieldError::invalid(at.child("metadata"), metadata, error));
            }
            (Err(_), Value::Object(fields)) => {
                let can_be_read = |(name, value): &(&Text, &Value)| normalize(&json!({ name.as_str(): value })).is_ok();
                let readable = fields.iter().filter(can_be_read).map(|(name, value)| (name.clone(), value.clone()));
                if let Ok((written, _)) = normalize(&Value::Object(readable.collect())) {
                    *metadata = written;
                }
            }
            (Err(_), _) => {}
        }
        Ok(())
    }
}

/// Findings about embedded objects, and also about the value if it `is_object` (`objectmeta.Validate`).
pub(super) fn check(
    node: &Node,
    at: Path<'_>,
    value: &Value,
    is_object: bool,
    errors: &mut Errors,
    deadline: &Deadline,
) {
    if deadline.check().is_err() {
        return;
    }
    match value {
        Value::Object(object) => {
            if is_object || node.embedded {
                check_meta(at, object, errors);
            }
            for (name, value) in object {
                match (node.properties.get(name.as_str()), node.field(name)) {
                    (Some(field), _) => check(field, at.child(name), value, false, errors, deadline),
                    (None, Some(field)) => check(field, at.key(name), value, false, errors, deadline),
                    (None, None) => {}
                }
            }
        }
        Value::Array(items) => {
            let Some(node) = &node.items else { return };
            for (index, item) in items.iter().enumerate() {
                check(node, at.index(index), item, false, errors, deadline);
            }
        }
        _ => {}
    }
}

/// `validateEmbeddedResource`.
fn check_meta(at: Path<'_>, object: &Map, errors: &mut Errors) {
    for name in ["apiVersion", "kind"] {
        if !object.contains_key(name) {
            errors.required(at.child(name), "");
        }
    }
    for (name, objection) in [("apiVersion", version_objection as fn(&str) -> Option<String>), ("kind", kind_objection)]
    {
        let objection = match object.get(name) {
            None => None,
            Some(Value::String(text)) if text.is_empty() => Some("must not be empty".to_owned()),
            Some(Value::String(text)) => objection(text),
            Some(_) => Some("must be a string".to_owned()),
        };
        if let (Some(value), Some(objection)) = (object.get(name), objection) {
            errors.push(FieldError::invalid(at.child(name), value, objection));
        }
    }
    let Some(metadata) = object.get("metadata") else { return };
    match normalize(metadata) {
        Ok((metadata, _)) => check_metadata(at, metadata, errors),
        Err(error) => errors.push(FieldError::invalid(at.child("metadata"), metadata, error)),
    }
}

/// `schema.ParseGroupVersion`.
fn version_objection(text: &str) -> Option<String> {
    (text.matches('/').count() > 1).then(|| format!("unexpected GroupVersion string: {text}"))
}

fn kind_objection(text: &str) -> Option<String> {
    let objections = name::dns1035_label(&text.to_lowercase());
    let message = || format!("may have mixed case, but should otherwise match: {}", objections.join(","));
    (!objections.is_empty()).then(message)
}

fn check_metadata(at: Path<'_>, mut metadata: Value, errors: &mut Errors) {
    let text = |name: &str| metadata.get(name).and_then(Value::as_str).unwrap_or_default();
    let rules = MetaRules {
        namespaced: !text("namespace").is_empty(),
        name_rule: NameRule::PathSegment,
        qualified_finalizers: false,
    };
    if text("name").is_empty() {
        metadata["name"] = "fakename".into();
    }
    let object = json!({ "metadata": metadata });
    let mut found = Errors::default();
    found.extend(validate::metadata(&object, &rules));
    let managed = object["metadata"]["managedFields"].as_array();
    for (index, entry) in managed.into_iter().flatten().enumerate() {
        check_managed(Path::new("metadata").item("managedFields", index), entry, &mut found);
    }
    errors.extend(found.into_iter().map(|finding| finding.within(at)));
}

/// An entry of `managedFields` (`ValidateManagedFields`).
fn check_managed(at: Path<'_>, entry: &Value, errors: &mut Errors) {
    let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
    match text("operation") {
        "" => errors.required(at.child("operation"), "must not be empty"),
        operation => errors.supported(at.child("operation"), operation, &["Apply", "Update"]),
    }
    if !matches!(text("fieldsType"), "" | "FieldsV1") {
        errors.invalid(at.child("fieldsType"), text("fieldsType"), "must be `FieldsV1`");
    }
    let manager = text("manager");
    if manager.len() > FIELD_MANAGER_MAX_LENGTH {
        errors.push(FieldError::too_long(at.child("manager"), FIELD_MANAGER_MAX_LENGTH));
    }
    for (index, char) in manager.char_indices().filter(|(_, char)| char.is_control()) {
        let detail = format!("invalid character U+{:04X} (at position {index})", u32::from(char));
        errors.invalid(at.child("manager"), manager, detail);
    }
    if text("subresource").len() > MAX_SUBRESOURCE_NAME_LENGTH {
        errors.push(FieldError::too_long(at.child("subresource"), MAX_SUBRESOURCE_NAME_LENGTH));
    }
}
