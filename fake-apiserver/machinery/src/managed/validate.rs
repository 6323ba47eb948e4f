//! Validation of an applied configuration by its type, and the set of fields that it names (`typed/validate.go` and `tofieldset.go` of
//! `sigs.k8s.io/structured-merge-diff/v6`, v6.4.2).

use super::element::Element;
use super::item;
use super::set::Set;
use super::types::{Form, Items, List, Map, NO_FORM, Scalar, Type};
use crate::schema;
use tree::counting::{Work, count};
use tree::{Text, Value};

/// An error: the path of the value, and the reason.
type Finding = (String, String);

/// Checks an applied configuration. Items of lists must differ unless `duplicates` are allowed.
///
/// # Errors
/// All errors, as one message.
pub fn validate(ty: Type<'_>, value: &Value, duplicates: bool) -> Result<(), String> {
    Check { duplicates, nulls: true }.check(ty, value)
}

/// Checks a configuration that an expression has made, whose nulls are values of a type that no field has.
///
/// # Errors
/// All errors, as one message.
pub fn validate_computed(ty: Type<'_>, value: &Value) -> Result<(), String> {
    Check { duplicates: false, nulls: false }.check(ty, value)
}

/// The errors as one message.
fn told(findings: &[Finding]) -> Result<(), String> {
    let text = |(path, why): &Finding| if path.is_empty() { why.clone() } else { format!("{path}: {why}") };
    match findings {
        [] => Ok(()),
        [one] => Err(text(one)),
        all => {
            let lines = all.iter().map(|finding| format!("  {}", text(finding)));
            Err(std::iter::once("errors:".to_owned()).chain(lines).collect::<Vec<_>>().join("\n"))
        }
    }
}

struct Check {
    /// Whether items of lists may be the same.
    duplicates: bool,
    /// Whether null is a value of every type.
    nulls: bool,
}

impl Check {
    fn check(&self, ty: Type<'_>, value: &Value) -> Result<(), String> {
        let mut findings = Vec::new();
        self.value(ty, value, "", &mut findings);
        told(&findings)
    }

    fn value(&self, ty: Type<'_>, value: &Value, at: &str, findings: &mut Vec<Finding>) {
        let wrong = |why: String| (at.to_owned(), why);
        match (ty.form(Some(value)), value) {
            (_, Value::Null) if self.nulls => {}
            // Only sets of managed fields are kept as text, and those are valid.
            (Form::Map(_), Value::Raw(_)) => {}
            (Form::Nothing, _) => findings.push(wrong(NO_FORM.to_owned())),
            (Form::Scalar(scalar), value) => findings.extend(unlike(scalar, value).map(wrong)),
            (Form::Map(map), Value::Object(_)) => self.fields(&map, value, at, findings),
            (Form::Map(_), other) => findings.push(wrong(format!("expected map, got {}", boxed(other)))),
            (Form::List(list), Value::Array(items)) => self.items(&list, items, at, findings),
            (Form::List(_), other) => findings.push(wrong(format!("expected list, got {}", boxed(other)))),
        }
    }

    fn fields(&self, map: &Map<'_>, value: &Value, at: &str, findings: &mut Vec<Finding>) {
        for (name, value) in value.as_object().into_iter().flatten() {
            let path = format!("{at}.{name}");
            match map.get(name) {
                Some(ty) => self.value(ty, value, &path, findings),
                None => return findings.push((path, "field not declared in schema".to_owned())),
            }
        }
    }

    fn items(&self, list: &List<'_>, items: &[Value], at: &str, findings: &mut Vec<Finding>) {
        let mut seen = std::collections::BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            match list.items {
                Items::Set if item.is_null() && !self.nulls => {
                    self.value(list.element, item, &format!("{at}[={{{{undefined}}}}]"), findings);
                    continue;
                }
                Items::ByKeys(_) if item.is_null() && !self.nulls => {
                    let why = "associative list with keys may not have non-map elements";
                    return findings.push((at.to_owned(), format!("element {index}: {why}")));
                }
                _ => {}
            }
            let element = match list.items {
                Items::Atomic => Element::Index(index as i64),
                Items::Set | Items::ByKeys(_) => match item::element(list, item) {
                    Ok(element) => element,
                    Err(why) => return findings.push((at.to_owned(), format!("element {index}: {why}"))),
                },
            };
            let path = format!("{at}{element}");
            if !matches!(list.items, Items::Atomic) {
                let known = seen.contains(&element);
                if known && !self.duplicates {
                    findings.push((at.to_owned(), format!("duplicate entries for key {element}")));
                }
                seen.insert(element);
            }
            self.value(list.element, item, &path, findings);
        }
    }
}

/// The error for a value that is not of the type of scalars; null is of every type.
pub(super) fn mismatch(scalar: Scalar, value: &Value) -> Option<String> {
    if value.is_null() { None } else { unlike(scalar, value) }
}

/// The error for a value that is not of the type of scalars; null is of none, as it comes from an expression.
fn unlike(scalar: Scalar, value: &Value) -> Option<String> {
    match (scalar, value) {
        (Scalar::Number | Scalar::Any, Value::Number(_)) => None,
        (Scalar::Text | Scalar::Any, Value::String(_)) => None,
        (Scalar::Bool | Scalar::Any, Value::Bool(_)) => None,
        (Scalar::Number, other) => Some(format!("expected numeric (int or float), got {}", go_type(other))),
        (Scalar::Text, other) => {
            let shown = if other.is_null() { "0".to_owned() } else { go_syntax(other) };
            Some(format!("expected string, got &value.valueUnstructured{{Value:{shown}}}"))
        }
        (Scalar::Bool, other) => Some(format!("expected boolean, got {}", boxed(other))),
        (Scalar::Any, other) => Some(format!("expected any scalar, got {}", boxed(other))),
    }
}

/// The type that Go's decoder gives a value.
fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "structpb.NullValue",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) | Value::Raw(_) => "map[string]interface {}",
    }
}

/// A value as Go prints it with `%v`, in upstream's box.
fn boxed(value: &Value) -> String {
    if value.is_null() { "&{NULL_VALUE}".to_owned() } else { format!("&{{{}}}", plain(value)) }
}

/// A value as Go prints it with `%v`.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.to_string(),
        Value::Array(items) => format!("[{}]", items.iter().map(plain).collect::<Vec<_>>().join(" ")),
        Value::Object(fields) => {
            let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}:{}", plain(value))).collect();
            format!("map[{}]", fields.join(" "))
        }
        other => schema::encode_any(other),
    }
}

/// A value as Go prints it with `%#v`.
fn go_syntax(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::String(text) => schema::quote(text),
        Value::Array(items) => {
            format!("[]interface {{}}{{{}}}", items.iter().map(go_syntax).collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => {
            let field = |(name, value): (&Text, &Value)| format!("{}:{}", schema::quote(name), go_syntax(value));
            format!("map[string]interface {{}}{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        other => schema::encode_any(other),
    }
}

/// The fields that a value names: scalars and other atomic values; items of lists; and fields that are undeclared or empty.
pub fn fields_of(ty: Type<'_>, value: &Value) -> Set {
    count(Work::Walk, 1);
    let (mut set, _) = collect(ty, value);
    set.sort();
    set
}

/// The fields named inside a value, and whether the value itself is named.
fn collect(ty: Type<'_>, value: &Value) -> (Set, bool) {
    let mut set = Set::default();
    match ty.form(Some(value)) {
        Form::Scalar(_) => return (set, true),
        Form::Map(map) if map.atomic => return (set, true),
        Form::List(List { items: Items::Atomic, .. }) => return (set, true),
        Form::Map(map) => {
            for (name, value) in value.as_object().into_iter().flatten() {
                let Some(ty) = map.get(name) else { continue };
                let (below, own) = collect(ty, value);
                let is_empty = value.is_null() || value.as_object().is_some_and(tree::Map::is_empty);
                set.push(Element::field(name), own || is_empty || map.field(name).is_none(), below);
            }
        }
        Form::List(list) => {
            let items = value.as_array().into_iter().flatten();
            let mut items: Vec<(Element, &Value)> =
                items.filter_map(|item| Some((item::element(&list, item).ok()?, item))).collect();
            items.sort_by(|one, other| one.0.cmp(&other.0));
            for same in items.chunk_by(|one, other| one.0 == other.0) {
                // An item that occurs several times counts as one value.
                let below = match same {
                    [(_, item)] => sorted(collect(list.element, item).0),
                    _ => Set::default(),
                };
                set.push(same[0].0.clone(), true, below);
            }
        }
        Form::Nothing => {}
    }
    (sorted(set), false)
}

fn sorted(mut set: Set) -> Set {
    set.sort();
    set
}
