//! Validation of a value by a schema: `SchemaValidator` of `k8s.io/kube-openapi/pkg/validation/validate` (d427ff9ee9ad), with
//! the findings of `ValidateCustomResource` of `k8s.io/apiextensions-apiserver/pkg/apiserver/validation` (v0.37.1).
//!
//! The order of checks is upstream's, with its oddities, as it decides which findings are reported. Where upstream iterates
//! over a Go map, in no order, fields are in the order of their names.

use super::junctors;
use super::kind::Kind;
use super::node::{Junctors, Node, Others};
use super::number::{Num, is_integer};
use super::ratchet::Old;
use super::report::{Report, Where};
use crate::deadline::Deadline;
use crate::error::FieldError;
use tree::{Map, Value};

/// Validates a value that replaces an old one, if there is one. Findings about unchanged values are dropped. If the time is up,
/// they are too few.
pub(super) fn check(node: &Node, at: &Where<'_>, value: &Value, old: Option<Old<'_>>, deadline: &Deadline) -> Report {
    if deadline.check().is_err() {
        return Report::default();
    }
    let mut report = all(node, at, value, old, deadline);
    if !report.is_valid() && old.is_some_and(|old| old.equals(node, value)) {
        report.forgive();
    }
    report
}

fn all(node: &Node, at: &Where<'_>, value: &Value, old: Option<Old<'_>>, deadline: &Deadline) -> Report {
    let mut report = Report::default();
    if value.is_null() {
        report.merge(null(node, at));
        report.extend(enumeration(node, at, value));
        return report;
    }
    if node.has_kind() || node.format.is_some() {
        report.merge(kind(node, at, value).map_or_else(Report::matched, Report::of));
        report.matches += 1;
    }
    report.merge(node.junctors.as_ref().map_or_else(Report::matched, |all| junctors(all, at, value, deadline)));
    report.matches += 1;
    match value {
        Value::String(text) => {
            report.extend(length_and_pattern(node, at, text, deadline));
            report.matches += 1;
            if let Some(format) = &node.format
                && let Some(check) = format.check
            {
                if !check(text) {
                    report.push(wrong_type(at, &format.name, text));
                }
                report.matches += 1;
            }
        }
        Value::Number(number) => {
            report.merge(node.bounds.check(at, Num::of(number)));
            report.matches += 1;
        }
        Value::Array(list) => {
            report.merge(items(node, at, list, old, deadline));
            report.matches += 1;
        }
        _ => {}
    }
    report.extend(enumeration(node, at, value));
    report.matches += 1;
    if let Value::Object(object) = value {
        report.merge(fields(node, at, object, old, deadline));
        report.matches += 1;
    }
    report.matches += 1;
    report
}

/// Below `anyOf`, `oneOf`, `allOf` and `not` unchanged values are not exempt (no ratcheting).
fn junctors(all: &Junctors, at: &Where<'_>, value: &Value, deadline: &Deadline) -> Report {
    let mut report = Report::default();
    let of_clause = |clause: &Node| check(clause, at, value, None, deadline);
    if !all.any_of.is_empty() {
        junctors::any(&mut report, at, all.any_of.iter().map(of_clause));
    }
    if !all.one_of.is_empty() {
        junctors::one(&mut report, at, all.one_of.iter().map(of_clause));
    }
    junctors::all(&mut report, at, all.all_of.iter().map(of_clause));
    if let Some(clause) = &all.not {
        junctors::not(&mut report, at, &of_clause(clause));
    }
    report.matches += 1;
    report
}

/// `errors.InvalidType`; `found` is a type or a text.
fn wrong_type(at: &Where<'_>, expected: &str, found: &str) -> FieldError {
    let detail = format!("{at} in body must be of type {expected}: {}", crate::schema::quote(found));
    FieldError::type_invalid(at.field(), &found.into(), detail)
}

fn names(node: &Node) -> String {
    match &node.odd_kind {
        Some(name) => name.to_string(),
        None => node.kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(","),
    }
}

fn null(node: &Node, at: &Where<'_>) -> Report {
    if !node.has_kind() || node.nullable {
        return Report::matched();
    }
    Report::of(wrong_type(at, &names(node), Kind::Null.name()))
}

/// `typeValidator`.
fn kind(node: &Node, at: &Where<'_>, value: &Value) -> Option<FieldError> {
    let found = Kind::of(value);
    let has = |kind: Kind| node.kinds.contains(&kind);
    let converts = match value {
        Value::Number(number) => match Num::of(number) {
            Num::Int(_) => has(Kind::Number),
            Num::Float(float) => has(Kind::Integer) && is_integer(float),
        },
        _ => false,
    };
    let fits = has(found) || converts;
    if let Some(format) = &node.format {
        let found_format = match found {
            Kind::Integer => "int64",
            Kind::Number => "float64",
            _ => "",
        };
        let is_text_or_list = matches!(found, Kind::String | Kind::Array);
        if !is_text_or_list && !fits && found_format != format.name {
            return Some(wrong_type(at, &format.name, found_format));
        }
        if is_text_or_list && !has(Kind::Number) && !has(Kind::Integer) {
            return None;
        }
    }
    (!fits).then(|| wrong_type(at, &names(node), found.name()))
}

/// `stringValidator`, which reports one finding.
fn length_and_pattern(node: &Node, at: &Where<'_>, text: &str, deadline: &Deadline) -> Option<FieldError> {
    if node.max_length.is_some() || node.min_length.is_some() {
        let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        if let Some(max) = node.max_length.filter(|max| length > *max) {
            return Some(FieldError::too_long(at.field(), usize::try_from(max).unwrap_or_default()));
        }
        if let Some(min) = node.min_length.filter(|min| length < *min) {
            let detail = format!("{at} in body should be at least {min} chars long");
            return Some(FieldError::invalid(at.field(), &text.into(), detail));
        }
    }
    let pattern = node.pattern.as_ref().filter(|pattern| !pattern.is_match(text, deadline))?;
    let detail = format!("{at} in body should match '{}'", pattern.text);
    Some(FieldError::invalid(at.field(), &text.into(), detail))
}

/// `basicCommonValidator`.
fn enumeration(node: &Node, at: &Where<'_>, value: &Value) -> Option<FieldError> {
    (!node.enumeration.allows(value)).then(|| node.enumeration.refusal(at.field(), value))
}

fn size(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// `schemaSliceValidator`.
fn items(node: &Node, at: &Where<'_>, list: &[Value], old: Option<Old<'_>>, deadline: &Deadline) -> Report {
    let mut report = Report::default();
    if let Some(items) = &node.items {
        let old = old.map(|old| old.list(node));
        for (index, value) in list.iter().enumerate() {
            let old = old.as_ref().and_then(|old| old.of(value));
            report.merge_with(|| check(items, &at.item(index), value, old, deadline));
        }
    }
    if let Some(min) = node.min_items.filter(|min| size(list.len()) < *min) {
        let detail = format!("{at} in body should have at least {min} items");
        report.push(FieldError::invalid(at.field(), &size(list.len()).into(), detail));
    }
    if let Some(max) = node.max_items.filter(|max| size(list.len()) > *max) {
        report.push(FieldError::too_many(at.field(), list.len(), usize::try_from(max).unwrap_or_default()));
    }
    report.matches += 1;
    report
}

/// `objectValidator`.
fn fields(node: &Node, at: &Where<'_>, object: &Map, old: Option<Old<'_>>, deadline: &Deadline) -> Report {
    let mut report = Report::default();
    if let Some(min) = node.min_properties.filter(|min| size(object.len()) < *min) {
        let detail = format!("{at} in body should have at least {min} properties");
        report.push(FieldError::invalid(at.field(), &size(object.len()).into(), detail));
    }
    if let Some(max) = node.max_properties.filter(|max| size(object.len()) > *max) {
        report.push(FieldError::too_many(at.field(), object.len(), usize::try_from(max).unwrap_or_default()));
    }
    // The old object may have been written with another apiVersion, so these two are always checked.
    let old_of = |name: &str| {
        let seen = at.is_root() && matches!(name, "kind" | "apiVersion");
        old.filter(|_| !seen).and_then(|old| old.field(name))
    };
    let others = object.iter().filter(|(name, _)| !node.properties.contains_key(name.as_str()));
    match &node.others {
        Some(Others::Forbidden) => report.extend(others.map(|(name, _)| {
            let detail = format!("{at}.{name} in body is a forbidden property");
            FieldError::invalid(at.field(), &name.as_str().into(), detail)
        })),
        Some(Others::Like(schema)) => {
            for (name, value) in others {
                report.merge_with(|| check(schema, &at.other(name), value, old_of(name), deadline));
            }
        }
        Some(Others::Anything) | None => {}
    }
    let mut known = |name: &str, schema: &Node, value: &Value| {
        report.merge_with(|| check(schema, &at.property(name), value, old_of(name), deadline));
    };
    if object.len() < node.properties.len() {
        let of = |(name, value): (&tree::Text, _)| Some((name.clone(), node.properties.get(name.as_str())?, value));
        object.iter().filter_map(of).for_each(|(name, schema, value)| known(&name, schema, value));
    } else {
        let of = |(name, schema)| Some((name, schema, object.get(name)?));
        node.properties.iter().filter_map(of).for_each(|(name, schema, value)| known(name, schema, value));
    }
    let missing = node.required.iter().filter(|name| !object.contains_key(*name));
    report.extend(missing.map(|name| FieldError::required(at.other(name).field(), "")));
    report
}
