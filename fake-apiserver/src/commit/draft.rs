//! From an object's tree to the draft that the store keeps.

use crate::error::{ApiError, ApiResult};
use crate::object::meta;
use crate::registry::Kind;
use crate::schema;
use crate::store::{Draft, Key, Meta, ResourceId};
use serde_json::Value;

/// Serialises an object for the store; everything but the revision is decided.
pub(crate) fn draft(kind: &Kind, resource: ResourceId, object: &Value) -> ApiResult<Draft> {
    let type_ref = schema::lookup(&kind.api_version(), kind.kind)
        .ok_or_else(|| ApiError::internal(format!("the schema lacks {}", kind.kind)))?;
    let encoded = schema::encode(object, type_ref);
    // Every stored object has a uid, which comes right before its revision.
    let slot = encoded.slot.filter(|slot| slot.comma_before && !slot.comma_after);
    let slot = slot.ok_or_else(|| ApiError::internal(format!("{} has no place for a revision", kind.kind)))?.offset;
    // In lists of built-in kinds the items do without their kind and apiVersion.
    let body = format!("{{\"kind\":\"{}\",\"apiVersion\":\"{}\",", kind.kind, kind.api_version()).len();
    let fields = kind.field_labels.iter().map(|field| (field.label, (*(field.value)(object)).into())).collect();
    let labels = meta::labels(object).iter().map(|(key, value)| (key.into(), value.into())).collect();
    let key = Key::new(resource, meta::namespace(object), meta::name(object));
    Ok(Draft { key, json: encoded.json, slot, body, meta: Meta { uid: meta::uid(object).into(), labels, fields } })
}
