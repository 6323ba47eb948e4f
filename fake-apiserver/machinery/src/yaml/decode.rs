//! Decoding of nodes into a tree: `decoder` of go.yaml.in/yaml/v2 v2.4.4 (decode.go), and the conversion to JSON of sigs.k8s.io/yaml v1.6.0.

use super::deep;
use super::document::Document;
use super::nodes::{Kind, Nodes};
use super::scalar::{self, Scalar};
use crate::deadline::{Deadline, Steps};
use crate::schema::{MAX_DEPTH, quote};
use std::collections::HashSet;
use tree::{Map, Text, Value};

/// The tag of the key whose value is merged into the object.
const MERGE: &str = "tag:yaml.org,2002:merge";
/// The most bytes of text that aliases may repeat. Go has no such limit; it shares the text until it writes JSON.
const MAX_REPEATED_BYTES: usize = 3 * 1024 * 1024;

/// Decodes the nodes of a document. No nodes are `null`.
///
/// # Errors
/// If Go refuses it as YAML, or as JSON; or if the deadline has passed.
pub(super) fn decode(nodes: &Nodes, deadline: &Deadline) -> Result<Document, String> {
    let mut decoder = Decoder {
        nodes,
        steps: Steps::until(deadline),
        decoded: 0,
        aliased: 0,
        bytes: 0,
        open: Vec::new(),
        repeated: Vec::new(),
        not_json: None,
    };
    if nodes.0.is_empty() {
        return Ok(Document { value: Value::Null, repeated: Vec::new() });
    }
    let value = decoder.value(0, 0).map_err(|why| format!("yaml: {why}"))?;
    match decoder.not_json {
        Some(why) => Err(why),
        None => Ok(Document { value, repeated: decoder.repeated }),
    }
}

struct Decoder<'n> {
    nodes: &'n Nodes,
    steps: Steps,
    /// How many nodes were decoded, and how many of them, and bytes, for aliases.
    decoded: usize,
    aliased: usize,
    bytes: usize,
    /// The aliases that are being decoded.
    open: Vec<usize>,
    repeated: Vec<String>,
    /// The reason that the tree cannot be JSON.
    not_json: Option<String>,
}

/// The fields of an object, with all keys: those of different types differ, even if their names in JSON are the same.
#[derive(Default)]
struct Fields {
    fields: Map,
    keys: HashSet<(KeyType, Text)>,
}

#[derive(PartialEq, Eq, Hash)]
enum KeyType {
    Text,
    Bool,
    Integer,
    Float,
}

impl Decoder<'_> {
    fn count(&mut self) -> Result<(), String> {
        self.steps.step().map_err(|passed| passed.to_string())?;
        self.decoded += 1;
        self.aliased += usize::from(!self.open.is_empty());
        let excessive = self.aliased > 100
            && self.decoded > 1000
            && self.aliased as f64 / self.decoded as f64 > allowed_ratio(self.decoded);
        if excessive || self.bytes > MAX_REPEATED_BYTES {
            return Err("document contains excessive aliasing".to_owned());
        }
        Ok(())
    }

    fn value(&mut self, at: usize, depth: usize) -> Result<Value, String> {
        self.count()?;
        match &self.nodes.0[at].kind {
            Kind::List(_) | Kind::Object(_) if depth >= MAX_DEPTH => {
                let text = deep::json(self.nodes, at).ok_or_else(too_deep)?;
                self.bytes += if self.open.is_empty() { 0 } else { text.len() };
                Ok(Value::Raw(text.into()))
            }
            Kind::Scalar { text, plain, tag } => {
                self.bytes += if self.open.is_empty() { 0 } else { text.len() };
                Ok(match scalar::value(text, *plain, tag.as_deref())? {
                    Scalar::Value(value) => value,
                    Scalar::Infinite(name) => {
                        self.not_json.get_or_insert_with(|| format!("json: unsupported value: {name}"));
                        Value::Null
                    }
                })
            }
            Kind::List(end) => {
                let (mut items, mut next) = (Vec::new(), at + 1);
                while next < *end {
                    items.push(self.value(next, depth + 1)?);
                    next = self.nodes.behind(next);
                }
                Ok(Value::Array(items))
            }
            Kind::Object(_) => {
                let mut fields = Fields::default();
                self.fill(at, depth, &mut fields)?;
                Ok(Value::Object(fields.fields))
            }
            Kind::Alias(target, name) => {
                self.enter(at, name)?;
                let value = self.value(*target, depth)?;
                self.open.pop();
                Ok(value)
            }
        }
    }

    fn enter(&mut self, at: usize, name: &str) -> Result<(), String> {
        if self.open.contains(&at) {
            return Err(format!("anchor '{name}' value contains itself"));
        }
        if self.open.len() > MAX_DEPTH {
            return Err(too_deep());
        }
        self.open.push(at);
        Ok(())
    }

    /// Adds the fields of an object node.
    fn fill(&mut self, at: usize, depth: usize, into: &mut Fields) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(too_deep());
        }
        let (mut next, end) = (at + 1, self.nodes.behind(at));
        while next < end {
            let value = self.nodes.behind(next);
            if self.merges(next) {
                self.merge(value, depth, into)?;
            } else {
                let key = self.value(next, depth + 1)?;
                if key.is_array() || key.is_object() {
                    return Err(format!("invalid map key: {}", go_syntax(&key)));
                }
                let item = self.value(value, depth + 1)?;
                self.set(value, key, item, into);
            }
            next = self.nodes.behind(value);
        }
        Ok(())
    }

    fn set(&mut self, at: usize, key: Value, value: Value, into: &mut Fields) {
        let (ty, name) = match key {
            Value::String(name) => (KeyType::Text, name),
            Value::Bool(on) => (KeyType::Bool, if on { "true" } else { "false" }.into()),
            // Go prints it with the digits of a float32.
            Value::Number(number) => {
                let ty = if number.is_f64() { KeyType::Float } else { KeyType::Integer };
                (ty, scalar::printed(&number).into())
            }
            _ => {
                let text = "unsupported map key of type: %!s(<nil>), key: <nil>, value: ";
                let shown = if value.is_null() { "<nil>".to_owned() } else { go_syntax(&value) };
                self.not_json = Some(format!("{text}{shown}"));
                return;
            }
        };
        let is_text = ty == KeyType::Text;
        if !into.keys.insert((ty, name.clone())) {
            let shown = if is_text { quote(&name) } else { name.to_string() };
            let line = self.nodes.0[at].line;
            self.repeated.push(format!("line {line}: key {shown} already set in map"));
        }
        into.fields.insert(name, value);
    }

    /// Whether a key is `<<`.
    fn merges(&self, at: usize) -> bool {
        matches!(&self.nodes.0[at].kind, Kind::Scalar { text, plain, tag }
            if text == "<<" && (*plain || tag.as_deref() == Some(MERGE)))
    }

    /// Merges an object, or a list of objects, the first of which takes precedence.
    fn merge(&mut self, at: usize, depth: usize, into: &mut Fields) -> Result<(), String> {
        if !matches!(self.nodes.0[at].kind, Kind::List(_)) {
            return self.merge_one(at, depth, into);
        }
        let (mut items, mut next) = (Vec::new(), at + 1);
        while next < self.nodes.behind(at) {
            items.push(next);
            next = self.nodes.behind(next);
        }
        items.into_iter().rev().try_for_each(|item| self.merge_one(item, depth, into))
    }

    fn merge_one(&mut self, at: usize, depth: usize, into: &mut Fields) -> Result<(), String> {
        const NO_OBJECT: &str = "map merge requires map or sequence of maps as the value";
        self.count()?;
        match &self.nodes.0[at].kind {
            Kind::Object(_) => self.fill(at, depth + 1, into),
            Kind::Alias(target, name) if matches!(self.nodes.0[*target].kind, Kind::Object(_)) => {
                self.enter(at, name)?;
                self.count()?;
                self.fill(*target, depth + 1, into)?;
                self.open.pop();
                Ok(())
            }
            _ => Err(NO_OBJECT.to_owned()),
        }
    }
}

/// The part of the decoded nodes that may be decoded for aliases (`allowedAliasRatio`).
fn allowed_ratio(decoded: usize) -> f64 {
    const LOW: f64 = 400_000.0;
    const HIGH: f64 = 4_000_000.0;
    0.99 - 0.89 * ((decoded as f64 - LOW) / (HIGH - LOW)).clamp(0.0, 1.0)
}

fn too_deep() -> String {
    format!("exceeded max depth of {MAX_DEPTH}")
}

/// A value as `%#v` of fmt prints it.
fn go_syntax(value: &Value) -> String {
    let all = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::Bool(on) => on.to_string(),
        Value::Number(number) => scalar::printed(number),
        Value::String(text) => quote(text),
        Value::Array(items) => format!("[]interface {{}}{{{}}}", all(items.iter().map(go_syntax).collect())),
        Value::Raw(_) => go_syntax(&value.parsed()),
        Value::Object(fields) => {
            let field = |(name, value): (&Text, &Value)| format!("{}:{}", quote(name), go_syntax(value));
            format!("map[interface {{}}]interface {{}}{{{}}}", all(fields.iter().map(field).collect()))
        }
    }
}
