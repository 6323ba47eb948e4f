//! Trees into the JSON that Go's encoder writes for the type: order of fields, what is omitted, escapes.

use super::float;
use super::token::Token;
use super::types::{Field, Shape, Struct, TypeRef};
use serde_json::{Map, Value};
use std::io::Write;

/// An object's JSON, without its `resourceVersion`, which is known only at commit.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoded {
    /// The text, up to its last `}`.
    pub json: Vec<u8>,
    /// Where the `resourceVersion` belongs; none if the type has no `metadata`.
    pub slot: Option<RevisionSlot>,
}

/// The place of `metadata.resourceVersion` in an encoded object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RevisionSlot {
    /// Bytes before it.
    pub offset: usize,
    /// Whether a comma must precede it.
    pub comma_before: bool,
    /// Whether a comma must follow it: it precedes other fields, and is the first.
    pub comma_after: bool,
}

impl Encoded {
    /// The text with a `resourceVersion`; without one if there is no place for it.
    pub fn at_revision(&self, revision: u64) -> Vec<u8> {
        let Some(slot) = self.slot else { return self.json.clone() };
        let (before, after) = self.json.split_at(slot.offset);
        let mut json = Vec::with_capacity(self.json.len() + 42);
        json.extend_from_slice(before);
        json.extend_from_slice(if slot.comma_before { b"," } else { b"" });
        write!(json, "\"resourceVersion\":\"{revision}\"").expect("writing to a Vec cannot fail");
        json.extend_from_slice(if slot.comma_after { b"," } else { b"" });
        json.extend_from_slice(after);
        json
    }
}

/// Writes a tree as Go writes an object of the type, less `metadata.resourceVersion`. What the type has no field for is
/// left out, and what is absent is written as zero where Go does.
///
/// `kind` and `apiVersion` come first, so an object starts with `{"kind":"ConfigMap","apiVersion":"v1",`.
pub fn encode(object: &Value, ty: TypeRef) -> Encoded {
    let mut encoder = Encoder { json: Vec::with_capacity(1024), slot: None };
    match ty.as_struct() {
        Some(content) => encoder.object(ty, content, Some(object), Level::Root),
        None => encoder.value(ty, Some(object)),
    }
    Encoded { json: encoder.json, slot: encoder.slot }
}

struct Encoder {
    json: Vec<u8>,
    slot: Option<RevisionSlot>,
}

/// Where a struct stands.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Root,
    Metadata,
    Inner,
}

impl Encoder {
    fn value(&mut self, ty: TypeRef<'_>, value: Option<&Value>) {
        match (ty.shape(), value.filter(|value| !value.is_null())) {
            (Shape::Pointer(target), Some(value)) => self.value(ty.at(*target), Some(value)),
            (Shape::Struct(content), value) => self.object(ty, content, value, Level::Inner),
            (Shape::List { element, .. }, Some(Value::Array(items))) => {
                let element = ty.at(*element);
                self.list(items, |encoder, item| encoder.value(element, Some(item)));
            }
            (Shape::Map(element), Some(Value::Object(entries))) => {
                let element = ty.at(*element);
                self.map(entries, |encoder, value| encoder.value(element, Some(value)));
            }
            (Shape::Float64, Some(Value::Number(number))) => float::write(&mut self.json, number),
            (Shape::Union(union), Some(value)) => match ty.variant(union, Token::of(value)) {
                Some(variant) => self.value(ty.at(variant.ty), Some(value)),
                None => self.any(&Value::Null),
            },
            (_, Some(value)) => self.any(value),
            (Shape::Bool, None) => self.json.extend_from_slice(b"false"),
            (Shape::Int32 | Shape::Int64 | Shape::Float64 | Shape::IntOrString, None) => self.json.push(b'0'),
            (Shape::String, None) => self.json.extend_from_slice(b"\"\""),
            (Shape::Quantity, None) => self.json.extend_from_slice(b"\"0\""),
            (_, None) => self.json.extend_from_slice(b"null"),
        }
    }

    fn object(&mut self, ty: TypeRef<'_>, content: &Struct, object: Option<&Value>, level: Level) {
        let object = object.and_then(Value::as_object);
        let others = object.filter(|_| content.open).into_iter().flatten();
        let mut others = others.filter(|(name, _)| content.field(name).is_none()).peekable();
        self.json.push(b'{');
        let start = self.json.len();
        for field in &content.fields {
            while let Some((name, value)) = others.next_if(|(name, _)| name.as_str() < &*field.name) {
                self.other_field(start, name, value);
            }
            let value = object.and_then(|object| object.get(&*field.name));
            if level == Level::Metadata && &*field.name == "resourceVersion" {
                let comma_before = self.json.len() > start;
                self.slot = Some(RevisionSlot { offset: self.json.len(), comma_before, comma_after: false });
                continue;
            }
            let ty = ty.at(field.ty);
            if is_omitted(field, ty, value) {
                continue;
            }
            if self.json.len() > start {
                self.json.push(b',');
            }
            self.key(&field.name);
            match ty.as_struct() {
                Some(content) if level == Level::Root && &*field.name == "metadata" => {
                    self.object(ty, content, value, Level::Metadata);
                }
                _ => self.value(ty, value),
            }
        }
        for (name, value) in others {
            self.other_field(start, name, value);
        }
        if level == Level::Metadata
            && let Some(slot) = &mut self.slot
        {
            slot.comma_after = !slot.comma_before && self.json.len() > slot.offset;
        }
        self.json.push(b'}');
    }

    /// A field that the struct, which began at `start`, does not know.
    fn other_field(&mut self, start: usize, name: &str, value: &Value) {
        if self.json.len() > start {
            self.json.push(b',');
        }
        self.key(name);
        self.any(value);
    }

    fn list(&mut self, items: &[Value], write: impl Fn(&mut Self, &Value)) {
        self.json.push(b'[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.json.push(b',');
            }
            write(self, item);
        }
        self.json.push(b']');
    }

    fn map(&mut self, entries: &Map<String, Value>, write: impl Fn(&mut Self, &Value)) {
        self.json.push(b'{');
        for (index, (key, value)) in entries.iter().enumerate() {
            if index > 0 {
                self.json.push(b',');
            }
            self.key(key);
            write(self, value);
        }
        self.json.push(b'}');
    }

    fn key(&mut self, key: &str) {
        self.string(key);
        self.json.push(b':');
    }

    /// A value that is written as it is.
    fn any(&mut self, value: &Value) {
        match value {
            Value::Null => self.json.extend_from_slice(b"null"),
            Value::Bool(true) => self.json.extend_from_slice(b"true"),
            Value::Bool(false) => self.json.extend_from_slice(b"false"),
            Value::Number(number) => write!(self.json, "{number}").expect("writing to a Vec cannot fail"),
            Value::String(text) => self.string(text),
            Value::Array(items) => self.list(items, Self::any),
            Value::Object(entries) => self.map(entries, Self::any),
        }
    }

    /// `appendString` of encoding/json, which also escapes what HTML and JavaScript would stumble over.
    fn string(&mut self, text: &str) {
        self.json.push(b'"');
        let bytes = text.as_bytes();
        let mut written = 0;
        for (at, byte) in bytes.iter().enumerate() {
            // The line separators U+2028 and U+2029 are E2 80 A8 and E2 80 A9.
            let separator = *byte == 0xe2 && matches!(bytes[at..], [_, 0x80, 0xa8 | 0xa9, ..]);
            if !matches!(byte, 0..0x20 | b'"' | b'\\' | b'<' | b'>' | b'&') && !separator {
                continue;
            }
            self.json.extend_from_slice(&bytes[written..at]);
            written = at + 1;
            let escape: &[u8] = match byte {
                b'"' => b"\\\"",
                b'\\' => b"\\\\",
                0x08 => b"\\b",
                0x0c => b"\\f",
                b'\n' => b"\\n",
                b'\r' => b"\\r",
                b'\t' => b"\\t",
                0xe2 => {
                    written = at + 3;
                    if bytes[at + 2] == 0xa8 { b"\\u2028" } else { b"\\u2029" }
                }
                _ => {
                    write!(self.json, "\\u{byte:04x}").expect("writing to a Vec cannot fail");
                    b""
                }
            };
            self.json.extend_from_slice(escape);
        }
        self.json.extend_from_slice(&bytes[written..]);
        self.json.push(b'"');
    }
}

/// Whether Go leaves the field out: `omitempty` spares structs, also those that are written as something else.
fn is_omitted(field: &Field, ty: TypeRef<'_>, value: Option<&Value>) -> bool {
    let may_omit = field.omit_zero || field.omit_empty && !is_struct(ty.shape());
    may_omit && value.is_none_or(|value| ty.is_zero(value))
}

fn is_struct(shape: &Shape) -> bool {
    match shape {
        Shape::Struct(_) | Shape::Union(_) | Shape::Any => true,
        Shape::Time | Shape::MicroTime | Shape::Quantity | Shape::IntOrString => true,
        Shape::Bool | Shape::Int32 | Shape::Int64 | Shape::Float64 | Shape::String | Shape::Bytes => false,
        Shape::Pointer(_) | Shape::List { .. } | Shape::Map(_) => false,
    }
}
