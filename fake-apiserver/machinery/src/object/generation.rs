//! The comparison of specs, whose changes `metadata.generation` counts.

use crate::object::meta;
use crate::schema::TypeRef;
use tree::{Text, Value};

/// Whether anything but `metadata` and `status` differs in objects of that type, if they have one.
pub fn spec_differs(new: &Value, old: &Value, ty: Option<TypeRef<'_>>) -> bool {
    let (Some(new), Some(old)) = (new.as_object(), old.as_object()) else { return new != old };
    new.keys()
        .chain(old.keys())
        .filter(|key| !matches!(key.as_str(), "apiVersion" | "kind" | "metadata" | "status"))
        .any(|key| !equal_as(ty.and_then(|ty| of_field(ty, key)), new.get(key), old.get(key)))
}

/// Whether there are empty lists or maps in anything but the metadata and the status of an object of that type.
pub fn has_empties(object: &Value, ty: TypeRef<'_>) -> bool {
    fn within(ty: Option<TypeRef<'_>>, value: &Value) -> bool {
        match value {
            Value::Array(items) => {
                let element = ty.and_then(|ty| ty.target().element());
                items.is_empty() || items.iter().any(|item| within(element, item))
            }
            Value::Object(fields) => {
                let is_map = ty.is_some_and(|ty| ty.go_kind() == "map");
                fields.is_empty() && is_map
                    || fields.iter().any(|(key, value)| within(ty.and_then(|ty| of_field(ty, key)), value))
            }
            _ => false,
        }
    }
    let fields = object.as_object().into_iter().flatten();
    let mut counted = fields.filter(|(key, _)| !matches!(key.as_str(), "metadata" | "status"));
    counted.any(|(key, value)| within(of_field(ty, key), value))
}

/// The type of the value with that key.
pub fn of_field<'t>(ty: TypeRef<'t>, key: &str) -> Option<TypeRef<'t>> {
    let ty = ty.target();
    ty.field(key).map(|field| ty.of(field)).or_else(|| ty.element())
}

/// Whether anything but the metadata and, unless it counts, the status of custom resources differs. Without a Go type nothing that is
/// empty is the same as nothing.
pub fn untyped_differs(new: &Value, old: &Value, status_counts: bool) -> bool {
    let (Some(new), Some(old)) = (new.as_object(), old.as_object()) else { return new != old };
    let counts = |key: &Text| match key.as_str() {
        "apiVersion" | "kind" | "metadata" => false,
        "status" => status_counts,
        _ => true,
    };
    new.keys().chain(old.keys()).any(|key| counts(key) && new.get(key) != old.get(key))
}

/// Whether two objects differ at most in what garbage collection changes (`IsOnlyMutatingGCFields`).
pub fn same_but_for_garbage_collection(new: &Value, old: &Value) -> bool {
    let without = |object: &Value| {
        let mut object = object.clone();
        for field in ["ownerReferences", "finalizers", "managedFields", "selfLink"] {
            meta::remove(&mut object, field);
        }
        object
    };
    equal(Some(&without(new)), Some(&without(old)))
}

/// `apiequality.Semantic.DeepEqual` of Go structs: absent and empty are the same.
pub fn equal(a: Option<&Value>, b: Option<&Value>) -> bool {
    equal_as(None, a, b)
}

/// The same of values of that type: absent and zero are the same, too, unless a pointer tells them apart.
pub fn equal_as(ty: Option<TypeRef<'_>>, a: Option<&Value>, b: Option<&Value>) -> bool {
    let is_pointer = ty.is_some_and(|ty| ty.go_kind() == "ptr");
    let is_zero = |value: &Value| is_empty(value) || ty.is_some_and(|ty| ty.is_zero(value));
    let counts = |value: &&Value| if is_pointer { !value.is_null() } else { !is_zero(value) };
    match (a.filter(counts), b.filter(counts)) {
        (Some(Value::Object(fields)), None) | (None, Some(Value::Object(fields))) => {
            // A struct of zeros is zero.
            let ty = ty.filter(|ty| ty.go_kind() == "struct");
            ty.is_some_and(|ty| fields.iter().all(|(key, value)| equal_as(of_field(ty, key), Some(value), None)))
        }
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            // Each key once, lest depth double the work.
            let only_there = b.keys().filter(|key| !a.contains_key(*key));
            // A map has its keys, also those of zeros.
            let may_lack = ty.is_none_or(|ty| ty.target().go_kind() != "map");
            a.keys().chain(only_there).all(|key| {
                let (a, b) = (a.get(key), b.get(key));
                (may_lack || a.is_some() == b.is_some()) && equal_as(ty.and_then(|ty| of_field(ty, key)), a, b)
            })
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|(a, b)| equal_as(ty.and_then(|ty| ty.target().element()), Some(a), Some(b)))
        }
        (a, b) => a == b,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::lookup;
    use tree::json;

    #[test]
    fn zeros_are_absent_unless_a_pointer_leads_to_them() {
        let of = |spec: Value| json!({"spec": spec});
        let ty = lookup("apps/v1", "StatefulSet");
        for (new, old, differs) in [
            (json!({}), json!({"serviceName": "", "updateStrategy": {}, "minReadySeconds": 0}), false),
            (json!({}), json!({"template": {"spec": {"hostname": "", "hostNetwork": false}}}), false),
            (json!({}), json!({"serviceName": "a"}), true),
            (json!({}), json!({"replicas": 0}), true),
            (json!({}), json!({"selector": {}}), true),
        ] {
            let (new, old) = (of(new), of(old));
            assert_eq!(spec_differs(&new, &old, ty), differs, "{new} {old}");
            assert_eq!(spec_differs(&old, &new, ty), differs, "{old} {new}");
        }
    }

    #[test]
    fn a_map_with_a_zero_is_not_one_without_it() {
        let class = |parameters: Value| json!({"spec": {}, "parameters": parameters});
        let (new, old) = (class(json!({"a": "b", "c": ""})), class(json!({"a": "b"})));
        let ty = lookup("storage.k8s.io/v1", "VolumeAttributesClass");
        assert!(!equal_as(ty, Some(&new), Some(&old)));
        assert!(!equal_as(ty, Some(&old), Some(&new)));
        assert!(equal_as(ty, Some(&new), Some(&new)));
    }

    #[test]
    fn only_the_spec_counts() {
        let old = json!({"metadata": {"name": "a"}, "spec": {"a": 1}, "status": {"b": 2}});
        let table = [
            (json!({"metadata": {"name": "b"}, "spec": {"a": 1}, "status": {}}), false),
            (json!({"metadata": {}, "spec": {"a": 1, "list": [], "map": {}}}), false),
            (json!({"metadata": {"name": "a"}, "spec": {"a": 2}, "status": {"b": 2}}), true),
            (json!({"metadata": {"name": "a"}, "spec": {"a": 1}, "data": {"x": "y"}}), true),
        ];
        for (new, differs) in table {
            assert_eq!(spec_differs(&new, &old, None), differs, "{new}");
        }
    }

    #[test]
    fn empty_is_not_absent_without_a_type() {
        let old = json!({"metadata": {"name": "a"}, "spec": {"a": {}}, "status": {"b": 2}});
        let table = [
            (json!({"metadata": {}, "spec": {"a": {}}, "status": {"b": 2}}), false, false),
            (json!({"metadata": {}, "spec": {"a": {}}, "status": {}}), false, true),
            (json!({"metadata": {}, "spec": {}, "status": {"b": 2}}), true, true),
            (json!({"metadata": {}, "spec": {"a": {}}, "status": {"b": 2}, "more": {}}), true, true),
        ];
        for (new, without_status, with_status) in table {
            assert_eq!(untyped_differs(&new, &old, false), without_status, "{new}");
            assert_eq!(untyped_differs(&new, &old, true), with_status, "{new}");
        }
    }

    /// It would not end if each level were looked at twice.
    #[test]
    fn depth_is_no_obstacle() {
        let nested = |innermost| (0..100).fold(json!({"a": innermost}), |inner, _| json!({ "a": inner }));
        assert!(equal(Some(&nested(1)), Some(&nested(1))));
        assert!(!equal(Some(&nested(1)), Some(&nested(2))));
    }
}
