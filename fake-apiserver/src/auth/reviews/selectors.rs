//! Field and label selectors in access reviews: they are checked, and requirements that cannot be evaluated are reported.
//!
//! Ports the selector parts of `pkg/apis/authorization/validation` and `pkg/registry/authorization/util` (v1.37.1).
//! Of the authorizers only those of nodes and webhooks use them.
//!
//! GAP: access reviews: the syntax of `rawSelector`, where the real server reports an evaluation error, and of label keys and values, which
//! it refuses

use super::text;
use crate::error::FieldError;
use tree::Value;

const PATH: &str = "spec.resourceAttributes";

/// Findings about `resourceAttributes`.
pub(super) fn validate(attributes: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for kind in ["fieldSelector", "labelSelector"] {
        let selector = &attributes[kind];
        if selector.is_null() {
            continue;
        }
        let path = format!("{PATH}.{kind}");
        let (raw, requirements) = (text(selector, "rawSelector"), requirements(selector));
        if !raw.is_empty() && !requirements.is_empty() {
            let detail = "may not specified at the same time as requirements";
            errors.push(FieldError::invalid(format!("{path}.rawSelector"), &selector["rawSelector"], detail));
        }
        if raw.is_empty() && requirements.is_empty() {
            let detail = format!("when {path} is specified, requirements or rawSelector is required");
            errors.push(FieldError::required(format!("{path}.requirements"), detail));
        }
        for (index, requirement) in requirements.iter().enumerate() {
            let path = format!("{path}.requirements[{index}]");
            if kind == "fieldSelector" && text(requirement, "key").is_empty() {
                errors.push(FieldError::required(format!("{path}.key"), "must be specified"));
            }
            errors.extend(values_error(requirement, format!("{path}.values")));
        }
    }
    errors
}

fn values_error(requirement: &Value, path: String) -> Option<FieldError> {
    let none = values(requirement) == 0;
    match text(requirement, "operator") {
        "In" | "NotIn" if none => {
            Some(FieldError::required(path, "must be specified when `operator` is 'In' or 'NotIn'"))
        }
        "Exists" | "DoesNotExist" if !none => {
            Some(FieldError::forbidden(path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
        }
        // Operators of newer clients are reported, not refused.
        _ => None,
    }
}

/// Whether a requirement can be evaluated.
type Understands = fn(&Value) -> bool;

/// The report of ignored requirements, for the status; empty if there are none.
pub(super) fn evaluation_error(attributes: &Value) -> String {
    let kinds: [(&str, Understands); 2] = [
        ("fieldSelector", |requirement| {
            matches!(text(requirement, "operator"), "In" | "NotIn") && values(requirement) == 1
        }),
        ("labelSelector", |requirement| {
            matches!(text(requirement, "operator"), "In" | "NotIn" | "Exists" | "DoesNotExist")
        }),
    ];
    let reports = kinds.iter().filter_map(|(kind, understood)| {
        let requirements = requirements(&attributes[*kind]);
        let ignored = requirements.iter().filter(|requirement| !understood(requirement)).count();
        let how = match ignored {
            0 => return None,
            all if all == requirements.len() => "ignored",
            _ => "partially ignored",
        };
        Some(format!("{PATH}.{kind} {how} due to parse error"))
    });
    reports.collect::<Vec<_>>().join("; ")
}

fn requirements(selector: &Value) -> &[Value] {
    selector["requirements"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn values(requirement: &Value) -> usize {
    requirement["values"].as_array().map_or(0, Vec::len)
}
