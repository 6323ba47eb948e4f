//! `Toleration`: taints that a pod tolerates.
//!
//! Follows `ValidateTolerations` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use crate::error::{Errors, FieldError, Path};
use crate::object::name;
use crate::registry::text;
use tree::Value;

/// Rules for `tolerations`.
pub(crate) fn tolerations(at: Path<'_>, tolerations: &[Value], errors: &mut Errors) {
    for (index, toleration) in tolerations.iter().enumerate() {
        let at = at.index(index);
        let (key, operator) = (text(toleration, "/key"), text(toleration, "/operator"));
        let (value, effect) = (text(toleration, "/value"), text(toleration, "/effect"));
        errors.optional(at.child("key"), key, name::label_key);
        if key.is_empty() && operator != "Exists" {
            let detail = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            errors.invalid(at.child("operator"), operator, detail);
        }
        if toleration.get("tolerationSeconds").is_some() && effect != "NoExecute" {
            errors.invalid(at.child("effect"), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
        }
        match operator {
            "Equal" | "" => {
                let bad = name::label_value(value);
                if !bad.is_empty() {
                    errors.invalid(at.child("operator"), value, bad.join(";"));
                }
            }
            "Exists" if !value.is_empty() => {
                errors.invalid(at.child("operator"), value, "value must be empty when `operator` is 'Exists'");
            }
            "Exists" => {}
            // Only a disabled feature compares numbers.
            "Lt" | "Gt" => {
                let supported = ["Equal", "Exists", "Lt", "Gt"];
                errors.push(FieldError::unsupported(at.child("operator"), &operator.into(), &supported));
            }
            _ => errors.one_of(at.child("operator"), operator, &["Equal", "Exists"]),
        }
        if !effect.is_empty() {
            errors.one_of(at.child("effect"), effect, &["NoSchedule", "PreferNoSchedule", "NoExecute"]);
        }
    }
}
