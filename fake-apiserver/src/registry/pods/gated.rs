//! Updates to a pod with scheduling gates, which is not scheduled yet: its node selection may only be narrowed.
//!
//! Follows `validateNodeSelectorMutation` and `validateNodeAffinityMutation` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::validate::SPEC;
use crate::error::{Errors, FieldError, Path};
use crate::object::generation::equal;
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
    terms(errors, &after[REQUIRED], &before[REQUIRED]);
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
    let (new, old) = (items(new, "/nodeSelectorTerms"), items(old, "/nodeSelectorTerms"));
    if old.is_empty() {
        return;
    }
    let at = SPEC.child("affinity.nodeAffinity");
    let at = at.child(REQUIRED);
    let mut invalid =
        |at: Path<'_>, shown: String, detail: &str| errors.push(FieldError::invalid_printed(at, shown, detail));
    if new.len() != old.len() {
        let detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        return invalid(at.child("nodeSelectorTerms"), printed_list(new, printed_term), detail);
    }
    for (index, (new, old)) in new.iter().zip(old).enumerate() {
        if !has_only_additions(new, old) {
            let detail = "only additions are allowed (no mutations or deletions)";
            invalid(at.item("nodeSelectorTerms", index), printed_term(new), detail);
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

/// A term as messages show it, with the names of Go's fields.
fn printed_term(term: &Value) -> String {
    let [expressions, fields] =
        ["/matchExpressions", "/matchFields"].map(|kind| printed_list(items(term, kind), printed_requirement));
    format!("{{\"MatchExpressions\":{expressions},\"MatchFields\":{fields}}}")
}

fn printed_requirement(requirement: &Value) -> String {
    let values = printed_list(items(requirement, "/values"), Value::to_string);
    format!("{{\"Key\":{},\"Operator\":{},\"Values\":{values}}}", requirement["key"], requirement["operator"])
}

fn printed_list(list: &[Value], print: fn(&Value) -> String) -> String {
    match list {
        [] => "null".to_owned(),
        list => format!("[{}]", list.iter().map(print).collect::<Vec<_>>().join(",")),
    }
}
