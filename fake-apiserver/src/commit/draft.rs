//! The encoding of an object's tree as a draft for the store.

use crate::error::{ApiError, ApiResult};
use crate::object::meta::Metadata;
use crate::registry::Resource;
use crate::schema;
use crate::store::{Draft, Entry, Key, Meta};
use std::collections::BTreeMap;
use tree::Value;

/// An object, read in another version than the stored one under that revision.
pub(crate) fn read(resource: &Resource, object: &Value, revision: u64) -> ApiResult<Entry> {
    draft(resource, object).map(|draft| draft.read_at(revision))
}

/// An object, encoded for the store by [`draft`].
pub(crate) type Encoded = Draft;

/// Serialises an object for the store; everything but the revision is decided.
pub(crate) fn draft(resource: &Resource, object: &Value) -> ApiResult<Draft> {
    let encoded = schema::encode(object, resource.storage().ty());
    // Every stored object has a uid, which comes right before its revision.
    let slot = encoded.slot.filter(|slot| slot.comma_before && !slot.comma_after);
    let slot = slot.ok_or_else(|| ApiError::internal(format!("{} has no place for a revision", resource.kind)))?.offset;
    // The part that items of lists lack, or the brace alone.
    let body = resource.storage().head.len();
    let fields = resource.fields.iter().map(|field| (field.name.clone(), (*field.value(object)).into())).collect();
    let metadata = Metadata::of(object);
    let labels = metadata.texts("labels").iter().map(|(key, value)| (key.into(), value.into())).collect();
    let key = Key::new(resource.id, metadata.text("namespace"), metadata.text("name"));
    let digest = resource.rules.digest.map(|digest| digest(object));
    let meta = Meta { uid: metadata.text("uid").into(), labels, fields, digest, ..Meta::default() };
    Ok(Draft { key, json: encoded.json, slot, body, meta })
}

/// The draft of an object whose text is as [`draft`] encodes it, with `<uid>` and `<time>` in place of the uid and of times, and without a
/// revision. Its kind has no fields of its own to select by, and it has no digest.
pub(crate) fn recorded_draft(resource: &Resource, key: Key, text: &str, uid: &str, time: &str) -> Option<Encoded> {
    let (before, behind) = text.split_once("<uid>")?;
    let before = format!("{before}{uid}");
    let labels = behind.split_once("\"labels\":").filter(|(own, _)| !own.contains('{'));
    let labels = labels.and_then(|(_, labels)| labels.split_inclusive('}').next()).unwrap_or("{}");
    let labels: BTreeMap<Box<str>, Box<str>> = serde_json::from_str(labels).ok()?;
    Some(Draft {
        key,
        // Behind the quote.
        slot: before.len() + 1,
        json: (before + &behind.replace("<time>", time)).into_bytes(),
        body: resource.storage().head.len(),
        meta: Meta { uid: uid.into(), labels: labels.into_iter().collect(), ..Meta::default() },
    })
}
