//! Names for values that differ from run to run: revisions, uids, times, generated names, tokens.
//!
//! `$name` binds to the first value that it is compared with and has to equal it from then on. `$_` matches anything, `$$` is
//! a dollar sign, `base64(…)` the encoded form of what is in the parentheses, and `times(1000, x)` a thousand times `x`.
//! Inside a longer string a name takes the text up to the next literal part: `builder-token-$suffix`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;
use std::collections::BTreeMap;

/// The bindings of one run of one scenario.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Names(BTreeMap<String, Value>);

/// A piece of a string with names in it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(String),
    Name(String),
    Anything,
}

impl Names {
    /// The value that `name` (without the dollar sign) is bound to.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Binds `name`, whatever it was before.
    pub fn bind(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    /// The names in use with their values, alphabetically.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// `pattern` with its names replaced by their values. The error is an unbound name.
    pub fn fill(&self, pattern: &Value) -> Result<Value, String> {
        Ok(match pattern {
            Value::String(template) => self.fill_template(template)?,
            Value::Array(items) => items.iter().map(|item| self.fill(item)).collect::<Result<_, _>>()?,
            Value::Object(fields) => Value::Object(
                fields
                    .iter()
                    .map(|(key, value)| Ok((self.fill_text(key)?, self.fill(value)?)))
                    .collect::<Result<_, String>>()?,
            ),
            plain => plain.clone(),
        })
    }

    /// `template` as text, with its names replaced by their values. The error is an unbound name.
    pub fn fill_text(&self, template: &str) -> Result<String, String> {
        self.fill_template(template).map(|value| text(&value))
    }

    fn fill_template(&self, template: &str) -> Result<Value, String> {
        if let Some(inner) = encoded(template) {
            return Ok(BASE64.encode(self.fill_text(inner)?).into());
        }
        if let Some((count, inner)) = repeated(template) {
            return Ok(self.fill_text(inner)?.repeat(count).into());
        }
        let parts = parts(template);
        if let [Part::Name(name)] = &parts[..] {
            return self.value(name).cloned().ok_or_else(|| name.clone());
        }
        let mut filled = String::new();
        for part in parts {
            match part {
                Part::Literal(literal) => filled.push_str(&literal),
                Part::Name(name) => filled.push_str(&text(self.value(&name).ok_or(name)?)),
                Part::Anything => return Err("_".to_owned()),
            }
        }
        Ok(filled.into())
    }

    /// Whether `actual` matches `pattern`; binds names that are not bound yet. An object may have more
    /// fields than its pattern, unless `exact`; a list has as many items as its pattern.
    pub fn matches(&mut self, pattern: &Value, actual: &Value, exact: bool) -> bool {
        match (pattern, actual) {
            (Value::String(template), _) => self.matches_template(template, actual),
            (Value::Array(patterns), Value::Array(items)) => {
                patterns.len() == items.len()
                    && patterns.iter().zip(items).all(|(pattern, item)| self.matches(pattern, item, exact))
            }
            (Value::Object(patterns), Value::Object(fields)) => {
                (!exact || patterns.len() == fields.len())
                    && patterns.iter().all(|(key, pattern)| {
                        fields.get(key).is_some_and(|actual| self.matches(pattern, actual, exact))
                    })
            }
            _ => pattern == actual,
        }
    }

    fn matches_template(&mut self, template: &str, actual: &Value) -> bool {
        if let Some(inner) = encoded(template) {
            let decoded = actual.as_str().and_then(|actual| BASE64.decode(actual).ok());
            let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
            return decoded.is_some_and(|decoded| self.matches_template(inner, &decoded.into()));
        }
        match &parts(template)[..] {
            [Part::Anything] => true,
            [Part::Name(name)] => self.meet(name, actual),
            parts => actual.as_str().is_some_and(|actual| self.matches_parts(parts, actual)),
        }
    }

    /// Whether the text `actual` matches `template`.
    pub fn matches_text(&mut self, template: &str, actual: &str) -> bool {
        self.matches_template(template, &actual.into())
    }

    fn matches_parts(&mut self, parts: &[Part], actual: &str) -> bool {
        let Some((part, rest)) = parts.split_first() else { return actual.is_empty() };
        if let Some(known) = self.known(part) {
            return actual.strip_prefix(&known).is_some_and(|remainder| self.matches_parts(rest, remainder));
        }
        let end = match rest.first() {
            Some(next) => match self.known(next).and_then(|next| actual.find(&next)) {
                Some(end) => end,
                None => return false,
            },
            None => actual.len(),
        };
        let (captured, remainder) = actual.split_at(end);
        let fits = match part {
            Part::Name(name) => !captured.is_empty() && self.meet(name, &captured.into()),
            _ => true,
        };
        fits && self.matches_parts(rest, remainder)
    }

    /// The text of a literal or of a bound name.
    fn known(&self, part: &Part) -> Option<String> {
        match part {
            Part::Literal(literal) => Some(literal.clone()),
            Part::Name(name) => self.value(name).map(text),
            Part::Anything => None,
        }
    }

    /// `value` as a pattern: with names in place of their values, where these are long enough not to match by accident.
    pub fn spell(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.spell_text(text).into(),
            Value::Array(items) => items.iter().map(|item| self.spell(item)).collect(),
            Value::Object(fields) => {
                Value::Object(fields.iter().map(|(key, value)| (key.clone(), self.spell(value))).collect())
            }
            plain => plain.clone(),
        }
    }

    /// [`spell`](Self::spell) for text.
    pub fn spell_text(&self, text: &str) -> String {
        let mut spelled = text.replace('$', "$$");
        let mut known: Vec<_> = self.iter().filter_map(|(name, value)| Some((name, value.as_str()?))).collect();
        known.retain(|(_, value)| value.len() > 4);
        known.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        for (name, value) in known {
            spelled = spelled.replace(value, &format!("${name}"));
        }
        spelled
    }

    fn meet(&mut self, name: &str, actual: &Value) -> bool {
        self.0.entry(name.to_owned()).or_insert_with(|| actual.clone()) == actual
    }
}

/// A value as it is written inside a longer text.
pub fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn encoded(template: &str) -> Option<&str> {
    template.strip_prefix("base64(")?.strip_suffix(')')
}

/// The count and the text of `times(3, ab)`.
fn repeated(template: &str) -> Option<(usize, &str)> {
    let (count, inner) = template.strip_prefix("times(")?.strip_suffix(')')?.split_once(", ")?;
    Some((count.parse().ok()?, inner))
}

fn parts(template: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut rest = template;
    while let Some(dollar) = rest.find('$') {
        literal.push_str(&rest[..dollar]);
        rest = &rest[dollar + 1..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        if let (0, escaped) = (end, rest.strip_prefix('$')) {
            literal.push('$');
            rest = escaped.unwrap_or(rest);
            continue;
        }
        if !literal.is_empty() {
            parts.push(Part::Literal(std::mem::take(&mut literal)));
        }
        parts.push(match &rest[..end] {
            "_" => Part::Anything,
            name => Part::Name(name.to_owned()),
        });
        rest = &rest[end..];
    }
    literal.push_str(rest);
    if !literal.is_empty() || parts.is_empty() {
        parts.push(Part::Literal(literal));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_name_binds_once_and_must_match_later() {
        let mut names = Names::default();
        assert!(names.matches(&json!({"uid": "$u"}), &json!({"uid": "1", "more": true}), false));
        assert!(names.matches(&json!("$u"), &json!("1"), false));
        assert!(!names.matches(&json!("$u"), &json!("2"), false));
        assert!(!names.matches(&json!({"uid": "$u"}), &json!({"uid": "1", "more": true}), true));
        assert!(names.matches(&json!(["$_", "base64($word)"]), &json!([7, "aGVsbG8="]), false));
        assert_eq!(names.value("word"), Some(&json!("hello")));
        assert!(!names.matches(&json!([1]), &json!([1, 2]), false));
    }

    #[test]
    fn names_inside_text() {
        let mut names = Names::default();
        for (template, actual, expected) in [
            ("builder-token-$suffix", "builder-token-x7k2p", true),
            ("$suffix", "x7k2p", true),
            ("pre-$a-$b", "pre-one-two", true),
            ("pre-$a-$b", "pre-one-three", false),
            ("at $_ o'clock", "at twelve o'clock", true),
            ("costs $$5", "costs $5", true),
            ("costs $$5", "costs $$5", false),
            ("", "", true),
            ("x$new", "x", false),
        ] {
            assert_eq!(names.matches_text(template, actual), expected, "{template} against {actual}");
        }
        assert_eq!(names.fill_text("t-$suffix/$b"), Ok("t-x7k2p/two".to_owned()));
        assert_eq!(names.fill(&json!({"k": ["base64($b)"]})), Ok(json!({"k": ["dHdv"]})));
        assert_eq!(names.fill_text("times(3, $b)"), Ok("twotwotwo".to_owned()));
        assert_eq!(names.fill_text("$unbound"), Err("unbound".to_owned()));
    }
}
