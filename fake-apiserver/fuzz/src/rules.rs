//! The rules of custom resources.

use fake_apiserver::fuzzing;
use tree::Value;

/// Rules find the same in a value each time, and nothing in a new value is tolerated. An input is a vector of
/// `fixtures/custom/rules.jsonl`.
pub(crate) fn rules(input: &[u8]) {
    let Ok(vector) = serde_json::from_slice::<Value>(input) else { return };
    let (Some(schema), Some(value)) = (vector.get("schema"), vector.get("value")) else { return };
    let old = vector.get("old");
    let Some(found) = fuzzing::broken_rules(schema, value, old) else { return };
    assert_eq!(fuzzing::broken_rules(schema, value, old).as_ref(), Some(&found));
    if old.is_none() {
        assert_eq!(found.warnings, [""; 0], "{vector}");
    }
}
