//! Field selectors: `metadata.name=x,status.phase!=Running`.
//!
//! A port of `ParseSelector` of `k8s.io/apimachinery/pkg/fields/selector.go` (v0.37.1). Each version of a resource has its
//! selectable fields; a selector is resolved to them when it is parsed.

use crate::error::{ApiError, ApiResult};
use std::borrow::Cow;
use std::fmt;

/// A selectable field.
#[derive(Debug, Clone)]
pub struct SelectableField {
    /// Label in selectors of this version: `regarding.kind`.
    pub label: Cow<'static, str>,
    /// Label in selectors of the storage version: `involvedObject.kind`.
    pub stored_as: Cow<'static, str>,
}

/// Terms that all must hold; without terms everything is selected.
#[derive(Debug, Clone, Default)]
pub struct FieldSelector(Vec<Term>);

#[derive(Debug, Clone)]
struct Term {
    /// The field's label in the storage version.
    label: Cow<'static, str>,
    value: String,
    equal: bool,
}

impl FieldSelector {
    /// Parses a selector of objects of a version with these fields of its own.
    ///
    /// # Errors
    /// 400, if the text is malformed or asks for another field.
    pub fn parse(text: &str, selectable: &[SelectableField]) -> ApiResult<Self> {
        FieldSelector::parse_or(text, selectable, |label| format!("field label not supported: {label}"))
    }

    /// The same, where a version with fields of its own has a message of its own about others.
    ///
    /// # Errors
    /// As [`FieldSelector::parse`].
    pub fn parse_or(text: &str, selectable: &[SelectableField], refusal: impl Fn(&str) -> String) -> ApiResult<Self> {
        let raw = raw_terms(text)?;
        let bind = |(label, equal, value)| Ok(Term { label: resolve(label, selectable, &refusal)?, value, equal });
        Ok(FieldSelector(raw.into_iter().map(bind).collect::<ApiResult<_>>()?))
    }

    /// Whether everything is selected.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an object is selected whose fields `field` looks up, by the names that the storage version has for them.
    pub fn matches<T: AsRef<str>>(&self, field: impl Fn(&str) -> T) -> bool {
        self.0.iter().all(|term| (field(&term.label).as_ref() == term.value) == term.equal)
    }

    /// The only value of `label` that can be selected, if there is one.
    pub fn exact(&self, label: &str) -> Option<&str> {
        self.0.iter().find(|term| term.label == label && term.equal).map(|term| term.value.as_str())
    }
}

/// The fields that must have a certain value, with that value, whatever the kind; empty if the text is malformed.
pub fn exact_fields(text: &str) -> Vec<(String, String)> {
    let terms = field_requirements(text).into_iter();
    terms.filter(|(_, equal, _)| *equal).map(|(label, _, value)| (label, value)).collect()
}

/// The requirements on fields, whatever the kind: a field, whether its value must be equal, and that value. None, if the text is malformed.
pub fn field_requirements(text: &str) -> Vec<(String, bool, String)> {
    let terms = if text.is_empty() { Vec::new() } else { raw_terms(text).unwrap_or_default() };
    terms.into_iter().map(|(label, equal, value)| (label.to_string(), equal, value)).collect()
}

/// Label, whether its value must be equal, and that value, unescaped.
fn raw_terms(text: &str) -> ApiResult<Vec<(&str, bool, String)>> {
    let mut parts: Vec<&str> = split(text).into_iter().filter(|part| !part.is_empty()).collect();
    parts.sort_unstable();
    let mut raw = Vec::new();
    for part in parts {
        let (label, equal, value) = cut(part)
            .ok_or_else(|| ApiError::bad_request(format!("invalid selector: '{text}'; can't understand '{part}'")))?;
        raw.push((label, equal, unescape(value).map_err(ApiError::bad_request)?));
    }
    Ok(raw)
}

/// The field of a label, or the refusal, whose text depends on whether the kind has fields of its own.
fn resolve(
    label: &str,
    selectable: &[SelectableField],
    refusal: impl Fn(&str) -> String,
) -> ApiResult<Cow<'static, str>> {
    let own = !selectable.is_empty();
    if let Some(field) = selectable.iter().find(|field| field.label == label) {
        return Ok(field.stored_as.clone());
    }
    match label {
        "metadata.name" => Ok("metadata.name".into()),
        "metadata.namespace" if !own => Ok("metadata.namespace".into()),
        _ if own => Err(ApiError::bad_request(refusal(label))),
        _ => Err(ApiError::bad_request(format!(
            "{label:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
        ))),
    }
}

/// `splitTerms`: at the commas that no backslash escapes.
fn split(text: &str) -> Vec<&str> {
    let mut escaped = false;
    text.split(|character| {
        let separates = character == ',' && !escaped;
        escaped = character == '\\' && !escaped;
        separates
    })
    .collect()
}

/// `splitTerm`: at the first operator; whether it asks for equality.
fn cut(term: &str) -> Option<(&str, bool, &str)> {
    let at = term.char_indices().map(|(at, _)| at).find(|at| {
        let rest = &term[*at..];
        rest.starts_with('=') || rest.starts_with("!=")
    })?;
    let (label, rest) = term.split_at(at);
    let operators = [("!=", false), ("==", true), ("=", true)];
    operators.iter().find_map(|(operator, equal)| Some((label, *equal, rest.strip_prefix(operator)?)))
}

/// `UnescapeValue`.
fn unescape(value: &str) -> Result<String, String> {
    let mut plain = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(escaped @ ('\\' | ',' | '=')) => plain.push(escaped),
                other => {
                    let other = other.map(String::from).unwrap_or_default();
                    return Err(format!("invalid field selector: invalid escape sequence: \\{other}"));
                }
            },
            ',' | '=' => {
                return Err(format!("invalid field selector: unescaped character in value: {}", u32::from(character)));
            }
            plain_character => plain.push(plain_character),
        }
    }
    Ok(plain)
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Term { label, value, equal }) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            let operator = if *equal { "=" } else { "!=" };
            let value = value.replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=");
            write!(f, "{separator}{label}{operator}{value}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a selector of a resource of which these fields can be selected by.
    fn parse(resource: &str, text: &str) -> ApiResult<FieldSelector> {
        let fields: &[(&str, &str)] = match resource {
            "nodes" => &[("spec.unschedulable", "spec.unschedulable")],
            "namespaces" => &[("status.phase", "status.phase")],
            "pods" => &[
                ("metadata.namespace", "metadata.namespace"),
                ("spec.host", "spec.nodeName"),
                ("spec.hostNetwork", "spec.hostNetwork"),
                ("spec.nodeName", "spec.nodeName"),
                ("status.phase", "status.phase"),
            ],
            _ => &[],
        };
        let field = |(label, stored_as): &(&'static str, &'static str)| SelectableField {
            label: (*label).into(),
            stored_as: (*stored_as).into(),
        };
        FieldSelector::parse(text, &fields.iter().map(field).collect::<Vec<_>>())
    }

    /// Every text as the real server (v1.37.1) gave it.
    #[test]
    fn mistakes_are_named() {
        let unknown = |label: &str| {
            format!("{label:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")
        };
        let table = [
            ("configmaps", "x", "invalid selector: 'x'; can't understand 'x'".into()),
            (
                "configmaps",
                "metadata.name=a, x",
                "invalid selector: 'metadata.name=a, x'; can't understand ' x'".into(),
            ),
            ("configmaps", "a=b=c", "invalid field selector: unescaped character in value: 61".into()),
            ("configmaps", "a=b\\", "invalid field selector: invalid escape sequence: \\".into()),
            ("configmaps", "a=b\\n", "invalid field selector: invalid escape sequence: \\n".into()),
            ("configmaps", "=x", unknown("")),
            ("configmaps", "b=1,a=2", unknown("a")),
            ("configmaps", " metadata.name=a", unknown(" metadata.name")),
            ("pods", "foo=x", "field label not supported: foo".into()),
            ("nodes", "metadata.namespace=x", "field label not supported: metadata.namespace".into()),
            ("namespaces", "name=x", "field label not supported: name".into()),
        ];
        for (resource, text, message) in table {
            let error = parse(resource, text).unwrap_err();
            assert_eq!((error.code(), error.to_string()), (400, message), "{text}");
        }
    }

    #[test]
    fn terms_select() {
        let pod = |field: &str| match field {
            "metadata.name" => "a,b",
            "metadata.namespace" => "n",
            "spec.nodeName" | "spec.host" => "w",
            "spec.hostNetwork" => "false",
            _ => "",
        };
        let table = [
            ("", true),
            (",metadata.name=a\\,b,", true),
            ("metadata.name==a\\,b", true),
            ("metadata.name!=a\\,b", false),
            ("spec.nodeName=w,metadata.namespace=n", true),
            ("spec.host=w", true),
            ("spec.hostNetwork=false", true),
            ("status.phase=Running", false),
            ("status.phase=", true),
        ];
        for (text, selected) in table {
            let selector = parse("pods", text).unwrap();
            assert_eq!(selector.matches(pod), selected, "{text}");
        }
    }

    #[test]
    fn an_exact_name_can_be_told() {
        let selector = parse("pods", "metadata.name=a\\=b,spec.nodeName!=x").unwrap();
        assert_eq!(selector.exact("metadata.name"), Some("a=b"));
        assert_eq!(selector.exact("spec.nodeName"), None);
        assert_eq!(selector.to_string(), "metadata.name=a\\=b,spec.nodeName!=x");
        let exact =
            |text| exact_fields(text).into_iter().map(|(label, value)| label + ":" + &value).collect::<Vec<_>>();
        assert_eq!(exact("b!=1,a==x\\=,c="), ["a:x=", "c:"]);
        assert_eq!((exact(""), exact("a=1,b")), (vec![], vec![]));
    }
}
