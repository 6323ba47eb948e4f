//! The text of a set of fields, `fieldsV1` (`fieldpath/serialize.go` of `sigs.k8s.io/structured-merge-diff/v6`, v6.4.2).

use super::element::Element;
use super::set::Set;
use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use tree::Value;

impl Set {
    /// Parses `fieldsV1`.
    ///
    /// # Errors
    /// If it is malformed.
    pub fn parse(fields: &Value) -> Result<Set, String> {
        let (set, _) = match fields {
            Value::Raw(text) => parse(text)?,
            fields => parse(&fields.to_string())?,
        };
        Ok(set)
    }

    /// The set as `fieldsV1`: a text.
    pub fn print(&self) -> Value {
        Value::Raw(print(self).into())
    }
}

/// The text of a set: the element's own membership first, then its children in order.
fn print(set: &Set) -> String {
    let mut text = Vec::with_capacity(256);
    push(&mut text, set, false);
    String::from_utf8(text).expect("texts and JSON are UTF-8")
}

fn push(text: &mut Vec<u8>, set: &Set, is_member: bool) {
    text.push(b'{');
    if is_member && !set.is_empty() {
        text.extend_from_slice(b"\".\":{}");
    }
    push_nodes(text, set);
    text.push(b'}');
}

/// Appends the children of a set, behind those that are there.
pub(super) fn push_nodes(text: &mut Vec<u8>, set: &Set) {
    for node in set.nodes() {
        if text.last() != Some(&b'{') {
            text.push(b',');
        }
        text.push(b'"');
        node.element.push(text);
        text.extend_from_slice(b"\":");
        push(text, &node.below, node.member);
    }
}

/// Parses a set, and says whether the element above it is a member.
///
/// # Errors
/// If it is malformed.
fn parse(text: &str) -> Result<(Set, bool), String> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = Below.deserialize(&mut deserializer).and_then(|read| deserializer.end().map(|()| read));
    read.map_err(|why| why.to_string())
}

/// The set below an element.
struct Below;

impl<'de> DeserializeSeed<'de> for Below {
    type Value = (Set, bool);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(Set, bool), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Below {
    type Value = (Set, bool);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a set of fields")
    }

    fn visit_unit<E>(self) -> Result<(Set, bool), E> {
        Ok((Set::default(), true))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(Set, bool), A::Error> {
        let mut set = Set::default();
        let mut is_member = false;
        while let Some(name) = fields.next_key_seed(Name)? {
            let (below, below_is_member) = fields.next_value_seed(Below)?;
            if name == "." {
                is_member = true;
            } else if let Some(element) = Element::parse(&name).map_err(A::Error::custom)? {
                set.push(element, below_is_member, below);
            }
        }
        set.sort();
        let is_member = is_member || set.is_empty();
        Ok((set, is_member))
    }
}

/// The name of a field.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a path element")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E>(self, name: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            &["v:-20", "v:-1", "v:9", "v:9.5", "v:10", "v:1e+21"],
            &[r#"v:"A""#, r#"v:"a""#, r#"v:"a b""#, "v:false", "v:true", "v:null"],
            &["f:x", r#"k:{"a":1}"#, "v:1", "i:2", "i:10"],
        ] {
            let text = |names: &mut dyn Iterator<Item = &&str>| {
                let entries: Vec<String> = names.map(|name| format!("{}:{{}}", serde_json::json!(name))).collect();
                format!("{{{}}}", entries.join(","))
            };
            let reversed = text(&mut names.iter().rev());
            assert_eq!(print(&parse(&reversed).expect("a set").0), text(&mut names.iter()).replace("\".\":{},", ""));
        }
    }
}
