//! `Toleration`: taints that a pod tolerates.
//!
//! Follows `ValidateTolerations` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use crate::error::{Errors, Path};
use crate::object::name;
use crate::registry::cursor::At;
use tree::Value;

/// Rules for `tolerations`.
pub(in crate::registry) fn tolerations(all: At<'_, '_>, errors: &mut Errors) {
    all.items().for_each(|one| toleration(one, errors));
}

/// The same for tolerations outside of an object.
pub(crate) fn check_tolerations(at: Path<'_>, all: &[Value], errors: &mut Errors) {
    all.iter().enumerate().for_each(|(index, one)| toleration(At::untyped(one, at.index(index)), errors));
}

fn toleration(toleration: At<'_, '_>, errors: &mut Errors) {
    let [key, operator, value, effect] = ["key", "operator", "value", "effect"].map(|name| toleration.field(name));
    key.optional(name::label_key, errors);
    if key.is_empty() && operator.text() != "Exists" {
        let detail = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
        operator.invalid_value(operator.text(), detail, errors);
    }
    if toleration.field("tolerationSeconds").is_set() && effect.text() != "NoExecute" {
        let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        effect.invalid_value(effect.text(), detail, errors);
    }
    match operator.text() {
        "Equal" | "" => {
            let bad = name::label_value(value.text());
            if !bad.is_empty() {
                operator.invalid_value(value.text(), bad.join(";"), errors);
            }
        }
        "Exists" if !value.is_empty() => {
            operator.invalid_value(value.text(), "value must be empty when `operator` is 'Exists'", errors);
        }
        "Exists" => {}
        // Only a disabled feature compares numbers.
        "Lt" | "Gt" => operator.unsupported(&["Equal", "Exists", "Lt", "Gt"], errors),
        _ => operator.one_of(&["Equal", "Exists"], errors),
    }
    if !effect.is_empty() {
        effect.one_of(&["NoSchedule", "PreferNoSchedule", "NoExecute"], errors);
    }
}
