//! Tolerations, and which of them cover others.
//!
//! Follows `pkg/util/tolerations/tolerations.go` (v1.37.1).

use crate::registry::text;
use tree::Value;

/// `MergeTolerations`: those of both lists that no other one covers.
pub(super) fn merge(first: &[Value], second: &[Value]) -> Vec<Value> {
    let all: Vec<&Value> = first.iter().chain(second).collect();
    let mut merged: Vec<Value> = Vec::new();
    for (index, one) in all.iter().enumerate() {
        let covered = merged.iter().any(|earlier| covers(earlier, one))
            || all[index + 1..].iter().any(|later| later != one && covers(later, one));
        if !covered {
            merged.push((*one).clone());
        }
    }
    merged
}

/// `isSuperset`: whether a toleration tolerates everything that another one does.
pub(super) fn covers(wide: &Value, narrow: &Value) -> bool {
    if wide == narrow {
        return true;
    }
    let differs = |field: &str| text(wide, field) != text(narrow, field);
    let any_key = text(wide, "/key").is_empty() && text(wide, "/operator") == "Exists";
    if differs("/key") && !any_key || differs("/effect") && !text(wide, "/effect").is_empty() {
        return false;
    }
    if text(wide, "/effect") == "NoExecute"
        && let Some(seconds) = wide["tolerationSeconds"].as_i64()
        && narrow["tolerationSeconds"].as_i64().is_none_or(|narrow| narrow > seconds)
    {
        return false;
    }
    match text(wide, "/operator") {
        "Equal" | "" => text(narrow, "/operator") == "Equal" && !differs("/value"),
        operator => operator == "Exists",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    #[test]
    fn covered_tolerations_are_left_out() {
        let (exists, all) = (json!({"key": "k", "operator": "Exists"}), json!({"operator": "Exists"}));
        let equal = json!({"key": "k", "operator": "Equal", "value": "v"});
        let other = json!({"key": "l", "value": "v"});
        let soon = json!({"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5});
        let later = json!({"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 9});
        let table = [
            (vec![&equal], vec![&exists], vec![&exists]),
            (vec![&exists], vec![&equal], vec![&exists]),
            (vec![&equal, &other], vec![&all], vec![&all]),
            (vec![&soon], vec![&later], vec![&later]),
            (vec![&other], vec![&other], vec![&other]),
            (vec![&equal], vec![&other], vec![&equal, &other]),
        ];
        for (first, second, wanted) in table {
            let [first, second] = [first, second].map(|list| list.into_iter().cloned().collect::<Vec<_>>());
            assert_eq!(merge(&first, &second).iter().collect::<Vec<_>>(), wanted);
        }
    }
}
