//! Access to `metadata` in an object's tree.
//!
//! Every function is total: an absent field, or one of the wrong type, reads as unset, and writing creates what is absent.

use tree::{Map, Value};

/// An object's `metadata`, found once to read several of its fields.
#[derive(Debug, Clone, Copy)]
pub struct Metadata<'a>(Option<&'a Map>);

impl<'a> Metadata<'a> {
    /// The `metadata` of an object.
    pub fn of(object: &'a Value) -> Self {
        Metadata(object.get("metadata").and_then(Value::as_object))
    }

    /// A field, whatever its type.
    pub fn field(self, name: &str) -> Option<&'a Value> {
        self.0?.get(name)
    }

    /// A text, "" when unset.
    pub fn text(self, name: &str) -> &'a str {
        self.field(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// `generation`, 0 when unset.
    pub fn generation(self) -> i64 {
        self.field("generation").and_then(Value::as_i64).unwrap_or_default()
    }

    /// A map of texts: `labels` or `annotations`.
    pub fn texts(self, name: &str) -> Labels<'a> {
        Labels(self.field(name).and_then(Value::as_object))
    }

    /// A list: `finalizers` or `ownerReferences`.
    pub fn list(self, name: &str) -> &'a [Value] {
        self.field(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }
}

fn field<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
    Metadata::of(object).field(name)
}

/// A text of `metadata`, "" when unset.
pub fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    Metadata::of(object).text(name)
}

/// `metadata.name`.
pub fn name(object: &Value) -> &str {
    text(object, "name")
}

/// `metadata.generateName`.
pub fn generate_name(object: &Value) -> &str {
    text(object, "generateName")
}

/// `metadata.namespace`, "" for cluster-scoped objects.
pub fn namespace(object: &Value) -> &str {
    text(object, "namespace")
}

/// `metadata.uid`.
pub fn uid(object: &Value) -> &str {
    text(object, "uid")
}

/// `metadata.resourceVersion`, as sent.
pub fn resource_version(object: &Value) -> &str {
    text(object, "resourceVersion")
}

/// `metadata.creationTimestamp`.
pub fn creation_timestamp(object: &Value) -> &str {
    text(object, "creationTimestamp")
}

/// `metadata.deletionTimestamp`, when the object is terminating.
pub fn deletion_timestamp(object: &Value) -> Option<&str> {
    field(object, "deletionTimestamp")?.as_str()
}

/// `metadata.deletionGracePeriodSeconds`.
pub fn deletion_grace_period_seconds(object: &Value) -> Option<i64> {
    field(object, "deletionGracePeriodSeconds")?.as_i64()
}

/// `metadata.generation`, 0 when unset.
pub fn generation(object: &Value) -> i64 {
    Metadata::of(object).generation()
}

/// `metadata.labels`.
pub fn labels(object: &Value) -> Labels<'_> {
    Metadata::of(object).texts("labels")
}

/// `metadata.annotations`.
pub fn annotations(object: &Value) -> Labels<'_> {
    Metadata::of(object).texts("annotations")
}

/// `metadata.finalizers`, in order.
pub fn finalizers(object: &Value) -> impl Iterator<Item = &str> {
    Metadata::of(object).list("finalizers").iter().filter_map(Value::as_str)
}

/// `metadata.ownerReferences`, in order.
pub fn owner_references(object: &Value) -> &[Value] {
    Metadata::of(object).list("ownerReferences")
}

/// A map of texts: labels or annotations.
#[derive(Debug, Clone, Copy)]
pub struct Labels<'a>(Option<&'a Map>);

impl<'a> Labels<'a> {
    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.iter().next().is_none()
    }

    /// The value of a key.
    pub fn get(self, key: &str) -> Option<&'a str> {
        self.0?.get(key)?.as_str()
    }

    /// All pairs, in order of the key.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.into_iter().flatten().filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
    }
}

/// `metadata` itself, created if it is absent.
pub fn metadata_mut(object: &mut Value) -> &mut Map {
    map_at(map(object), "metadata")
}

fn map(value: &mut Value) -> &mut Map {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().expect("made an object just above")
}

fn map_at<'a>(parent: &'a mut Map, key: &str) -> &'a mut Map {
    if !parent.contains_key(key) {
        parent.insert(key.into(), Value::Object(Map::new()));
    }
    map(&mut parent[key])
}

/// Sets a field of `metadata`; an empty text unsets it.
pub fn set(object: &mut Value, name: &str, value: impl Into<Value>) {
    match value.into() {
        Value::String(text) if text.is_empty() => remove(object, name),
        value => {
            metadata_mut(object).insert(name.into(), value);
        }
    }
}

/// Unsets a field of `metadata`.
pub fn remove(object: &mut Value, name: &str) {
    metadata_mut(object).remove(name);
}

/// Sets a field of `metadata` to its value in another object.
pub fn carry_over(object: &mut Value, from: &Value, name: &str) {
    keep(metadata_mut(object), Metadata::of(from), name);
}

/// Gives a field of `metadata` the value that it had; an empty text unsets it.
fn keep(metadata: &mut Map, old: Metadata<'_>, name: &str) {
    match old.field(name).filter(|value| *value != "") {
        Some(value) if metadata.get(name) == Some(value) => {}
        Some(value) => {
            metadata.insert(name.into(), value.clone());
        }
        None => {
            metadata.remove(name);
        }
    }
}

/// Sets one label.
pub fn set_label(object: &mut Value, key: &str, value: &str) {
    map_at(metadata_mut(object), "labels").insert(key.into(), value.into());
}

/// Replaces the finalizers; an empty list unsets the field.
pub fn set_finalizers(object: &mut Value, finalizers: Vec<String>) {
    match finalizers.is_empty() {
        true => remove(object, "finalizers"),
        false => set(object, "finalizers", finalizers),
    }
}

/// Unsets the fields that a client cannot set on a new object (`WipeObjectMetaSystemFields`), resourceVersion excepted.
pub fn wipe_system_fields(object: &mut Value) {
    let metadata = metadata_mut(object);
    for field in ["creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
        metadata.remove(field);
    }
}

/// Keeps the metadata of the old object, but for the managers of fields (`ResetObjectMetaForStatus`).
pub fn keep_all_but_managers(new: &mut Value, old: &Value) {
    let managers = new["metadata"]["managedFields"].take();
    new["metadata"] = old["metadata"].clone();
    match managers {
        Value::Null => remove(new, "managedFields"),
        managers => set(new, "managedFields", managers),
    }
}

/// Restores the fields that an update cannot change or clear (`BeforeUpdate`).
pub fn keep_system_fields(new: &mut Value, old: &Value) {
    let (new, old) = (metadata_mut(new), Metadata::of(old));
    for field in ["generation", "creationTimestamp"] {
        keep(new, old, field);
    }
    new.remove("selfLink");
    if new.get("uid").and_then(Value::as_str).is_none_or(str::is_empty) {
        keep(new, old, "uid");
    }
    if old.field("deletionTimestamp").is_some_and(Value::is_string) {
        keep(new, old, "deletionTimestamp");
    }
    if new.get("deletionGracePeriodSeconds").and_then(Value::as_i64).is_none() {
        keep(new, old, "deletionGracePeriodSeconds");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    #[test]
    fn odd_trees_read_as_unset_and_can_be_written() {
        for odd in [json!(null), json!([1]), json!({"metadata": 3}), json!({"metadata": {"name": 1, "labels": []}})] {
            assert_eq!(name(&odd), "");
            assert_eq!(generation(&odd), 0);
            assert_eq!(labels(&odd).get("a"), None);
            assert_eq!(finalizers(&odd).count(), 0);
            let mut object = odd;
            set(&mut object, "name", "n");
            set_label(&mut object, "a", "b");
            assert_eq!(name(&object), "n");
            assert_eq!(labels(&object).get("a"), Some("b"));
        }
    }

    #[test]
    fn empty_values_leave_no_field() {
        let mut object = json!({"metadata": {"uid": "u", "finalizers": ["x/y"]}});
        set(&mut object, "uid", "");
        set_finalizers(&mut object, Vec::new());
        assert_eq!(object, json!({"metadata": {}}));
    }
}
