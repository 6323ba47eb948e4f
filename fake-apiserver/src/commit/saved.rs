//! The content of a store as a text: what one server leaves and another one takes over.
//!
//! ```text
//!   {"fakeApiserverState":1,"compacted":1,"revision":9,"records":12}
//!   {"resource":"deployments.apps","path":"default/web","revision":3,"slot":..,"body":..,"uid":..,"labels":{},"fields":{}}    the objects at `compacted`
//!   {...the object, without its revision...}
//!   {"change":true,"resource":..,"path":..,"revision":..}                                                                      the changes since
//!   {...the object; no such line if it was removed...}
//! ```
//! Resources are called by their names, as ids differ from build to build, and those of custom resources from run to run.

use crate::registry::{Registry, Resource, is_added};
use crate::store::{Draft, Entry, Key, Meta, Past, ResourceId, Saved, Store, Takeover};
use control::recording::{Kept, Moment};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The format that is written, and the only one that is read.
const FORMAT: u32 = 1;

/// A state cannot be taken over.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// A text that cannot be read as a whole state.
    #[error("the state is damaged in line {line}: {why}")]
    Damaged {
        /// The number of the line, from 1 on.
        line: usize,
        /// The reason.
        why: String,
    },
    /// Another version of the program wrote it.
    #[error("the state has the format {0}, and this program reads {FORMAT}")]
    Format(u32),
}

/// The first line.
#[derive(Serialize, Deserialize)]
struct Head {
    #[serde(rename = "fakeApiserverState")]
    format: u32,
    compacted: u64,
    revision: u64,
    /// The number of records that follow.
    records: usize,
}

/// The line before an object's.
#[derive(Default, Serialize, Deserialize)]
struct Record {
    resource: String,
    path: String,
    revision: u64,
    /// Whether it is a change since the oldest revision.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    change: bool,
    /// The rest of what is stored with an object; none, if the object was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    object: Option<Parts>,
}

/// The facts that the store keeps beside the text of an object.
#[derive(Serialize, Deserialize)]
struct Parts {
    slot: usize,
    body: usize,
    uid: String,
    labels: BTreeMap<String, String>,
    fields: Vec<(String, String)>,
    #[serde(default)]
    lacks_defaults: bool,
}

/// The name of a resource: `deployments.apps`.
fn name(resource: &Resource) -> String {
    [&*resource.plural, &*resource.group].join(".")
}

/// The names of the resources of a registry.
pub(crate) fn names(registry: &Registry) -> BTreeMap<ResourceId, String> {
    registry.resources().map(|resource| (resource.id, name(resource))).collect()
}

/// The content of a store, with the resources of a registry. Changes of other resources, whose definitions are gone, are left out.
pub(crate) fn write(store: &Store, registry: &Registry) -> Vec<u8> {
    written(&store.saved(), &names(registry))
}

/// The text of a content, whose resources have those names.
pub(super) fn written(saved: &Saved, names: &BTreeMap<ResourceId, String>) -> Vec<u8> {
    let (mut text, mut records) = (Vec::new(), 0_usize);
    let mut put = |key: &Key, revision: u64, change: bool, entry: Option<&Entry>| {
        let Some(resource) = names.get(&key.resource) else { return };
        let draft = entry.map(Entry::draft);
        let object = draft.as_ref().map(Parts::of);
        let record = Record { resource: resource.clone(), path: key.path().into(), revision, change, object };
        text.extend(serde_json::to_vec(&record).expect("it has texts as keys"));
        text.push(b'\n');
        if let Some(draft) = draft {
            text.extend(draft.json);
            text.push(b'\n');
        }
        records = records.saturating_add(1);
    };
    for entry in saved.base.all() {
        put(&entry.key, entry.revision, false, Some(entry));
    }
    for event in &saved.events {
        put(event.key(), event.revision, true, event.after.as_deref());
    }
    let (compacted, revision) = (saved.base.revision, saved.revision);
    let head = Head { format: FORMAT, compacted, revision, records };
    let mut whole = serde_json::to_vec(&head).expect("it has texts as keys");
    whole.push(b'\n');
    whole.extend(text);
    whole
}

/// An object as recordings have it: what the store keeps beside it, and its text without the revision.
pub(crate) fn recorded(entry: &Entry) -> (serde_json::Value, Box<RawValue>) {
    let draft = entry.draft();
    let kept = serde_json::to_value(Parts::of(&draft)).expect("it has texts as keys");
    let text = String::from_utf8(draft.json).expect("a stored object is JSON");
    (kept, RawValue::from_string(text).expect("a stored object is JSON"))
}

/// The text of a recorded moment.
pub(crate) fn of_moment(moment: &Moment) -> Vec<u8> {
    let Moment { compacted, revision, objects, changes, .. } = moment;
    let (compacted, revision, records) = (*compacted, *revision, objects.len() + changes.len());
    let head = Head { format: FORMAT, compacted, revision, records };
    let mut text = serde_json::to_vec(&head).expect("it has texts as keys");
    text.push(b'\n');
    let records = objects.iter().map(|kept| (false, kept)).chain(changes.iter().map(|kept| (true, kept)));
    for (change, Kept { resource, path, revision, kept, object }) in records {
        let record = serde_json::json!({
            "resource": resource, "path": path, "revision": revision, "change": change, "object": kept,
        });
        text.extend(record.to_string().into_bytes());
        text.push(b'\n');
        if let Some(object) = object {
            text.extend(object.get().as_bytes());
            text.push(b'\n');
        }
    }
    text
}

/// The revision of a state.
///
/// # Errors
/// [`StateError`].
pub(crate) fn revision(text: &[u8]) -> Result<u64, StateError> {
    let head = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    parsed::<Head>(1, head).map(|head| head.revision)
}

/// Reads a text of [`write`]. Custom resources, by their names, get the ids that `id` gives them.
///
/// # Errors
/// [`StateError`].
pub(crate) fn read(
    text: &[u8],
    registry: &Registry,
    mut id: impl FnMut(&str) -> ResourceId,
) -> Result<Takeover, StateError> {
    let resources: BTreeMap<String, &Arc<Resource>> = registry
        .resources()
        .filter(|resource| !is_added(resource.id))
        .map(|resource| (name(resource), resource))
        .collect();
    let mut id = |name: &str| resources.get(name).map_or_else(|| id(name), |resource| resource.id);
    let mut lines = text.split_inclusive(|byte| *byte == b'\n').enumerate();
    let mut next = move || {
        let (index, line) = lines.next()?;
        Some((index.saturating_add(1), line.strip_suffix(b"\n").unwrap_or(line)))
    };
    let ended = || StateError::Damaged { line: 0, why: "it ends too early".into() };
    let (line, head) = next().ok_or_else(ended)?;
    let head: Head = parsed(line, head)?;
    if head.format != FORMAT {
        return Err(StateError::Format(head.format));
    }
    let mut content = Takeover { compacted: head.compacted, revision: head.revision, ..Takeover::default() };
    for _ in 0..head.records {
        let (line, record) = next().ok_or_else(ended)?;
        let record: Record = parsed(line, record)?;
        let resource = id(&record.resource);
        let (namespace, name) = record.path.split_once('/').unwrap_or(("", &record.path));
        let key = Key::new(resource, namespace, name);
        let Some(parts) = record.object else {
            content.changes.push((record.revision, Past::Removed(key)));
            continue;
        };
        let (line, json) = next().ok_or_else(ended)?;
        let resource = resources.get(&record.resource).map(|resource| &***resource);
        let draft = parts.draft(key, json, resource).map_err(|why| StateError::Damaged { line, why })?;
        match record.change {
            true => content.changes.push((record.revision, Past::Stored(draft))),
            false => content.base.push((draft, record.revision)),
        }
    }
    Ok(content)
}

fn parsed<T: for<'de> Deserialize<'de>>(line: usize, text: &[u8]) -> Result<T, StateError> {
    serde_json::from_slice(text).map_err(|error| StateError::Damaged { line, why: error.to_string() })
}

impl Parts {
    fn of(draft: &Draft) -> Parts {
        let Draft { slot, body, meta, .. } = draft;
        Parts {
            slot: *slot,
            body: *body,
            uid: meta.uid.to_string(),
            labels: meta.labels().map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
            fields: meta.fields.iter().map(|(field, value)| (field.to_string(), value.to_string())).collect(),
            lacks_defaults: meta.lacks_defaults,
        }
    }

    /// The object; the digest is made anew.
    fn draft(self, key: Key, json: &[u8], resource: Option<&Resource>) -> Result<Draft, String> {
        if self.slot > json.len() || self.body > json.len() {
            return Err("an offset is beyond the object".into());
        }
        let object = tree::parse_object(json).map_err(|error| error.to_string())?;
        let digest = resource.and_then(|resource| resource.rules.digest).map(|digest| digest(&object));
        let meta = Meta {
            uid: self.uid.into(),
            labels: self.labels.into_iter().map(|(key, value)| (key.into(), value.into())).collect(),
            fields: self.fields.into_iter().map(|(field, value)| (field.into(), value.into())).collect(),
            lacks_defaults: self.lacks_defaults,
            digest,
            ..Meta::default()
        };
        Ok(Draft { key, json: json.into(), slot: self.slot, body: self.body, meta })
    }
}
