//! Label keys beside a selector of pods, by which a pod's own labels become requirements.
//!
//! Follows `ValidateMatchLabelKeysAndMismatchLabelKeys` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use crate::error::{Errors, Path};
use crate::object::name;
use crate::registry::{items, text};
use std::collections::{HashMap, HashSet};
use tree::{Map, Text, Value};

/// Rules for `matchLabelKeys` and `mismatchLabelKeys` beside a `labelSelector`.
pub(super) fn label_keys(at: Path<'_>, holder: &Value, errors: &mut Errors) {
    let selector = holder.get("labelSelector");
    for field in ["matchLabelKeys", "mismatchLabelKeys"] {
        let mut keys = keys(holder, field).peekable();
        if selector.is_none() && keys.peek().is_some() {
            errors.forbidden(at.child(field), "must not be specified when labelSelector is not set");
            continue;
        }
        for (index, key) in keys {
            errors.invalid_each(at.item(field, index), key, name::label_key(key));
        }
    }
    if let Some(selector) = selector {
        // The requirements of the keys are in the selector by now: one that is there twice was there before.
        let matched: HashMap<&str, usize> = keys(holder, "matchLabelKeys").map(|(index, key)| (key, index)).collect();
        let labels = selector["matchLabels"].as_object().into_iter().flat_map(Map::keys).map(Text::as_str);
        let mut selected: HashSet<&str> = labels.collect();
        for key in items(selector, "/matchExpressions").iter().map(|requirement| text(requirement, "/key")) {
            if !selected.insert(key)
                && let Some(index) = matched.get(key)
            {
                errors.invalid(at.index(*index), key, "exists in both matchLabelKeys and labelSelector");
            }
        }
    }
    let mismatched: HashSet<&str> = keys(holder, "mismatchLabelKeys").map(|(_, key)| key).collect();
    for (index, key) in keys(holder, "matchLabelKeys").filter(|(_, key)| mismatched.contains(key)) {
        let detail = "exists in both matchLabelKeys and mismatchLabelKeys";
        errors.invalid(at.item("matchLabelKeys", index), key, detail);
    }
}

fn keys<'h>(holder: &'h Value, field: &str) -> impl Iterator<Item = (usize, &'h str)> {
    let keys = holder[field].as_array().map(Vec::as_slice).unwrap_or_default();
    keys.iter().map(|key| key.as_str().unwrap_or_default()).enumerate()
}
