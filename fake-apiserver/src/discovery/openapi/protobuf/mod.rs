//! Documents in protobuf, as `ToProtoBinary` and `ToV3ProtoBinary` of kube-openapi (`pkg/handler`, `pkg/handler3`) make them of JSON,
//! by the messages of github.com/google/gnostic-models (v0.7.0): `v2.txt` and `v3.txt`.

mod any;
mod node;

use crate::deadline::Deadline;
use node::Node;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The encoding of protobuf's fields.
const VARINT: u32 = 0;
const FIXED_64: u32 = 1;
const BYTES: u32 = 2;

/// A document of version 2.
///
/// # Errors
/// If it has a member that the messages have no field for, or the time is up.
pub(super) fn v2(json: &[u8], deadline: &Deadline) -> Result<Vec<u8>, String> {
    static MESSAGES: LazyLock<Messages> = LazyLock::new(|| Messages::read(include_str!("v2.txt")));
    MESSAGES.document(json, deadline)
}

/// A document of version 3.
///
/// # Errors
/// If it has a member that the messages have no field for, or the time is up.
pub(super) fn v3(json: &[u8], deadline: &Deadline) -> Result<Vec<u8>, String> {
    static MESSAGES: LazyLock<Messages> = LazyLock::new(|| Messages::read(include_str!("v3.txt")));
    MESSAGES.document(json, deadline)
}

/// Messages by name.
struct Messages(HashMap<&'static str, Message>);

/// The way in which a message is made from JSON.
enum Message {
    /// An object, by the number of its fields.
    Fields(Vec<Field>),
    /// An object with values of one type, and extensions.
    Named(Vec<Field>),
    /// One value, of the first field whose condition it meets.
    Either(Vec<Field>),
}

struct Field {
    /// The member, or the condition; `x-` means extensions.
    key: &'static str,
    number: u32,
    type_: &'static str,
    is_list: bool,
}

impl Messages {
    fn read(text: &'static str) -> Messages {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        Messages(lines.map(Message::read).collect())
    }

    fn document(&self, json: &[u8], deadline: &Deadline) -> Result<Vec<u8>, String> {
        let node = Node::read(json, deadline).map_err(|why| why.to_string())?;
        let mut bytes = Vec::with_capacity(json.len());
        self.message(&mut bytes, "Document", &node, deadline)?;
        Ok(bytes)
    }

    /// Appends the fields of a message.
    fn message(&self, bytes: &mut Vec<u8>, name: &str, node: &Node, deadline: &Deadline) -> Result<(), String> {
        deadline.check().map_err(|why| why.to_string())?;
        match &self.0[name] {
            Message::Fields(fields) => {
                let is_known = |key: &str| key.starts_with("x-") || fields.iter().any(|field| field.key == key);
                if let Some((key, _)) = node.members().iter().find(|(key, _)| !is_known(key)) {
                    return Err(format!("{name} has invalid property: {key}"));
                }
                for field in fields {
                    match (field.key, node.get(field.key)) {
                        ("x-", _) => extensions(bytes, field.number, node),
                        (_, Some(value)) => self.field(bytes, field, value, deadline)?,
                        (_, None) => {}
                    }
                }
            }
            Message::Named(fields) => {
                let extends = fields.iter().any(|field| field.key == "x-");
                for field in fields {
                    if field.key == "x-" {
                        extensions(bytes, field.number, node);
                        continue;
                    }
                    for (name, value) in node.members().iter().filter(|(name, _)| !extends || !name.starts_with("x-")) {
                        let mut pair = Vec::new();
                        text(&mut pair, 1, name);
                        self.field(
                            &mut pair,
                            &Field { key: "", number: 2, type_: field.type_, is_list: false },
                            value,
                            deadline,
                        )?;
                        delimited(bytes, field.number, &pair);
                    }
                }
            }
            Message::Either(fields) => {
                let field = fields.iter().find(|field| field.is_met(node));
                let field = field.ok_or_else(|| format!("contains an invalid {name}"))?;
                match (field.type_, node) {
                    // A value that is chosen is there even if it is false.
                    ("bool", Node::Bool(value)) => varint_field(bytes, field.number, u64::from(*value)),
                    ("string", node) => {
                        for item in node.items() {
                            let Node::Text(item) = item else { return Err(format!("contains an invalid {name}")) };
                            delimited(bytes, field.number, item.as_bytes());
                        }
                    }
                    _ => self.field(bytes, field, node, deadline)?,
                }
            }
        }
        Ok(())
    }

    /// Appends a field, unless it has the value that fields have anyway.
    fn field(&self, bytes: &mut Vec<u8>, field: &Field, value: &Node, deadline: &Deadline) -> Result<(), String> {
        if field.is_list {
            let one = Field { is_list: false, ..*field };
            return value.items().iter().try_for_each(|item| match (field.type_, item) {
                ("string", Node::Text(item)) => {
                    delimited(bytes, field.number, item.as_bytes());
                    Ok(())
                }
                _ => self.field(bytes, &one, item, deadline),
            });
        }
        match (field.type_, value) {
            ("string", Node::Text(value)) => text(bytes, field.number, value),
            ("bool", Node::Bool(false)) => {}
            ("bool", Node::Bool(true)) => varint_field(bytes, field.number, 1),
            ("int64", Node::Number(number)) if number.is_i64() => match number.as_i64().unwrap_or_default() {
                0 => {}
                number => varint_field(bytes, field.number, number.cast_unsigned()),
            },
            ("double", Node::Number(number)) => match number.as_f64().unwrap_or_default() {
                0.0 => {}
                number => double(bytes, field.number, number),
            },
            ("Any", value) => delimited(bytes, field.number, &any(value)),
            ("Default", value) => {
                let mut default = Vec::new();
                match value {
                    Node::Number(number) => double(&mut default, 1, number.as_f64().unwrap_or_default()),
                    Node::Bool(value) => varint_field(&mut default, 2, u64::from(*value)),
                    Node::Text(value) => delimited(&mut default, 3, value.as_bytes()),
                    Node::Null | Node::List(_) | Node::Object(_) => {}
                }
                delimited(bytes, field.number, &default);
            }
            ("string" | "bool" | "int64" | "double", _) => {
                return Err(format!("has unexpected value for {}", field.key));
            }
            (name, value) => {
                let mut message = Vec::new();
                self.message(&mut message, name, value, deadline)?;
                delimited(bytes, field.number, &message);
            }
        }
        Ok(())
    }
}

impl Message {
    fn read(line: &'static str) -> (&'static str, Message) {
        let mut words = line.split(' ');
        let [what, name] = [(); 2].map(|()| words.next().expect("a message has a name"));
        let mut fields: Vec<Field> = words.map(Field::read).collect();
        let message = match what {
            "oneof" => Message::Either(fields),
            _ => {
                fields.sort_by_key(|field| field.number);
                if what == "map" { Message::Named(fields) } else { Message::Fields(fields) }
            }
        };
        (name, message)
    }
}

impl Field {
    /// `KEY=NUMBER:TYPE`, with defaults for what is missing.
    fn read(word: &'static str) -> Field {
        let (key, word) = match (word.strip_prefix("x-"), word.split_once('=')) {
            (Some(number), _) => ("x-", &number[1..]),
            (None, Some(field)) => field,
            (None, None) => ("", word),
        };
        let (number, type_) = word.split_once(':').unwrap_or((word, ""));
        let (type_, is_list) = type_.strip_suffix('*').map_or((type_, false), |type_| (type_, true));
        Field { key, number: number.parse().expect("a field has a number"), type_, is_list }
    }

    /// Whether a value is of this field of a `oneof`.
    fn is_met(&self, node: &Node) -> bool {
        match (self.key, self.key.split_once('/')) {
            ("else", _) => true,
            ("bool", _) => matches!(node, Node::Bool(_)),
            (_, Some((key, value))) => matches!(node.get(key), Some(Node::Text(found)) if found == value),
            (key, None) => node.get(key).is_some(),
        }
    }
}

/// Appends the extensions among the members of an object.
fn extensions(bytes: &mut Vec<u8>, number: u32, node: &Node) {
    for (name, value) in node.members().iter().filter(|(name, _)| name.starts_with("x-")) {
        let mut pair = Vec::new();
        text(&mut pair, 1, name);
        delimited(&mut pair, 2, &any(value));
        delimited(bytes, number, &pair);
    }
}

/// The message of a value of any type.
fn any(value: &Node) -> Vec<u8> {
    let mut bytes = Vec::new();
    text(&mut bytes, 2, &any::yaml(value));
    bytes
}

fn text(bytes: &mut Vec<u8>, number: u32, value: &str) {
    if !value.is_empty() {
        delimited(bytes, number, value.as_bytes());
    }
}

fn delimited(bytes: &mut Vec<u8>, number: u32, content: &[u8]) {
    varint(bytes, u64::from(number << 3 | BYTES));
    varint(bytes, content.len() as u64);
    bytes.extend_from_slice(content);
}

fn double(bytes: &mut Vec<u8>, number: u32, value: f64) {
    varint(bytes, u64::from(number << 3 | FIXED_64));
    bytes.extend_from_slice(&value.to_le_bytes());
}

fn varint_field(bytes: &mut Vec<u8>, number: u32, value: u64) {
    varint(bytes, u64::from(number << 3 | VARINT));
    varint(bytes, value);
}

fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
