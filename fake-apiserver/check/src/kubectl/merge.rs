//! The merge patch of three objects: for custom resources.
//!
//! Follows `CreateThreeWayJSONMergePatch` of `pkg/util/jsonmergepatch/patch.go` (k8s.io/apimachinery v0.37.1).

use super::fields;
use tree::{Map, Value};

/// The patch that makes of the present object what `modified` describes, and removes what only `original` has.
pub(super) fn patch(original: &Value, modified: &Value, current: &Value) -> Map {
    let (original, modified, current) = (fields(original), fields(modified), fields(current));
    let mut patch = Map::new();
    for (name, value) in modified {
        let present = current.get(name).unwrap_or(&Value::Null);
        let change = match value {
            Value::Null => continue,
            Value::Object(_) => {
                let before = original.get(name).unwrap_or(&Value::Null);
                let change = self::patch(before, value, present);
                // A new object may be empty, too.
                if change.is_empty() && present.is_object() {
                    continue;
                }
                Value::Object(change)
            }
            _ if value == present => continue,
            _ => value.clone(),
        };
        patch.insert(name.clone(), change);
    }
    for (name, _) in original.iter().filter(|(name, _)| !modified.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    patch
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    #[test]
    fn changes_and_removals_are_found() {
        let original = json!({"a": 1, "b": {"c": 1, "d": 2}, "l": [1]});
        let modified = json!({"b": {"d": 3, "e": null}, "l": [1, 2], "n": {"x": {}}});
        let current = json!({"a": 1, "b": {"c": 1, "d": 2, "other": 5}, "l": [1], "status": {}});
        let expected = json!({"a": null, "b": {"c": null, "d": 3}, "l": [1, 2], "n": {"x": {}}});
        assert_eq!(Value::Object(patch(&original, &modified, &current)), expected);
        let present = json!({"b": {"d": 3, "o": 1}, "l": [1, 2], "n": {"x": {}}});
        assert!(patch(&modified, &modified, &present).is_empty());
    }
}
