//! Fields, `path=value`: to send in a command, to expect of the answer under `----`.
//!
//! A value is JSON if it parses as JSON, else plain text. `=` asks for at least what is written, `==` for nothing beside
//! it; `=absent` says that the field is absent. A server may leave out an empty list or object, so that `=[]` and
//! `={}` hold for an absent one too, and `==[]` does not. Inside a line a field has no spaces (`rv=$r1`); on an indented line
//! of its own it may (`message = not found`).

use super::path::Path;
use crate::names::Names;
use serde_json::Value;
use std::fmt;

/// A field, `path=value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The place in the document.
    pub path: Path,
    /// Whether the value must have no other members than those written (`==`).
    pub exact: bool,
    /// The value; `None` is written `absent`.
    pub value: Option<Value>,
    /// The value as it was written.
    written: String,
}

impl Field {
    /// Parses `path=value` or `path = value`; `None` if `text` does not have that form.
    pub fn parse(text: &str) -> Result<Option<Field>, String> {
        let Some((path, value)) = split(text) else { return Ok(None) };
        let (exact, value) = match value.strip_prefix('=') {
            Some(value) => (true, value),
            None => (false, value),
        };
        let written = value.trim().to_owned();
        Ok(Some(Field { path: Path::parse(path.trim())?, exact, value: value_of(&written)?, written }))
    }

    /// Whether the field holds for `document`; binds names that are not bound yet.
    pub fn holds(&self, document: &Value, names: &mut Names) -> bool {
        match (&self.value, self.path.find(document)) {
            (None, found) => found.is_none(),
            (Some(pattern), None) => !self.exact && is_empty(pattern),
            (Some(pattern), Some(actual)) => names.matches(pattern, actual, self.exact),
        }
    }

    /// The same field with the value in `document`.
    pub fn observed(&self, document: &Value, names: &Names) -> Field {
        let value = self.path.find(document).map(|value| names.spell(value));
        Field { path: self.path.clone(), exact: self.exact, written: written(value.as_ref()), value }
    }

    /// `path=value`, or `path = value` if it stands on a line of its own.
    pub fn print(&self, spaced: bool) -> String {
        let operator = if self.exact { "==" } else { "=" };
        match (spaced, self.path.to_string().as_str()) {
            (true, "") => format!("{operator} {}", self.written),
            (true, path) => format!("{path} {operator} {}", self.written),
            (false, path) => format!("{path}{operator}{}", self.written),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.print(false))
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(serde_json::Map::is_empty)
}

/// The first `=` outside of brackets, with a path before it.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_u32;
    for (index, character) in text.char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            '=' if depth == 0 => return Some((&text[..index], &text[index + 1..])),
            '"' | '{' | '(' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

fn value_of(written: &str) -> Result<Option<Value>, String> {
    match (written, written.chars().next()) {
        ("absent", _) => Ok(None),
        (_, Some('{' | '[' | '"')) => {
            serde_json::from_str(written).map(Some).map_err(|error| format!("{written}: {error}"))
        }
        _ => Ok(Some(serde_json::from_str(written).unwrap_or_else(|_| written.into()))),
    }
}

/// `value` in the form that parses to it.
pub fn written(value: Option<&Value>) -> String {
    match value {
        None => "absent".to_owned(),
        Some(Value::String(text))
            if value_of(text) == Ok(value.cloned()) && !text.contains(' ') && !text.is_empty() =>
        {
            text.clone()
        }
        Some(value) => value.to_string(),
    }
}

/// The value of one word: JSON if it parses as JSON, else the word itself.
pub fn word_value(word: &str) -> Result<Value, String> {
    value_of(word).map(|value| value.unwrap_or_else(|| word.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn holds_or_not() {
        let document = json!({"a": {"b": 1}, "list": [], "text": "x"});
        for (field, expected) in [
            ("a={}", true),
            ("a={\"b\":1}", true),
            ("list=[]", true),
            ("list==[]", true),
            ("other=[]", true),
            ("other==[]", false),
            ("other=absent", true),
            ("text=absent", false),
            ("text=x", true),
            ("text=$t", true),
            ("==$all", true),
        ] {
            let field = Field::parse(field).unwrap().unwrap();
            assert_eq!(field.holds(&document, &mut Names::default()), expected, "{field}");
        }
    }

    #[test]
    fn reads_and_prints() {
        for (text, spaced, value) in [
            ("data.k=1", "data.k = 1", Some(json!(1))),
            (r#"data.k="1""#, r#"data.k = "1""#, Some(json!("1"))),
            (
                "type=kubernetes.io/service-account-token",
                "type = kubernetes.io/service-account-token",
                Some(json!("kubernetes.io/service-account-token")),
            ),
            (r#"secrets=[{"name": "$new"}]"#, r#"secrets = [{"name": "$new"}]"#, Some(json!([{"name": "$new"}]))),
            ("secrets==[]", "secrets == []", Some(json!([]))),
            ("annotations[a=b]=c", "annotations[a=b] = c", Some(json!("c"))),
            ("secrets=absent", "secrets = absent", None),
        ] {
            let field = Field::parse(text).unwrap().unwrap();
            assert_eq!((field.print(false), field.print(true), field.value), (text.into(), spaced.into(), value));
        }
        assert_eq!(Field::parse("configmaps/a"), Ok(None));
        assert_eq!(Field::parse(r#"[{"op": "=="}]"#), Ok(None));
        assert!(Field::parse("a=[1").is_err());
    }
}
