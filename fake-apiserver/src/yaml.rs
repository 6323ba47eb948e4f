//! Bodies in YAML, as sigs.k8s.io/yaml v1.6.0 and go.yaml.in/yaml/v2 v2.4.4 read them: the first document, in which plain
//! scalars mean what they do in YAML 1.1. JSON is YAML, too.
//!
//! Refusals of text that is not YAML have this parser's words, not Go's. Not supported: `!!binary`.

use crate::schema::{MAX_DEPTH, float, quote};
use granit_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};
use std::collections::HashMap;

/// How many values aliases may repeat.
const MAX_REPEATED: usize = 100_000;

/// A document.
#[derive(Debug, PartialEq)]
pub struct Document {
    /// Its value, without the values of keys that stand behind the same key.
    pub value: Value,
    /// The keys that are repeated: `line 2: key "a" already set in map`.
    pub repeated: Vec<String>,
}

/// Reads the first document.
///
/// # Errors
/// If it is not YAML, or cannot be JSON; without `yaml: ` before it.
pub fn parse(text: &str) -> Result<Document, String> {
    let mut reader = Reader { open: Vec::new(), anchors: HashMap::new(), repeats: 0, repeated: Vec::new() };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|why| format!("line {}: {}", why.marker().line(), why.info()))?;
        if let Some(value) = reader.read(event, span.start.line())? {
            return Ok(Document { value, repeated: reader.repeated });
        }
    }
    Ok(Document { value: Value::Null, repeated: reader.repeated })
}

struct Reader {
    /// The lists and objects around the next value.
    open: Vec<(Open, usize)>,
    anchors: HashMap<usize, Value>,
    repeats: usize,
    repeated: Vec<String>,
}

enum Open {
    List(Vec<Value>),
    /// With the key of the next value, and what is merged into it.
    Object(Map<String, Value>, Option<String>, Vec<Value>),
}

impl Reader {
    /// Takes an event; the value of the document, once that is complete.
    fn read(&mut self, event: Event<'_>, line: usize) -> Result<Option<Value>, String> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.as_ref().map(|tag| tag.to_string());
                let value = scalar(&text, style == ScalarStyle::Plain, tag.as_deref())?;
                self.put(value, anchor, line)
            }
            Event::Alias(anchor) => {
                let value = self.anchors.get(&anchor).cloned().ok_or("anchor value contains itself")?;
                self.repeats += size(&value);
                if self.repeats > MAX_REPEATED {
                    return Err("document contains excessive aliasing".to_owned());
                }
                self.put(value, 0, line)
            }
            Event::SequenceStart(_, anchor, _) => self.open(Open::List(Vec::new()), anchor),
            Event::MappingStart(_, anchor, _) => self.open(Open::Object(Map::new(), None, Vec::new()), anchor),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some((Open::List(items), anchor)) => self.put(Value::Array(items), anchor, line),
                Some((Open::Object(mut fields, _, merged), anchor)) => {
                    for source in merged.into_iter().rev() {
                        let Value::Object(source) = source else { continue };
                        for (name, value) in source {
                            fields.entry(name).or_insert(value);
                        }
                    }
                    self.put(Value::Object(fields), anchor, line)
                }
                None => Ok(None),
            },
            Event::DocumentEnd => Ok(Some(Value::Null)),
            _ => Ok(None),
        }
    }

    fn open(&mut self, open: Open, anchor: usize) -> Result<Option<Value>, String> {
        if self.open.len() >= MAX_DEPTH {
            return Err(format!("exceeded max depth of {MAX_DEPTH}"));
        }
        self.open.push((open, anchor));
        Ok(None)
    }

    fn put(&mut self, value: Value, anchor: usize, line: usize) -> Result<Option<Value>, String> {
        if anchor > 0 {
            self.anchors.insert(anchor, value.clone());
        }
        match self.open.last_mut() {
            None => return Ok(Some(value)),
            Some((Open::List(items), _)) => items.push(value),
            Some((Open::Object(_, key @ None, _), _)) => *key = Some(name(value)?),
            Some((Open::Object(fields, key, merged), _)) => {
                let key = key.take().unwrap_or_default();
                match value {
                    source @ Value::Object(_) if key == "<<" => merged.push(source),
                    Value::Array(sources) if key == "<<" => merged.extend(sources.into_iter().rev()),
                    value => {
                        if fields.contains_key(&key) {
                            self.repeated.push(format!("line {line}: key {} already set in map", quote(&key)));
                        }
                        fields.insert(key, value);
                    }
                }
            }
        }
        Ok(None)
    }
}

/// The number of values in a value.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(fields) => fields.values().map(size).sum(),
        _ => 0,
    }
}

/// A key of an object.
fn name(key: Value) -> Result<String, String> {
    match key {
        Value::String(text) => Ok(text),
        Value::Bool(on) => Ok(on.to_string()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Null => Err("unsupported map key of type: %!s(<nil>), key: <nil>".to_owned()),
        Value::Array(_) | Value::Object(_) => Err("invalid map key".to_owned()),
    }
}

fn scalar(text: &str, plain: bool, tag: Option<&str>) -> Result<Value, String> {
    let tag = tag.and_then(|tag| tag.rsplit(['!', ':']).next());
    match tag {
        Some("binary") => Err("fake-apiserver does not support !!binary".to_owned()),
        Some("str") => Ok(text.into()),
        Some("int" | "float" | "bool" | "null") => resolve(text),
        _ if plain => resolve(text),
        _ => Ok(text.into()),
    }
}

/// What a plain scalar means (`resolve` of yaml/v2).
fn resolve(text: &str) -> Result<Value, String> {
    Ok(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => true.into(),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => false.into(),
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        ".nan" | ".NaN" | ".NAN" => return Err("json: unsupported value: NaN".to_owned()),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Err("json: unsupported value: +Inf".to_owned());
        }
        "-.inf" | "-.Inf" | "-.INF" => return Err("json: unsupported value: -Inf".to_owned()),
        _ => number(text).map_or_else(|| text.into(), Value::Number),
    })
}

fn number(text: &str) -> Option<Number> {
    if !text.starts_with(|letter: char| letter.is_ascii_digit() || "+-.".contains(letter)) {
        return None;
    }
    let plain: String = text.chars().filter(|letter| *letter != '_').collect();
    integer(&plain).or_else(|| decimal(&plain))
}

/// An integer as `strconv.ParseInt` reads it with base 0.
fn integer(text: &str) -> Option<Number> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let (base, digits) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0o") => (8, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        _ if lower.len() > 1 && lower.starts_with('0') => (8, &lower[1..]),
        _ => (10, lower.as_str()),
    };
    if !digits.starts_with(|digit: char| digit.is_digit(base)) {
        return None;
    }
    let size = u64::from_str_radix(digits, base).ok()?;
    match negative {
        true => i64::try_from(-i128::from(size)).ok().map(Number::from),
        false => Some(size.into()),
    }
}

fn decimal(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let fits = digits(whole) && digits(fraction) && (!whole.is_empty() || !fraction.is_empty());
    if !fits || exponent.is_empty() || !digits(exponent) {
        return None;
    }
    float(text.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn documents() {
        for (text, expected) in [
            ("", json!(null)),
            ("a: b\n---\nc: d\n", json!({"a": "b"})),
            ("{\"a\": [1, \"2\", null, true]}", json!({"a": [1, "2", null, true]})),
            (
                "a: yes\nb: 'yes'\nc: 0o17\nd: 017\ne: 1_000\nf: 0x1F\ng: -1",
                json!({"a": true, "b": "yes", "c": 15, "d": 15, "e": 1000, "f": 31, "g": -1}),
            ),
            (
                "a: 1.5\nb: 1e3\nc: .5\nd: 1.2.3\ne: 2001-01-01\nf: 10.0.0.1",
                json!({"a": 1.5, "b": 1000, "c": 0.5, "d": "1.2.3", "e": "2001-01-01", "f": "10.0.0.1"}),
            ),
            ("a: |\n  one\n  two\nb: >-\n  one\n  two\n", json!({"a": "one\ntwo\n", "b": "one two"})),
            (
                "a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: 2\n",
                json!({"a": {"b": 1}, "c": {"b": 1}, "d": {"b": 1, "e": 2}}),
            ),
            ("1: a\ntrue: b\n", json!({"1": "a", "true": "b"})),
            ("a: !!str 1\n# comment\nb: ~", json!({"a": "1", "b": null})),
        ] {
            assert_eq!(parse(text).map(|document| document.value), Ok(expected), "{text}");
        }
    }

    #[test]
    fn repeated_keys_are_told() {
        let document = parse("a: 1\nb: 2\na: 3\n").unwrap();
        assert_eq!(document.value, json!({"a": 3, "b": 2}));
        assert_eq!(document.repeated, ["line 3: key \"a\" already set in map"]);
    }

    #[test]
    fn what_is_no_yaml_is_refused() {
        for text in ["a: b: c", "a: [1", "{a", "a: .nan", "? [a]\n: b", "a: *x"] {
            assert!(parse(text).is_err(), "{text}");
        }
        let deep = "[".repeat(100_000);
        assert!(parse(&deep).is_err());
        let laughs = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]";
        assert!(parse(laughs).unwrap_err().contains("aliasing"));
    }
}
