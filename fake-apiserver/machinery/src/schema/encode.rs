//! The encoder of trees into the JSON that Go writes for the type: order of fields, omitted fields, escapes.

use super::float;
use super::text::Specials;
use super::token::Token;
use super::types::{Field, Shape, Struct, TypeRef};
use std::io::Write;
use tree::counting::{Work, count};
use tree::{Map, Text, Value};

/// An object's JSON, without its `resourceVersion`, which is known only at commit.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoded {
    /// The text, up to its last `}`.
    pub json: Vec<u8>,
    /// The place of the `resourceVersion`; `None` if the type has no `metadata`.
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
    /// The text with a `resourceVersion`, if the type has a place for it.
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

/// Writes a tree as Go writes an object of the type, without `metadata.resourceVersion`. Unknown fields are left out, and
/// absent ones are written as zero where Go does so.
///
/// `kind` and `apiVersion` come first, so an object starts with `{"kind":"ConfigMap","apiVersion":"v1",`.
pub fn encode(object: &Value, ty: TypeRef) -> Encoded {
    encode_with(object, ty, false)
}

/// Writes the tree of an object that is sent without being stored: as [`encode`] does, with its empty lists.
pub fn encode_unstored(object: &Value, ty: TypeRef) -> Encoded {
    encode_with(object, ty, true)
}

fn encode_with(object: &Value, ty: TypeRef, empties: bool) -> Encoded {
    count(Work::Encode, 1);
    let sorts = ty.as_struct().is_some_and(|content| content.open);
    let json = Vec::with_capacity(1024);
    let mut encoder = Encoder { json, sorts, empties, ..Encoder::default() };
    match ty.as_struct() {
        Some(content) => encoder.object(ty, content, Some(object), Level::Root),
        None => encoder.value(ty, Some(object)),
    }
    Encoded { json: encoder.json, slot: encoder.slot }
}

/// Writes a part of an object as Go writes a value of the type, with its empty lists.
pub fn encode_part(value: &Value, ty: TypeRef) -> String {
    let mut encoder = Encoder { empties: true, ..Encoder::default() };
    encoder.value(ty, Some(value));
    String::from_utf8(encoder.json).expect("JSON of texts is UTF-8")
}

/// Writes an untyped value as `json.Marshal` does.
pub fn encode_any(value: &Value) -> String {
    let mut encoder = Encoder::default();
    encoder.any(value);
    String::from_utf8(encoder.json).expect("JSON of texts is UTF-8")
}

#[derive(Default)]
struct Encoder<'v> {
    json: Vec<u8>,
    slot: Option<RevisionSlot>,
    /// The values of the fields, by the fields' index, of the structs that are being written, each within the one before.
    present: Vec<(usize, &'v Value)>,
    /// Whether JSON that trees keep as text is written with sorted keys, because it is a map in Go.
    sorts: bool,
    /// Whether an empty list is written as such, and not as none.
    empties: bool,
}

/// The position of a struct.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Root,
    Metadata,
    Inner,
}

impl<'v> Encoder<'v> {
    fn value(&mut self, ty: TypeRef<'_>, value: Option<&'v Value>) {
        match (ty.shape(), value.filter(|value| !value.is_null())) {
            (Shape::Pointer(target), Some(value)) => self.value(ty.at(*target), Some(value)),
            (Shape::Struct(content), value) => self.object(ty, content, value, Level::Inner),
            // Nothing is stored of an empty list, so that none is read again.
            (Shape::List { element, .. }, Some(Value::Array(items))) if self.empties || !items.is_empty() => {
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
                None => self.json.extend_from_slice(b"null"),
            },
            (Shape::List { .. }, Some(Value::Array(_))) => self.json.extend_from_slice(b"null"),
            (Shape::Quantity, Some(value)) => match value.as_str().and_then(quantity::printed) {
                Some(printed) => {
                    self.json.push(b'"');
                    self.json.extend_from_slice(printed.as_bytes());
                    self.json.push(b'"');
                }
                None => self.any(value),
            },
            (_, Some(value)) => self.any(value),
            (Shape::Bool, None) => self.json.extend_from_slice(b"false"),
            (Shape::Int32 | Shape::Int64 | Shape::Float64 | Shape::IntOrString, None) => self.json.push(b'0'),
            (Shape::String, None) => self.json.extend_from_slice(b"\"\""),
            (Shape::Quantity, None) => self.json.extend_from_slice(b"\"0\""),
            (_, None) => self.json.extend_from_slice(b"null"),
        }
    }

    fn object(&mut self, ty: TypeRef<'_>, content: &Struct, object: Option<&'v Value>, level: Level) {
        let object = object.and_then(Value::as_object);
        let others = object.filter(|_| content.open).into_iter().flatten();
        let mut others = others.filter(|(name, _)| content.field(name).is_none()).peekable();
        let first = self.present.len();
        let field_index = |name: &Text| content.field(name).map(|(index, _)| index);
        self.present.extend(object.into_iter().flatten().filter_map(|(name, value)| Some((field_index(name)?, value))));
        self.present[first..].sort_unstable_by_key(|(index, _)| *index);
        let mut next = first;
        self.json.push(b'{');
        let start = self.json.len();
        for (index, field) in content.fields.iter().enumerate() {
            while let Some((name, value)) = others.next_if(|(name, _)| name.as_str() < &*field.name) {
                self.other_field(start, name, value);
            }
            let value = self.present.get(next).filter(|(present, _)| *present == index).map(|(_, value)| *value);
            next += usize::from(value.is_some());
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
            self.field_name(&field.name);
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
        self.present.truncate(first);
        if level == Level::Metadata
            && let Some(slot) = &mut self.slot
        {
            slot.comma_after = !slot.comma_before && self.json.len() > slot.offset;
        }
        self.json.push(b'}');
    }

    /// Writes an unknown field of the struct that began at `start`.
    fn other_field(&mut self, start: usize, name: &str, value: &'v Value) {
        if self.json.len() > start {
            self.json.push(b',');
        }
        self.key(name);
        self.any(value);
    }

    fn list(&mut self, items: &'v [Value], write: impl Fn(&mut Self, &'v Value)) {
        self.json.push(b'[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.json.push(b',');
            }
            write(self, item);
        }
        self.json.push(b']');
    }

    fn map(&mut self, entries: &'v Map, write: impl Fn(&mut Self, &'v Value)) {
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

    /// Writes the name of a field that the type knows: Go's tags need no escapes.
    fn field_name(&mut self, name: &str) {
        self.json.push(b'"');
        self.json.extend_from_slice(name.as_bytes());
        self.json.extend_from_slice(b"\":");
    }

    fn key(&mut self, key: &str) {
        self.string(key);
        self.json.push(b':');
    }

    /// Writes an untyped value.
    fn any(&mut self, value: &'v Value) {
        match value {
            Value::Null => self.json.extend_from_slice(b"null"),
            Value::Bool(true) => self.json.extend_from_slice(b"true"),
            Value::Bool(false) => self.json.extend_from_slice(b"false"),
            Value::Number(number) if number.is_f64() => float::write(&mut self.json, number),
            Value::Number(number) => write!(self.json, "{number}").expect("writing to a Vec cannot fail"),
            Value::String(text) => self.string(text),
            Value::Array(items) => self.list(items, Self::any),
            Value::Object(entries) => self.map(entries, Self::any),
            Value::Raw(text) if self.sorts && !is_sorted(text) => {
                self.json.extend_from_slice(encode_any(&value.parsed()).as_bytes());
            }
            Value::Raw(text) => self.json.extend_from_slice(text.as_bytes()),
        }
    }

    fn string(&mut self, text: &str) {
        self.json.push(b'"');
        push_escaped(&mut self.json, text);
        self.json.push(b'"');
    }
}

/// Appends a text as it stands between the quotes of a string. Characters that are special in HTML and JavaScript are escaped, too
/// (`appendString` of encoding/json).
pub fn push_escaped(json: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    loop {
        let (plain, special) = rest.split_at(MAY_NEED_ESCAPES.plain_len(rest));
        json.extend_from_slice(plain);
        let Some(byte) = special.first() else { break };
        let mut len = 1;
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            0x08 => b"\\b",
            0x0c => b"\\f",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            0xe2 => match special {
                [_, 0x80, last @ (0xa8 | 0xa9), ..] => {
                    len = 3;
                    if *last == 0xa8 { b"\\u2028" } else { b"\\u2029" }
                }
                _ => b"\xe2",
            },
            _ => {
                write!(json, "\\u{byte:04x}").expect("writing to a Vec cannot fail");
                b""
            }
        };
        json.extend_from_slice(escape);
        rest = &special[len..];
    }
}

/// Whether a set of fields is surely in the order of its names: fields are, but not items of lists.
fn is_sorted(fields: &str) -> bool {
    !["\"k:", "\"v:", "\"i:"].iter().any(|item| fields.contains(item))
}

/// Bytes with which characters begin that Go escapes: always, but for E2, with which the line separators U+2028 and U+2029 begin
/// (E2 80 A8 and E2 80 A9).
static MAY_NEED_ESCAPES: Specials = Specials::and(b"\"\\<>&\xe2");

/// Whether Go leaves the field out: `omitempty` does not apply to structs, also those that are written as something else.
pub(super) fn is_omitted(field: &Field, ty: TypeRef<'_>, value: Option<&Value>) -> bool {
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
