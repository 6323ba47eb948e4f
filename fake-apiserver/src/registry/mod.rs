//! The served resources: their record from the real server, the rules that kinds have in Go, and the [`Registry`] in which
//! requests find them.

mod added;
mod context;
mod conversion;
mod cursor;
mod custom;
mod declarative;
mod kinds;
mod lookup;
pub(crate) mod owners;
mod record;
mod reset_fields;
mod resource;
mod rules;
mod stored_field;
mod undecodable;
mod webhook_conversion;

mod admission_registration;
mod api_services;
mod apps;
mod batch;
mod certificates;
mod columns;
mod component_statuses;
mod config_maps;
mod custom_resource_definitions;
mod custom_versions;
mod defaults;
mod dynamic_resources;
mod endpoint_slices;
mod endpoints;
mod events;
mod flow_control;
mod horizontal_pod_autoscalers;
mod leases;
mod limit_ranges;
mod namespaces;
mod networking;
mod nodes;
mod persistent_volume_claims;
mod persistent_volumes;
mod pod_disruption_budgets;
mod pod_templates;
mod pods;
mod priority_classes;
mod quantity;
mod rbac;
mod replication_controllers;
mod resource_quotas;
mod runtime_classes;
mod scale_columns;
mod secrets;
mod service_accounts;
pub(crate) mod services;
mod storage;
mod storage_version_migrations;
mod subresources;
mod types;

pub(crate) use added::ColumnDescription;
pub use added::{Description, VersionDescription};
pub(crate) use apps::selector_text as scale_selector;
pub use context::Context;
pub(crate) use custom::{ScalePaths, at_path, set_at_path};
pub(crate) use custom_resource_definitions::{Approval, approval_of};
pub use kinds::ids;
pub use lookup::{Registry, Served};
pub(crate) use pods::{MIRROR_POD_ANNOTATION, is_mirror_pod, references};
pub use rbac::GROUP as RBAC_GROUP;
pub use resource::{Findings, PrinterColumn, Resource, Str, Subresource, Version};
pub(crate) use rules::{Allocator, Closes, Encoding, Grants};
pub use rules::{RowCondition, Strategy};
pub(crate) use scale_columns::scale_columns;
pub(crate) use subresources::{Handler, Review};
pub(crate) use types::amount;
pub(crate) use undecodable::Undecodable;
pub(crate) use webhook_conversion::Converter;

use tree::{Map, Value};

/// The value at a JSON pointer without escapes. Allocates nothing, unlike `Value::pointer`.
pub(crate) fn at<'a>(mut value: &'a Value, mut pointer: &str) -> Option<&'a Value> {
    while let Some(rest) = pointer.strip_prefix('/') {
        let end = rest.bytes().position(|byte| byte == b'/').unwrap_or(rest.len());
        let token;
        (token, pointer) = rest.split_at(end);
        value = match value {
            Value::Array(items) => items.get(token.parse::<usize>().ok()?)?,
            value => value.get(token)?,
        };
    }
    Some(value)
}

/// The text at a JSON pointer, "" when there is none.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    at(value, pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The number at a JSON pointer.
pub(crate) fn number(value: &Value, pointer: &str) -> Option<i64> {
    at(value, pointer).and_then(Value::as_i64)
}

/// Whether the value at a JSON pointer is `true`.
pub(crate) fn flag(value: &Value, pointer: &str) -> bool {
    at(value, pointer) == Some(&Value::Bool(true))
}

/// The items at a JSON pointer.
pub(crate) fn items<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    at(value, pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Sets a field of the object to its value in another.
pub(crate) fn carry_over(object: &mut Value, from: &Value, field: &str) {
    let Some(fields) = object.as_object_mut() else { return };
    match from.get(field) {
        Some(value) => fields.insert(field.into(), value.clone()),
        None => fields.remove(field),
    };
}

/// A field that is an object, created if it is absent.
pub(crate) fn child<'a>(object: &'a mut Value, field: &str) -> &'a mut Value {
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    &mut object[field]
}

/// Sets a field where it is unset or empty, as Go's zero values are.
fn default_to(object: &mut Value, field: &str, value: impl Into<Value>) {
    if object.is_null() {
        *object = Value::Object(Map::new());
    }
    let Some(fields) = object.as_object_mut() else { return };
    let unset = match fields.get(field) {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.is_empty(),
        Some(_) => false,
    };
    if unset {
        fields.insert(field.into(), value.into());
    }
}

/// Synchronises a field and the first item of the list that replaced it: each fills the other; on conflict the field wins.
fn sync_first(object: &mut Value, field: &str, list: &str, wrap: fn(Value) -> Value, unwrap: fn(&Value) -> Value) {
    let Some(fields) = object.as_object_mut() else { return };
    let single = fields.get(field).filter(|value| value.as_str() != Some("")).cloned();
    let first = fields.get(list).and_then(Value::as_array).and_then(|items| items.first()).map(unwrap);
    match (single, first) {
        (Some(single), first) if first.as_ref() != Some(&single) => {
            fields.insert(list.into(), Value::Array(vec![wrap(single)]));
        }
        (None, Some(first)) => {
            fields.insert(field.into(), first);
        }
        _ => {}
    }
}
