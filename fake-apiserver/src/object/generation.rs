//! The comparison of specs, whose changes `metadata.generation` counts.

use serde_json::Value;

/// Whether anything but `metadata` and `status` differs.
pub fn spec_differs(new: &Value, old: &Value) -> bool {
    let (Some(new), Some(old)) = (new.as_object(), old.as_object()) else { return new != old };
    new.keys()
        .chain(old.keys())
        .filter(|key| !matches!(key.as_str(), "apiVersion" | "kind" | "metadata" | "status"))
        .any(|key| !equal(new.get(key), old.get(key)))
}

/// `apiequality.Semantic.DeepEqual`: absent and empty are the same.
pub fn equal(a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a.filter(|value| !is_empty(value)), b.filter(|value| !is_empty(value))) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            // Each key once, lest depth double the work.
            let only_there = b.keys().filter(|key| !a.contains_key(*key));
            a.keys().chain(only_there).all(|key| equal(a.get(key), b.get(key)))
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(Some(a), Some(b)))
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
    use serde_json::json;

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
            assert_eq!(spec_differs(&new, &old), differs, "{new}");
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
