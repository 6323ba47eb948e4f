//! Path elements: the selection of a child in an object, in a list that is a map or a set, or in another list
//! (`fieldpath/element.go` and `serialize-pe.go` of `sigs.k8s.io/structured-merge-diff/v6`, v6.4.2).

use crate::schema;
use std::cmp::Ordering;
use std::fmt;
use tree::{Text, Value};

/// The greatest integer below which a float holds all.
const MAX_EXACT: u64 = 1 << 53;

/// A path element. Values are scalars; the order is Go's.
#[derive(Debug, Clone)]
pub enum Element {
    /// A field of an object: `f:name`.
    Field(Text),
    /// An item of a list that is a map, by the fields that are its keys, in the order of their names: `k:{"name":"c"}`.
    Key(Vec<(Text, Value)>),
    /// A member of a set: `v:"x"`.
    Value(Value),
    /// An item of another list: `i:0`.
    Index(i64),
}

impl Element {
    /// The element for the field `name`.
    pub fn field(name: &str) -> Element {
        Element::Field(name.into())
    }

    /// Parses an element, as fields of `fieldsV1` are named; `None` if its type is unknown.
    ///
    /// # Errors
    /// If it is malformed.
    pub(super) fn parse(text: &str) -> Result<Option<Element>, String> {
        let malformed = || format!("{text:?} is not a path element");
        let (kind, content) = text.split_once(':').filter(|(kind, _)| kind.len() == 1).ok_or_else(malformed)?;
        let json = || serde_json::from_str::<Value>(content).map(rounded).map_err(|_| malformed());
        Ok(Some(match kind {
            "f" => Element::field(content),
            "v" => Element::Value(json()?),
            "k" => match json()? {
                Value::Object(fields) => Element::Key(fields.into_iter().collect()),
                _ => return Err(malformed()),
            },
            "i" => Element::Index(content.parse().map_err(|_| malformed())?),
            _ => return Ok(None),
        }))
    }

    /// Appends the element as `fieldsV1` has it, between the quotes of a string.
    pub(super) fn push(&self, json: &mut Vec<u8>) {
        match self {
            Element::Field(name) => {
                json.extend_from_slice(b"f:");
                schema::push_escaped(json, name);
            }
            Element::Key(fields) => {
                json.extend_from_slice(b"k:{");
                for (index, (name, value)) in fields.iter().enumerate() {
                    json.extend_from_slice(if index > 0 { b",\\\"" } else { b"\\\"" });
                    push_twice_escaped(json, name);
                    json.extend_from_slice(b"\\\":");
                    push_scalar(json, value);
                }
                json.push(b'}');
            }
            Element::Value(value) => {
                json.extend_from_slice(b"v:");
                push_scalar(json, value);
            }
            Element::Index(index) => json.extend_from_slice(format!("i:{index}").as_bytes()),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Element::Field(_) => 0,
            Element::Key(_) => 1,
            Element::Value(_) => 2,
            Element::Index(_) => 3,
        }
    }
}

impl PartialEq for Element {
    fn eq(&self, other: &Element) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Element {}

impl PartialOrd for Element {
    fn partial_cmp(&self, other: &Element) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Element {
    fn cmp(&self, other: &Element) -> Ordering {
        match (self, other) {
            // The first byte mostly decides.
            (Element::Field(one), Element::Field(other)) => {
                let (one, other) = (one.as_bytes(), other.as_bytes());
                one.first().cmp(&other.first()).then_with(|| one.cmp(other))
            }
            (Element::Key(one), Element::Key(other)) => {
                let pairs = one.iter().zip(other);
                let unequal = pairs.map(|(one, other)| one.0.cmp(&other.0).then_with(|| order(&one.1, &other.1)));
                let first = unequal.into_iter().find(|ordering| ordering.is_ne());
                first.unwrap_or_else(|| one.len().cmp(&other.len()))
            }
            (Element::Value(one), Element::Value(other)) => order(one, other),
            (Element::Index(one), Element::Index(other)) => one.cmp(other),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

/// Appends a scalar in JSON, between the quotes of a string.
fn push_scalar(json: &mut Vec<u8>, value: &Value) {
    match value {
        Value::String(text) => {
            json.extend_from_slice(b"\\\"");
            push_twice_escaped(json, text);
            json.extend_from_slice(b"\\\"");
        }
        other => schema::push_escaped(json, &printed(other)),
    }
}

/// Appends a text as it stands between the quotes of a string within a string. Few have characters that need escapes.
fn push_twice_escaped(json: &mut Vec<u8>, text: &str) {
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._/".contains(&byte)) {
        return json.extend_from_slice(text.as_bytes());
    }
    let mut once = Vec::new();
    schema::push_escaped(&mut once, text);
    let once = String::from_utf8(once).expect("an escaped text is UTF-8");
    schema::push_escaped(json, &once);
}

/// A scalar in JSON. Exponents have two digits, which `encoding/json` would leave out.
fn printed(value: &Value) -> String {
    let text = schema::encode_any(value);
    match text.split_once("e-").filter(|(_, exponent)| value.is_number() && exponent.len() == 1) {
        Some((digits, exponent)) => format!("{digits}e-0{exponent}"),
        None => text,
    }
}

/// The value, with integers that a float cannot represent turned into floats, as which upstream reads all numbers.
fn rounded(value: Value) -> Value {
    match value {
        Value::Number(number) if number.as_i64().is_none_or(|integer| integer.unsigned_abs() >= MAX_EXACT) => {
            number.as_f64().map_or(Value::Number(number), Value::from)
        }
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, rounded(value))).collect(),
        other => other,
    }
}

/// The order of values: numbers, texts, booleans, lists, objects, null.
fn order(one: &Value, other: &Value) -> Ordering {
    let rank = |value: &Value| match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) | Value::Raw(_) => 4,
        Value::Null => 5,
    };
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => match (one.as_i64(), other.as_i64()) {
            (Some(one), Some(other)) => one.cmp(&other),
            _ => one.as_f64().partial_cmp(&other.as_f64()).unwrap_or(Ordering::Equal),
        },
        (Value::String(one), Value::String(other)) => one.cmp(other),
        (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
        // Keys and members of sets are scalars, where definitions are valid.
        _ => rank(one).cmp(&rank(other)).then_with(|| one.to_string().cmp(&other.to_string())),
    }
}

/// As messages show it: `.name`, `[name="c"]`, `[="x"]`, `[0]`.
impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Field(name) => write!(f, ".{name}"),
            Element::Key(fields) => {
                f.write_str("[")?;
                for (index, (name, value)) in fields.iter().enumerate() {
                    write!(f, "{}{name}={}", if index > 0 { "," } else { "" }, shown(value))?;
                }
                f.write_str("]")
            }
            Element::Value(value) => write!(f, "[={}]", shown(value)),
            Element::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// A value as messages show it (`value.ToString`).
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => schema::quote(text),
        Value::Array(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(",")),
        Value::Object(fields) => fields.iter().map(|(name, value)| format!("{name}={}", shown(value))).collect(),
        other => schema::encode_any(other),
    }
}
