//! The conditions of a definition.

use super::{items, text};
use tree::Value;

/// Whether a condition of the definition is true (`IsCRDConditionTrue`).
pub(super) fn is_true(definition: &Value, condition: &str) -> bool {
    let found = items(definition, "/status/conditions").iter().find(|one| text(one, "/type") == condition);
    found.is_some_and(|found| text(found, "/status") == "True")
}
