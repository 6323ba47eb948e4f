//! Access to `metadata` in an object's tree.
//!
//! Every function is total: an absent field, or one of the wrong type, reads as unset, and writing creates what is absent.

use serde_json::{Map, Value};

fn field<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
    object.get("metadata")?.get(name)
}

/// A text of `metadata`, "" when unset.
pub fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    field(object, name).and_then(Value::as_str).unwrap_or_default()
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
    field(object, "generation").and_then(Value::as_i64).unwrap_or_default()
}

/// `metadata.labels`.
pub fn labels(object: &Value) -> Labels<'_> {
    Labels(field(object, "labels").and_then(Value::as_object))
}

/// `metadata.annotations`.
pub fn annotations(object: &Value) -> Labels<'_> {
    Labels(field(object, "annotations").and_then(Value::as_object))
}

/// `metadata.finalizers`, in order.
pub fn finalizers(object: &Value) -> impl Iterator<Item = &str> {
    list(object, "finalizers").iter().filter_map(Value::as_str)
}

/// `metadata.ownerReferences`, in order.
pub fn owner_references(object: &Value) -> &[Value] {
    list(object, "ownerReferences")
}

fn list<'a>(object: &'a Value, name: &str) -> &'a [Value] {
    field(object, name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// A map of texts: labels or annotations.
#[derive(Debug, Clone, Copy)]
pub struct Labels<'a>(Option<&'a Map<String, Value>>);

impl<'a> Labels<'a> {
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
pub fn metadata_mut(object: &mut Value) -> &mut Map<String, Value> {
    map_at(map(object), "metadata")
}

fn map(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().expect("made an object just above")
}

fn map_at<'a>(parent: &'a mut Map<String, Value>, key: &str) -> &'a mut Map<String, Value> {
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
    match field(from, name) {
        Some(value) => set(object, name, value.clone()),
        None => remove(object, name),
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

/// Restores the fields that an update cannot change or clear (`BeforeUpdate`).
pub fn keep_system_fields(new: &mut Value, old: &Value) {
    for field in ["generation", "creationTimestamp"] {
        carry_over(new, old, field);
    }
    remove(new, "selfLink");
    if uid(new).is_empty() {
        carry_over(new, old, "uid");
    }
    if deletion_timestamp(old).is_some() {
        carry_over(new, old, "deletionTimestamp");
    }
    if deletion_grace_period_seconds(new).is_none() {
        carry_over(new, old, "deletionGracePeriodSeconds");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
