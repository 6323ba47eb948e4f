//! Updates to a pod with scheduling gates, which is not scheduled yet: its node selection may only be narrowed.
//!
//! Follows `validateNodeSelectorMutation` and `validateNodeAffinityMutation` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::validate::SPEC;
use crate::error::Errors;
use crate::object::generation::equal;
use crate::registry::cursor::At;
use crate::registry::{carry_over, items};
use tree::{Value, json};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// Checks the changes of `nodeSelector` and node affinity in a new spec, then resets both to the old values.
pub(super) fn fewer_nodes(errors: &mut Errors, new: &mut Value, old: &Value) {
    selector(errors, new, old);
    carry_over(new, old, "nodeSelector");
    let affinity = |spec: &Value| spec["affinity"]["nodeAffinity"].clone();
    let (after, before) = (affinity(new), affinity(old));
    if equal(Some(&after), Some(&before)) {
        return;
    }
    terms(errors, new, old);
    let is_only_one = new["affinity"].as_object().is_some_and(|kinds| kinds.keys().all(|kind| kind == "nodeAffinity"));
    match (new["affinity"].is_object(), old["affinity"].is_object()) {
        (false, _) if before.is_null() => {}
        (false, _) => new["affinity"] = json!({"nodeAffinity": before}),
        (true, false) if is_only_one => carry_over(new, old, "affinity"),
        (true, _) => carry_over(&mut new["affinity"], &old["affinity"], "nodeAffinity"),
    }
}

fn selector(errors: &mut Errors, new: &Value, old: &Value) {
    let (new, old) = (new["nodeSelector"].clone(), &old["nodeSelector"]);
    if old.as_object().into_iter().flatten().any(|(key, value)| new.get(key) != Some(value)) {
        let detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        errors.invalid(SPEC.child("nodeSelector"), new, detail);
    }
}

/// Each required term may get more requirements; there may be no more and no fewer terms.
fn terms(errors: &mut Errors, new: &Value, old: &Value) {
    let old = items(&old["affinity"]["nodeAffinity"][REQUIRED], "/nodeSelectorTerms");
    if old.is_empty() {
        return;
    }
    let pod = json!({"spec": {"affinity": {"nodeAffinity": new["affinity"]["nodeAffinity"]}}});
    let pod = At::object(&pod, "v1", "Pod");
    let affinity = pod.field("spec.affinity.nodeAffinity");
    let required = affinity.field(REQUIRED);
    let terms = required.field("nodeSelectorTerms");
    if terms.len() != old.len() {
        return terms.invalid("no additions/deletions to non-empty NodeSelectorTerms list are allowed", errors);
    }
    for (term, old) in terms.items().zip(old) {
        if !has_only_additions(term.value(), old) {
            term.invalid("only additions are allowed (no mutations or deletions)", errors);
        }
    }
}

fn has_only_additions(new: &Value, old: &Value) -> bool {
    let kinds = ["/matchExpressions", "/matchFields"];
    if kinds.iter().all(|kind| items(old, kind).is_empty()) {
        return kinds.iter().all(|kind| items(new, kind).is_empty());
    }
    kinds.iter().all(|kind| {
        let (new, old) = (items(new, kind), items(old, kind));
        new.len() >= old.len() && new.iter().zip(old).all(|(new, old)| equal(Some(new), Some(old)))
    })
}
