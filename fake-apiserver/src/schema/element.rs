//! Path elements: how a child is selected in an object, a list that is a map, a set, or another list
//! (`fieldpath/element.go` and `serialize-pe.go` of `sigs.k8s.io/structured-merge-diff/v6`, v6.4.2).

use super::{encode_any, quote};
use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::fmt;

/// The greatest integer below which a float holds all.
const MAX_EXACT: u64 = 1 << 53;

/// A path element. Values are scalars; the order is Go's.
#[derive(Debug, Clone)]
pub enum Element {
    /// A field of an object: `f:name`.
    Field(Box<str>),
    /// An item of a list that is a map, by the fields that are its keys, in the order of their names: `k:{"name":"c"}`.
    Key(Vec<(Box<str>, Value)>),
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
    pub(crate) fn parse(text: &str) -> Result<Option<Element>, String> {
        let malformed = || format!("{text:?} is not a path element");
        let (kind, content) = text.split_once(':').filter(|(kind, _)| kind.len() == 1).ok_or_else(malformed)?;
        let json = || serde_json::from_str::<Value>(content).map(rounded).map_err(|_| malformed());
        Ok(Some(match kind {
            "f" => Element::field(content),
            "v" => Element::Value(json()?),
            "k" => match json()? {
                Value::Object(fields) => {
                    Element::Key(fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
                }
                _ => return Err(malformed()),
            },
            "i" => Element::Index(content.parse().map_err(|_| malformed())?),
            _ => return Ok(None),
        }))
    }

    /// The element as `fieldsV1` has it.
    pub(crate) fn print(&self) -> String {
        match self {
            Element::Field(name) => ["f:", name].concat(),
            Element::Value(value) => format!("v:{}", printed(value)),
            Element::Key(fields) => {
                let field = |(name, value): &(Box<str>, Value)| {
                    format!("{}:{}", encode_any(&Value::from(&**name)), printed(value))
                };
                format!("k:{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(","))
            }
            Element::Index(index) => format!("i:{index}"),
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
            (Element::Field(one), Element::Field(other)) => one.cmp(other),
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

/// The entries of a set of fields in the order in which Go writes them; `None` if that is the one of their texts.
pub(super) fn in_order(entries: &Map<String, Value>) -> Option<Vec<(&String, &Value)>> {
    if entries.len() < 2 || entries.keys().all(|name| is_plain(name)) {
        return None;
    }
    let element = |name: &str| match name {
        "." => Some(None),
        _ => Element::parse(name).ok().flatten().map(Some),
    };
    let mut elements: Vec<(Option<Element>, (&String, &Value))> =
        entries.iter().map(|entry| Some((element(entry.0)?, entry))).collect::<Option<_>>()?;
    elements.sort_by(|(one, _), (other, _)| one.cmp(other));
    Some(elements.into_iter().map(|(_, entry)| entry).collect())
}

/// Whether an element's text has the place of the element among other plain ones: it is a field, or selects by one text without an
/// escape and without characters that sort before the quotation mark at its end.
fn is_plain(name: &str) -> bool {
    let text = match name.split_at_checked(2) {
        Some(("v:", text)) => text,
        Some(("k:", key)) => match key.split_once(':') {
            Some((_, text)) => text,
            None => return false,
        },
        Some(("i:", _)) => return false,
        _ => return true,
    };
    text.starts_with('"') && !text.bytes().any(|byte| byte < b'"' || matches!(byte, b'\\' | b','))
}

/// A scalar in JSON. Exponents have two digits, which `encoding/json` would leave out.
fn printed(value: &Value) -> String {
    let text = encode_any(value);
    match text.split_once("e-").filter(|(_, exponent)| value.is_number() && exponent.len() == 1) {
        Some((digits, exponent)) => format!("{digits}e-0{exponent}"),
        None => text,
    }
}

/// The value with integers that a float does not hold as floats: upstream reads all numbers as such.
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
        Value::Object(_) => 4,
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
        Value::String(text) => quote(text),
        Value::Array(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(",")),
        Value::Object(fields) => fields.iter().map(|(name, value)| format!("{name}={}", shown(value))).collect(),
        other => encode_any(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entries of a set of these names, as Go writes them.
    fn written(names: &[&str]) -> Vec<String> {
        let entries: Map<String, Value> = names.iter().map(|name| ((*name).to_owned(), Value::Null)).collect();
        match in_order(&entries) {
            Some(entries) => entries.into_iter().map(|(name, _)| name.clone()).collect(),
            None => entries.keys().cloned().collect(),
        }
    }

    #[test]
    fn entries_are_in_the_order_of_their_values() {
        for names in [
            &[".", "f:a", "f:a b", "f:b"] as &[&str],
            &[".", r#"k:{"port":80}"#, r#"k:{"port":443}"#, r#"k:{"port":8080}"#],
            &[
                r#"k:{"port":80,"protocol":"TCP"}"#,
                r#"k:{"port":80,"protocol":"UDP"}"#,
                r#"k:{"port":443,"protocol":"TCP"}"#,
            ],
            &[r#"k:{"path":"/\u003c"}"#, r#"k:{"path":"/="}"#, r#"k:{"path":"/a"}"#, r#"k:{"path":"/a b"}"#],
            &[r#"k:{"a":"x"}"#, r#"k:{"a":"x","b":"y"}"#],
            &[
                "v:-20",
                "v:-1",
                "v:9",
                "v:9.5",
                "v:10",
                "v:1e+21",
                r#"v:"A""#,
                r#"v:"a""#,
                r#"v:"a b""#,
                "v:false",
                "v:true",
                "v:null",
            ],
            &["f:x", r#"k:{"a":1}"#, "v:1", "i:2", "i:10"],
        ] {
            let mut reversed = names.to_vec();
            reversed.reverse();
            assert_eq!(written(&reversed), names);
        }
    }

    #[test]
    fn what_is_no_element_leaves_the_order_of_texts() {
        assert_eq!(written(&["v:9", "v:10", "x"]), ["v:10", "v:9", "x"]);
    }
}
