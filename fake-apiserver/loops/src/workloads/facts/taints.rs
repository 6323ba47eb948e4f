//! Taints and tolerations.
//!
//! Ports `ToleratesTaint` of `k8s.io/api/core/v1/toleration.go` (v0.37.1). Comparisons of numbers are an alpha feature, and tolerate nothing.

use super::read;
use tree::Value;

/// Whether a pod tolerates all taints that keep pods off a node, of these effects.
pub(crate) fn tolerates(tolerations: &[Value], taints: &[Value], effects: &[&str]) -> bool {
    let mut bars = taints.iter().filter(|taint| effects.contains(&read::text(taint, "/effect")));
    bars.all(|taint| tolerations.iter().any(|toleration| tolerates_one(toleration, taint)))
}

/// Whether a toleration is about a taint.
pub(crate) fn tolerates_one(toleration: &Value, taint: &Value) -> bool {
    let of = |value: &Value, field: &str| read::text(value, field).to_owned();
    let same_or_any = |field: &str| {
        let wanted = of(toleration, field);
        wanted.is_empty() || wanted == of(taint, field)
    };
    same_or_any("/effect")
        && same_or_any("/key")
        && match read::text(toleration, "/operator") {
            "" | "Equal" => of(toleration, "/value") == of(taint, "/value"),
            "Exists" => true,
            _ => false,
        }
}
