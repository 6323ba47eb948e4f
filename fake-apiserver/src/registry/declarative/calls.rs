//! Checks of one value, in the words of `k8s.io/apimachinery/pkg/api/validate` (v0.37.1): required.go, immutable.go, update.go,
//! limits.go, enum.go, union.go, zeroorone.go, dependentrequired.go and the comparisons of each.go. Findings show values of the
//! versioned type.

use super::finding::{nothing, printed, shown};
use super::formats;
use super::program::{Check, Match, Member, Nature};
use crate::error::FieldError;
use crate::registry::cursor::At;
use std::collections::HashSet;
use tree::Value;

/// The findings of a check about a value, given the old one, if an object `updates` another.
pub(super) fn check(check: &Check, at: At<'_, '_>, old: Option<&Value>, updates: bool) -> Vec<FieldError> {
    let path = at.path();
    let found = match check {
        Check::Required(nature) => (!is_there(*nature, at.value())).then(|| FieldError::required(path, "")),
        Check::Forbidden(nature) => is_there(*nature, at.value()).then(|| FieldError::forbidden(path, "")),
        Check::Immutable => updates.then(|| nothing(at, "field is immutable").with_origin("immutable")),
        Check::MaxItems(max) => {
            (at.len() > *max).then(|| FieldError::too_many(path, at.len(), *max).with_origin("maxItems"))
        }
        Check::MaxLength(max) => (at.text().chars().count() > *max)
            .then(|| FieldError::too_long_characters(path, *max).with_origin("maxLength")),
        Check::MaxBytes(max) => {
            (at.text().len() > *max).then(|| FieldError::too_long(path, *max).with_origin("maxBytes"))
        }
        Check::Minimum(least) => number(at)
            .filter(|number| number < least)
            .map(|_| shown(at, format!("must be greater than or equal to {least}")).with_origin("minimum")),
        Check::Maximum(most) => number(at)
            .filter(|number| number > most)
            .map(|_| shown(at, format!("must be less than or equal to {most}")).with_origin("maximum")),
        Check::Enum(values) => (at.is_set() && !values.contains(&at.text()))
            .then(|| FieldError::unsupported(path, at.value(), values).printed_as(printed(at))),
        Check::Format(name) => return formats::check(name, at),
        Check::Update(constraints) => return update(constraints, at, old.filter(|_| updates)),
        Check::Unique(by) => return duplicates(by, at),
        Check::Union(members, needs_one) => union(members, *needs_one, at, old.filter(|_| updates)),
        Check::Dependent(trigger, dependent, requires) => {
            depends((trigger, dependent), *requires, at, old.filter(|_| updates))
        }
        Check::Custom("EvictionResponder_Name") => reserved_domain(at),
        Check::Custom("EvictionResponder_Priority") => number(at)
            .filter(|number| (0..1000).contains(number))
            .map(|_| shown(at, "priorities 0-999 are reserved for responders with *.k8s.io suffix")),
        check => Some(FieldError::internal(path, format!("no validation found for {check:?}"))),
    };
    found.into_iter().collect()
}

/// Whether a value is there, in an object of which zeros are left out.
fn is_there(nature: Nature, value: &Value) -> bool {
    match (nature, value) {
        (_, Value::Null) => false,
        (Nature::Pointer, _) => true,
        (Nature::Collection, Value::Array(items)) => !items.is_empty(),
        (Nature::Collection, Value::Object(entries)) => !entries.is_empty(),
        (Nature::Value, Value::String(text)) => !text.is_empty(),
        (Nature::Value, Value::Number(number)) => number.as_i64() != Some(0),
        (Nature::Value, Value::Bool(on)) => *on,
        (Nature::Value, Value::Object(fields)) => !fields.is_empty(),
        _ => true,
    }
}

/// A number, which is 0 if it is left out and no pointer.
fn number(at: At<'_, '_>) -> Option<i64> {
    let is_pointer = at.ty().is_some_and(|ty| ty.go_kind() == "ptr");
    at.number().or((!is_pointer).then_some(0))
}

/// The part of an item by which it is found among others; `None` if it never is.
pub(super) fn key<'v>(by: &Match, item: &'v Value) -> Option<Vec<&'v Value>> {
    match by {
        Match::Never => None,
        Match::Equal => Some(vec![item]),
        Match::Keys(keys) => Some(keys.iter().map(|key| &item[*key]).collect()),
    }
}

/// `ValSliceUnique`, in linear time.
fn duplicates(by: &Match, at: At<'_, '_>) -> Vec<FieldError> {
    let mut seen = HashSet::new();
    let again = at.items().filter(|item| key(by, item.value()).is_some_and(|key| !seen.insert(key)));
    again.map(|item| FieldError::duplicate(item.path(), item.value()).printed_as(printed(item))).collect()
}

/// `UpdatePointer` and `UpdateValueByCompare`.
fn update(constraints: &[&str], at: At<'_, '_>, old: Option<&Value>) -> Vec<FieldError> {
    let Some(old) = old else { return Vec::new() };
    let broken = |constraint: &&str| match (*constraint, old.is_null(), at.is_set()) {
        ("NoSet", true, true) => Some("field cannot be set once created"),
        ("NoUnset", false, false) => Some("field cannot be cleared once set"),
        ("NoModify", false, true) => Some("field cannot be modified once set"),
        _ => None,
    };
    constraints.iter().filter_map(broken).map(|detail| nothing(at, detail).with_origin("update")).collect()
}

/// Whether a member of a union is set in an object, or in a list of items.
fn has(member: &Member, value: &Value) -> bool {
    match member.item {
        None => is_field_set(member.field, value),
        Some(wanted) => value.as_array().into_iter().flatten().any(|item| item[member.field] == wanted),
    }
}

fn is_field_set(field: &str, value: &Value) -> bool {
    value
        .get(field)
        .is_some_and(|value| is_there(Nature::Pointer, value) && value.as_array().is_none_or(|all| !all.is_empty()))
}

/// `Union` and `ZeroOrOneOfUnion`.
fn union(members: &[Member], needs_one: bool, at: At<'_, '_>, old: Option<&Value>) -> Option<FieldError> {
    let old = old.filter(|old| !old.is_null());
    if old.is_some_and(|old| members.iter().all(|member| has(member, at.value()) == has(member, old))) {
        return None;
    }
    let given: Vec<&str> = members.iter().filter(|member| has(member, at.value())).map(|member| member.name).collect();
    let all: Vec<String> = members.iter().map(|member| format!("`{}`", member.name)).collect();
    let all = all.join(", ");
    let invalid = |value: &str, detail: String| FieldError::invalid(at.path(), &value.into(), detail);
    match (given.len(), needs_one) {
        (0, true) => Some(invalid("", format!("must specify one of: {all}")).with_origin("union")),
        (0 | 1, _) => None,
        (_, true) => {
            let given = format!("{{{}}}", given.join(", "));
            Some(invalid(&given, format!("must specify exactly one of: {all}")).with_origin("union"))
        }
        (_, false) => {
            let given = format!("{{{}}}", given.join(", "));
            Some(invalid(&given, format!("must specify at most one of: {all}")).with_origin("zeroOrOneOf"))
        }
    }
}

/// `DependentRequired` and `DependentForbidden`.
fn depends(
    (trigger, dependent): (&str, &str),
    requires: bool,
    at: At<'_, '_>,
    old: Option<&Value>,
) -> Option<FieldError> {
    let set = |value: &Value| (is_field_set(trigger, value), is_field_set(dependent, value));
    let now = set(at.value());
    if old.filter(|old| !old.is_null()).is_some_and(|old| set(old) == now) || now != (true, !requires) {
        return None;
    }
    let field = at.field(dependent);
    Some(match requires {
        true => FieldError::required(field.path(), format!("must be set when {trigger} is set"))
            .with_origin("dependentRequired"),
        false => FieldError::forbidden(field.path(), format!("may not be set when {trigger} is set"))
            .with_origin("dependentForbidden"),
    })
}

/// `ValidateForbiddenReservedDomainSuffixes` of `pkg/apis/core/v1/validation.go` (v1.37.1).
fn reserved_domain(at: At<'_, '_>) -> Option<FieldError> {
    let domain = at.text().split('/').next().unwrap_or_default().to_lowercase();
    let domain = domain.trim().trim_end_matches('.');
    let is_reserved = |suffix: &&str| domain == *suffix || domain.ends_with(&format!(".{suffix}"));
    let reserved = ["k8s.io", "kubernetes.io"].iter().any(is_reserved);
    reserved.then(|| shown(at, "domain names *.k8s.io, *.kubernetes.io are reserved"))
}
